"""check parts of your own: everything that holds for every part of their kind"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...base import layout

EXAMPLE = "check my_loss.py"
PAGE = "own-parts"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("target", nargs="+", metavar="FILE", help="a file with parts, or the name of a part")
    command.add_argument("--kind", metavar="KIND", help="the kind of the part that is named, such as methods")


def run(arguments: Namespace) -> int:
    from ...trial import conformance

    parts = [part for target in arguments.target for part in conformance.named(target, arguments.kind)]
    found = list(conformance.made(parts))
    rows = [("part", "check", "result", "seconds")]
    for one in found:
        result = f"X {one.fault}" if one.fault else f"left out: {one.left_out}" if one.left_out else "passed"
        rows.append((one.part, one.check, result, f"{one.seconds:.1f}"))
    print(
        layout.columns(
            [(*row[:2], row[2] if len(row[2]) < 60 else row[2][:57] + "...", row[3]) for row in rows],
            right={3},
            rule=True,
        )
    )
    failed = [one for one in found if one.fault]
    for one in failed:
        print(layout.fill(f"X {one.part}: {one.check}: {one.fault}", later="  "))
    left_out = sum(bool(one.left_out) for one in found)
    print(f"\n{len(found) - len(failed) - left_out} passed, {len(failed)} failed, {left_out} left out.")
    return 1 if failed else 0
