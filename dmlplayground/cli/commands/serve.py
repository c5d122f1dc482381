"""serve a live page of one or more stores"""

from pathlib import Path
from types import ModuleType

from ..arguments import Command, Namespace, place, whole

EXAMPLE = "serve runs/quickstart"
HOST, PORT = "127.0.0.1", 8642
PAGE = "many-machines"


def add_arguments(command: Command) -> None:
    command.takes("stores store", "the folder of a sweep", place, nargs="+")
    command.takes("--host", f"the address to listen on (default: {HOST}, this machine only)", default=HOST)
    command.takes("--port", "the port", whole(1, 65535), PORT)


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
