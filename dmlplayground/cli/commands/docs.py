"""read the documentation in your browser (served to this machine only)

A wheel brings its pages along. A checkout of the source builds them once (extra "docs"); after a change, run mkdocs build."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

EXAMPLE = "docs"
PAGE = "index"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "--port", type=int, default=8000, help="port (default: %(default)s; 0: any free one)"
    )
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(arguments: Namespace) -> None:
    import functools
    import webbrowser
    from http.server import ThreadingHTTPServer

    from ...base.errors import UserError

    if not 0 <= arguments.port <= 65535:
        raise UserError(f"--port must be from 0 to 65535, not {arguments.port}.")
    handler = functools.partial(_quiet_handler(), directory=str(_pages()))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", arguments.port), handler)
    except OSError as problem:
        raise UserError(
            f"cannot listen at port {arguments.port}: {problem.strerror}. Try --port 0."
        ) from None
    with server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"The documentation is at {address} (Ctrl-C stops this).", flush=True)
        if not arguments.no_browser:
            webbrowser.open(address)
        server.serve_forever()


def _pages() -> Path:
    """The folder of the pages, which a checkout builds if they are not there yet."""
    import importlib.util
    import subprocess
    import sys

    from ...base import resources
    from ...base.errors import UserError

    if found := resources.pages():
        return found
    top = resources.checkout()
    if top is None:
        raise UserError(
            "this installation came without the pages. A checkout of the source has them in docs/."
        )
    if importlib.util.find_spec("mkdocs") is None:
        raise UserError(f'what builds the pages is not installed. In {top}: pip install -e ".[docs]"')
    print("Building the pages, once.", flush=True)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=top, capture_output=True)
    if found := resources.pages():
        return found
    raise UserError(f"the pages could not be built. In {top}, mkdocs build says why.")


def _quiet_handler() -> type:
    from http.server import SimpleHTTPRequestHandler

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *told: object) -> None:
            """No log line for every file of every page."""

    return Handler
