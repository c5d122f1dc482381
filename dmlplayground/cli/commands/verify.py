"""verify a bundle: its form, its budgets, and some of its trials by training them again"""

from ...base import layout
from ..arguments import Command, Namespace, natural, place

EXAMPLE = "verify quickstart.tar.gz --sample 3"
PAGE = "bundles"


def add_arguments(command: Command) -> None:
    command.takes("bundle BUNDLE", "an archive that dmlplayground bundle made", place)
    command.takes("--sample", "trials to train again", natural, 3)
    command.takes("--seed", "which trials are drawn", natural, 0)
    command.flag("--run-code", "also run the parts and commands in the bundle")


def run(arguments: Namespace) -> int:
    from ...trial import bundles

    found = bundles.verify(arguments.bundle, arguments.sample, arguments.run_code, arguments.seed)
    words = {True: "holds", False: "X does not hold", None: "not verified"}
    print(layout.columns([(one.what, words[one.holds], one.said) for one in found]))
    return 1 if any(one.holds is False for one in found) else 0
