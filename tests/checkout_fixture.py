"""A folder into which ``dmlplayground new`` writes."""

from pathlib import Path

from dmlplayground.cli import templates


def checkout(folder: Path) -> Path:
    """The least that counts as a checkout of the source."""
    for name in templates.CHECKOUT:
        (folder / name).mkdir()
    return folder
