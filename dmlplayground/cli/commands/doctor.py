"""check this machine: versions, devices and known problems"""

from ..arguments import Command, Namespace

EXAMPLE = "doctor --full"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    command.flag("--full", "also ask the servers that data and weights are fetched from")


def run(arguments: Namespace) -> int:
    from .. import doctor

    return doctor.main(arguments.full)
