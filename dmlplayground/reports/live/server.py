"""The web server of ``dmlplayground serve``: Starlette says which address means what, uvicorn speaks HTTP.

/                          the stores, and what runs in them
/stores/0/                 the report of the first store, with a panel of what runs
/stores/0/state.json       that panel's content
/stores/0/compare          two cells of it side by side: what differs, and whether it matters
"""

import html
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ... import reports
from ...base.errors import UserError
from ..page import document
from . import cell_pair, state

HERE = Path(__file__).parent
#: The page may only run and show what it brings with it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'"


class Site:
    """The pages of these stores. A page is kept until a record changes, and then made anew."""

    def __init__(self, stores: Sequence[Path]):
        self.stores = stores
        self._listings = [state.Listing(store) for store in stores]
        self._pages: dict[int, tuple[str, str]] = {}  # number of the store -> version, page

    def report(self, number: int) -> str:
        version = self.state(number)["version"]
        if self._pages.get(number, ("", ""))[0] != version:
            self._pages[number] = version, _with_panel(reports.html(self.stores[number]))
        return self._pages[number][1]

    def state(self, number: int) -> dict[str, Any]:
        return self._listings[number].now()

    def index(self) -> str:
        rows = []
        for number, store in enumerate(self.stores):
            now = self.state(number)
            counts = ", ".join(f"{count} {name}" for name, count in now["states"].items()) or "no trials yet"
            name, where = html.escape(now["title"]), html.escape(str(store))
            rows.append(
                f'<li><a href="stores/{number}/">{name}</a><div class="soft">{counts} &middot; {where}</div></li>'
            )
        return document("Stores", f"<h1>Stores</h1><ul>{''.join(rows)}</ul>")


def app(stores: Sequence[Path], hosts: Sequence[str]) -> Starlette:
    """The application. It only answers requests for these host names, so that no other site's page can read ours."""
    site = Site(stores)

    def index(request: Request) -> Response:
        return _html(site.index())

    def report(request: Request) -> Response:
        return _html(site.report(_number(request, stores)))

    def now(request: Request) -> Response:
        return JSONResponse(site.state(_number(request, stores)))

    def compare(request: Request) -> Response:
        store = stores[_number(request, stores)]
        chosen = (request.query_params.get(side, "") for side in ("left", "right"))
        return _html(document("Two cells side by side", cell_pair.body(store, *chosen)))

    routes = [
        Route("/", index),
        Route("/stores/{number:int}/", report),
        Route("/stores/{number:int}/state.json", now),
        Route("/stores/{number:int}/compare", compare),
    ]
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)), Middleware(GZipMiddleware)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={UserError: _refused})


def serve(stores: Sequence[Path], host: str, port: int) -> None:
    """Serve until the process is told to stop."""
    taken = _socket(host, port)
    _uvicorn(stores, host).run(sockets=[taken])


def serve_beside(stores: Sequence[Path], host: str, port: int) -> None:
    """Serve from a thread until this process ends."""
    taken = _socket(host, port)
    threading.Thread(target=_uvicorn(stores, host).run, kwargs={"sockets": [taken]}, daemon=True).start()


def _uvicorn(stores: Sequence[Path], host: str) -> Any:
    import uvicorn

    hosts = ["*"] if host in ("0.0.0.0", "::") else [host, "localhost", "127.0.0.1", "[::1]"]
    return uvicorn.Server(uvicorn.Config(app(stores, hosts), log_level="warning"))


def _socket(host: str, port: int) -> socket.socket:
    """Bound at once, so that an unavailable address is refused before anything else starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as problem:
        listening.close()
        reason = getattr(problem, "strerror", None) or problem
        raise UserError(f"cannot listen on {host}:{port}: {reason}.") from None
    return listening


def _number(request: Request, stores: Sequence[Path]) -> int:
    number = request.path_params["number"]
    if number >= len(stores):
        raise HTTPException(404, f"there are {len(stores)} stores here, counted from 0")
    return number


def _html(content: str) -> HTMLResponse:
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(content, headers=headers)


def _refused(request: Request, problem: Any) -> Response:
    return HTMLResponse(document("Not available", f"<p>{html.escape(str(problem))}</p>"), status_code=409)


def _with_panel(page: str) -> str:
    """The report's page with the panel of what runs above it, and the script that keeps both up to date."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("live.css", "live.js"))
    links = '<a href="../../">all stores</a> &middot; <a href="compare">compare two cells</a>'
    panel = f'<section id="live" aria-live="polite"><p class="soft">{links}</p><div id="now"></div></section>'
    page = page.replace("</head>", f"<style>{style}</style></head>", 1)
    page = page.replace("<main>", f"{panel}<main>", 1)
    return page.replace("</body>", f"<script>{script}</script></body>", 1)
