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
from ...base.errors import UserError, unknown
from .. import grouping, usable_records
from ..compare import of_cells
from ..page import document, table_html
from ..tables import Column, Row, Table
from . import state

HERE = Path(__file__).parent
#: The page may only run and show what it brings with it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'"


class Site:
    """The pages of these stores. A report is kept until a record changes, and then made anew."""

    def __init__(self, stores: Sequence[Path]):
        self.stores = stores
        self._listings = [state.Listing(store) for store in stores]
        self._reports: dict[int, tuple[str, str]] = {}  # number of the store -> version, page

    def index(self, _: Request) -> Response:
        rows = []
        for number, (store, listing) in enumerate(zip(self.stores, self._listings)):
            now = listing.now()
            counts = ", ".join(f"{count} {name}" for name, count in now["states"].items()) or "no trials yet"
            link = f'<a href="stores/{number}/">{html.escape(now["title"])}</a>'
            rows.append(f'<li>{link}<div class="soft">{counts} &middot; {html.escape(str(store))}</div></li>')
        return _html(document("Stores", f"<h1>Stores</h1><ul>{''.join(rows)}</ul>"))

    def report(self, request: Request) -> Response:
        number = self._number(request)
        version = self._listings[number].now()["version"]
        if self._reports.get(number, ("", ""))[0] != version:
            self._reports[number] = version, _with_panel(reports.html(self.stores[number]))
        return _html(self._reports[number][1])

    def state(self, request: Request) -> Response:
        return JSONResponse(self._listings[self._number(request)].now())

    def compare(self, request: Request) -> Response:
        chosen = (request.query_params.get(side, "") for side in ("left", "right"))
        return _html(document("Two cells side by side", _pair(self.stores[self._number(request)], *chosen)))

    def _number(self, request: Request) -> int:
        number = request.path_params["number"]
        if number >= len(self.stores):
            raise HTTPException(404, f"there are {len(self.stores)} stores here, counted from 0")
        return number


def app(stores: Sequence[Path], hosts: Sequence[str]) -> Starlette:
    """The application. It only answers requests for these host names, so that no other site's page can read ours."""
    site, page = Site(stores), "/stores/{number:int}/"
    routes = [Route("/", site.index), Route(page, site.report)]
    routes += [Route(f"{page}state.json", site.state), Route(f"{page}compare", site.compare)]
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


# --- two cells side by side --------------------------------------------------------------------------------------


def _pair(store: Path, left: str, right: str) -> str:
    """Two cells by their keys: which settings differ, and whether their scores do; without keys, only the form to choose."""
    known = {cell.key: cell for arena in grouping.arenas(usable_records.load(store)) for cell in arena.cells}
    title = '<h1>Two cells side by side</h1><p><a href="./">back to the report</a></p>'
    parts = [title, _choice(known, left, right)]
    if left and right:
        for key in (left, right):
            if key not in known:
                raise unknown("cell", key, known)
        parts.append(f"<h2>{html.escape(known[left].label)} and {html.escape(known[right].label)}</h2>")
        parts.append(table_html(_settings(known[left], known[right])))
        parts.append(table_html(of_cells(known[left], known[right])))
    return "".join(parts)


def _choice(known: dict[str, grouping.Cell], left: str, right: str) -> str:
    """A form without a script: the chosen cells are part of the address, which can be shared."""
    menus = []
    for name, chosen in (("left", left), ("right", right)):
        options = "".join(
            f'<option value="{key}"{" selected" * (key == chosen)}>{html.escape(cell.label)}</option>'
            for key, cell in known.items()
        )
        menus.append(f'<label>{name} <select name="{name}">{options}</select></label>')
    return f'<form method="get">{" ".join(menus)} <button type="submit">compare</button></form>'


def _settings(left: grouping.Cell, right: grouping.Cell) -> Table:
    """The settings in which two cells differ."""
    ours, theirs = left.settings, right.settings
    rows = [
        Row([key, grouping.plain(ours.get(key, "-")), grouping.plain(theirs.get(key, "-"))])
        for key in {**ours, **theirs}
        if ours.get(key) != theirs.get(key) and key not in grouping.SEED_AND_PLACE
    ]
    heads = "setting", f"left: {left.label}", f"right: {right.label}"
    columns = [Column(head, numeric=False) for head in heads]
    return Table("settings", "What differs", "", columns, rows, [] if rows else ["They do not differ."])
