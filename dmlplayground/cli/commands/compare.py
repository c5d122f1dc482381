"""say whether the results of two stores differ, and in which settings

It answers questions such as "is it better with the new learning rate?". Trials are matched by all settings that both
stores have in common, and runs with the same seed are paired."""

from ..arguments import Command, Namespace, place

EXAMPLE = "compare runs/before runs/after"
PAGE = "reproducibility"


def add_arguments(command: Command) -> None:
    for name in ("first A", "second B"):
        command.takes(name, kind=place)


def run(arguments: Namespace) -> None:
    from ... import reports

    print(reports.terminal(reports.compare(arguments.first, arguments.second)))
