"""read the installed documentation in your browser (served to this machine only)"""

from __future__ import annotations

EXAMPLE = "docs"
PAGE = "index"


def add_arguments(command) -> None:
    command.add_argument(
        "--port", type=int, default=8000, help="port (default: %(default)s; 0: any free one)"
    )
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(arguments) -> None:
    import functools
    import webbrowser
    from http.server import ThreadingHTTPServer

    from ... import resources
    from ...errors import UserError

    if not 0 <= arguments.port <= 65535:
        raise UserError(f"--port must be from 0 to 65535, not {arguments.port}.")
    pages = resources.pages()
    if pages is None:
        raise UserError(
            'no pages have been built. In a checkout of the source: pip install -e ".[docs]", then mkdocs build.'
        )
    handler = functools.partial(_quiet_handler(), directory=str(pages))
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


def _quiet_handler() -> type:
    from http.server import SimpleHTTPRequestHandler

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *told: object) -> None:
            """No log line for every file of every page."""

    return Handler
