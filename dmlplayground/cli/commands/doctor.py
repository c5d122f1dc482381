"""check this machine: versions, devices and known problems"""

from ..arguments import Command, Namespace

EXAMPLE = "doctor"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    """None: it looks at everything."""


def run(arguments: Namespace) -> int:
    from .. import doctor

    return doctor.main()
