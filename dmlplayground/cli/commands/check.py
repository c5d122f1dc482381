"""check parts, yours or ours, on any device: everything that holds for every part of their kind"""

from ...base import layout
from ..arguments import Command, Namespace

EXAMPLE = "check my_loss.py"
PAGE = "own-parts"


def add_arguments(command: Command) -> None:
    about = "a file with parts, or the name of a part; all parts there are, or of --kind, if none is given"
    command.takes("target PART", about, nargs="*")
    command.takes("--kind KIND", "the kind of the parts that are meant, such as methods")
    command.takes("--device", "where to compute: cpu, gpu or gpu:1", default="cpu")


def run(arguments: Namespace) -> int:
    from ...trial import conformance

    targets = arguments.target or [None]
    parts = [part for target in targets for part in conformance.named(target, arguments.kind)]
    found = []
    for outcome in conformance.made(parts, arguments.device):
        found.append(outcome)
        word = "X" if outcome.fault else "left out" if outcome.left_out else "passed"
        why = f" ({outcome.left_out})" if outcome.left_out else ""
        print(f"{word:8} {outcome.seconds:6.1f} s  {outcome.part}: {outcome.check}{why}", flush=True)
    failed = [one for one in found if one.fault]
    for one in failed:
        print(layout.fill(f"X {one.part}: {one.check}: {one.fault}", later="  "))
    left_out = sum(bool(one.left_out) for one in found)
    print(f"\n{len(found) - len(failed) - left_out} passed, {len(failed)} failed, {left_out} left out.")
    return 1 if failed else 0
