"""make tables, figures and a page from records"""

from .. import run_summary
from ..arguments import Command, Namespace, place

EXAMPLE = "report runs/quickstart"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    command.takes("store", "the folder of a sweep, or a single record", place)


def run(arguments: Namespace) -> None:
    run_summary.report(arguments.store)
