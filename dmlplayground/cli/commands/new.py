"""write a new method, miner, sampler or other part with its test, for you to change"""

from pathlib import Path

from ..arguments import Command, Namespace, place

EXAMPLE = "new method my_loss"
PAGE = "own-parts"


def add_arguments(command: Command) -> None:
    from .. import templates

    command.takes("kind KIND", f"one of {', '.join(templates.kinds())}")
    command.takes("name NAME", "its name: lower-case letters, digits and _")
    command.takes("--into FOLDER", "where to write it (default: the current folder)", place, Path())


def run(arguments: Namespace) -> None:
    from .. import templates

    written = templates.write(arguments.kind, arguments.name, arguments.into)
    plural, part = templates.kinds()[arguments.kind], written[0]
    print("\n".join(f"wrote {path}" for path in written))
    print("\nIt is a small part that works. Change it, then")
    if templates.is_checkout(arguments.into):
        print(f"test it, with all tests of its kind: pytest -k {arguments.name}")
        print(f"see its description: dmlplayground {plural} {arguments.name}")
    else:
        print(f"check it: dmlplayground check {part}")
        print(f"see its description: dmlplayground {plural} {arguments.name} --parts {part}")
