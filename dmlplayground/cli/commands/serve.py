"""serve the live page of one or several stores"""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLE = "serve runs/quickstart"


def port(text: str) -> int:
    number = int(text)
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("must be from 1 to 65535")
    return number


def add_arguments(command) -> None:
    command.add_argument("stores", type=Path, nargs="+", metavar="store", help="the folder of a sweep")
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen at (default: %(default)s, this machine alone)",
    )
    command.add_argument("--port", type=port, default=8642, help="(default: %(default)s)")


def run(arguments) -> None:
    from ...errors import UserError
    from ...live import state

    for store in arguments.stores:
        state.check(store)
    try:
        from ...live import server
    except ImportError:
        raise UserError("serving needs a web server: pip install 'dmlplayground[serve]'.") from None
    print(f"http://{arguments.host}:{arguments.port}/ (Ctrl-C ends it)", flush=True)
    server.serve(arguments.stores, arguments.host, arguments.port)
