"""look at versions, devices and known traps of this machine"""

from __future__ import annotations

EXAMPLE = "doctor"
PAGE = "getting-started"


def add_arguments(command) -> None:
    pass


def run(arguments) -> int:
    from ... import doctor

    return doctor.main()
