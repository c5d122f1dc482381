"""read the documentation in your browser (served to this machine only)

A wheel may bring its pages along. A checkout of the source builds them (extra "docs"), and again once they are older than
what they are made from."""

from pathlib import Path

from ...base import optional, resources
from ...base.errors import UserError, warn
from ..arguments import Command, Namespace, whole

EXAMPLE = "docs"
PAGE = "index"
SOURCES = ("dmlplayground", "docs", "hyperparams", "notebooks")
ENDINGS = (".py", ".md", ".yaml", ".json", ".ipynb", ".svg")


def add_arguments(command: Command) -> None:
    command.takes("--port", "port (default: %(default)s; 0: any free one)", whole(0, 65535), 8000)
    command.flag("--no-browser", "do not open a browser")


def run(arguments: Namespace) -> None:
    import functools
    import webbrowser
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    # no log line for every file of every page
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(_pages()))
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
    """The folder of the pages, which a checkout builds if they are not there yet, or are older than their sources."""
    import subprocess
    import sys

    found, top = resources.pages(), resources.checkout()
    if top is None:
        if found:
            return found
        raise UserError(
            "this installation came without the pages. A checkout of the source has them as text in docs/; there, "
            "dmlplayground docs shows them, and sh scripts/wheel.sh makes a wheel that brings them."
        )
    newer = found and _newer(top, found / "index.html")
    if found and not newer:
        return found
    why = f"the pages are older than {newer.relative_to(top)}" if newer else "there are no pages yet"
    if not optional.installed("mkdocs"):
        missing = f'{why}, and what builds them is not installed. In {top}: pip install -e ".[docs]"'
    else:
        print(f"Building the pages: {why}.", flush=True)
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
        done = subprocess.run(command, cwd=top, capture_output=True).returncode == 0
        if done and (built := resources.pages()):
            return built
        missing = f"the pages could not be built. In {top}, mkdocs build says why"
    if not found:
        raise UserError(f"{missing}.")
    warn(f"{missing}. These are the old ones.")
    return found


def _newer(top: Path, page: Path) -> Path | None:
    """A file that the pages are made from and that is newer than this page, if there is one."""
    built = page.stat().st_mtime
    sources = (path for folder in SOURCES for path in (top / folder).rglob("*") if path.suffix in ENDINGS)
    return next((path for path in sources if path.stat().st_mtime > built), None)
