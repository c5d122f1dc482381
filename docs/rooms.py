"""The rooms of the package and who knows whom, as a picture made from the imports: python docs/rooms.py

An arrow is an import of one room by another. Rooms stand from what knows nobody, at the bottom, to what knows everybody.
"""

import ast
from html import escape
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "dmlplayground"
PICTURE = Path(__file__).with_name("rooms.svg")
#: From the bottom to the top, with what each is; ``tests/test_imports.py`` holds the order.
ROOMS = {
    "base": "files, errors, options, the registry: nothing of metric learning",
    "parts": "losses, miners, samplers, data, networks, metrics, protocols",
    "studies": "recipes and published tables",
    "trial": "what a trial is, what it leaves behind, how it runs",
    "sweeps": "grids, searches, who runs what where",
    "reports": "tables, statistics, figures, the page",
    "serving": "a trained network in use",
    "cli": "a file a command",
}
WIDTH, HEIGHT, GAP, LEFT = 560, 46, 22, 150


def knows(room: str) -> set[str]:
    """The other rooms that the files of a room import, in their functions too."""
    found = set()
    for path in (PACKAGE / room).rglob("*.py"):
        depth = len(path.relative_to(PACKAGE).parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        ignored = {inner for node in for_types for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == depth and node not in ignored:
                names = [node.module.partition(".")[0]] if node.module else [name.name for name in node.names]
                found |= {name for name in names if name in ROOMS}
    return found - {room}


def picture() -> str:
    """The picture as SVG. Each arrow has a column of its own, left of the rooms."""
    names = list(ROOMS)
    middle = {
        name: 20 + (len(names) - 1 - place) * (HEIGHT + GAP) + HEIGHT / 2 for place, name in enumerate(names)
    }
    total = 20 + len(names) * (HEIGHT + GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {total}" font-family="sans-serif" '
        'role="img" aria-label="The rooms of the package, and which knows which">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#567"/></marker></defs>',
    ]
    arrows = [(upper, lower) for upper in reversed(names) for lower in names if lower in knows(upper)]
    for place, (upper, lower) in enumerate(
        sorted(arrows, key=lambda arrow: middle[arrow[1]] - middle[arrow[0]])
    ):
        x = LEFT - 10 - place * (LEFT - 20) / len(arrows)
        start, end = middle[upper] + 10 - place % 7 * 3, middle[lower] - 10 + place % 7 * 3
        lines.append(
            f'<path d="M{LEFT} {start:g}H{x:.0f}V{end:g}H{LEFT - 2}" fill="none" stroke="#567" stroke-opacity=".6" '
            'marker-end="url(#tip)"/>'
        )
    for name, about in ROOMS.items():
        y = middle[name] - HEIGHT / 2
        lines.append(
            f'<rect x="{LEFT}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef3f8" stroke="#567"/>'
        )
        lines.append(
            f'<text x="{LEFT + 14}" y="{y + 28:g}" font-size="16" font-weight="bold" fill="#123">{name}/</text>'
        )
        lines.append(
            f'<text x="{LEFT + 104}" y="{y + 28:g}" font-size="14" fill="#345">{escape(about)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(PICTURE)
