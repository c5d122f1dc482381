"""make one archive of a store's records and parts, for others to verify"""

from pathlib import Path

from ..arguments import Command, Namespace, place

EXAMPLE = "bundle runs/quickstart"
PAGE = "bundles"


def add_arguments(command: Command) -> None:
    command.takes("store STORE", "the folder of the records", place)
    command.takes("--to FILE", "the archive (default: STORE.tar.gz in this folder)", place)


def run(arguments: Namespace) -> None:
    from ...trial import bundles

    made = bundles.bundle(arguments.store, arguments.to or Path(f"{arguments.store.resolve().name}.tar.gz"))
    print(f"wrote {made}; look at it as others will: dmlplayground verify {made}")
