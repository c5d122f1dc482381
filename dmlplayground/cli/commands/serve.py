"""serve a live page of one or more stores"""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import ModuleType

from ..arguments import place

EXAMPLE = "serve runs/quickstart"
HOST, PORT = "127.0.0.1", 8642
PAGE = "many-machines"


def port(text: str) -> int:
    number = int(text)
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("must be from 1 to 65535")
    return number


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("stores", type=place, nargs="+", metavar="store", help="the folder of a sweep")
    command.add_argument(
        "--host",
        default=HOST,
        help="the address to listen on (default: %(default)s, this machine only)",
    )
    command.add_argument("--port", type=port, default=PORT, help="")


def run(arguments: Namespace) -> None:
    from ...trial.store import existing

    for store in arguments.stores:
        existing(store)
    server = _server()
    print(f"http://{arguments.host}:{arguments.port}/ (Ctrl-C stops it)", flush=True)
    server.serve(arguments.stores, arguments.host, arguments.port)


def beside(store: Path) -> str:
    """Serve this store from a thread until the process ends. Returns the address."""
    _server().serve_beside([store], HOST, PORT)
    return f"http://{HOST}:{PORT}/stores/0/"


def _server() -> ModuleType:
    from ...base import optional

    optional.load("starlette")
    optional.load("uvicorn")
    from ...reports.live import server

    return server
