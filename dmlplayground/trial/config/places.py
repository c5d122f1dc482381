"""The folder of a trial in a store: named by its id or, if the first edition finished it, by its id there."""

from __future__ import annotations

import contextlib
from functools import cached_property
from pathlib import Path

from ...base.errors import UserError
from ..store import records
from . import building, first_edition
from .schema import Trial

__all__ = ["Places"]


class Places:
    """The folders of a store's trials. Those of the first edition are read once, and only if there are any.

    >>> trial = dml.config.trial({"method": "npairs"})
    >>> dml.config.Places("runs").folder(trial).name == trial.id
    True
    """

    def __init__(self, store: str | Path):
        self.store = Path(store)
        if self.store.is_file():
            raise UserError(f"{self.store} is a file; a store is a folder.")
        for folder in self.store.parents:
            if folder.is_file():
                raise UserError(f"the store {self.store} cannot be made: {folder} is a file.")

    def folder(self, trial: Trial) -> Path:
        """The folder of the trial, whether or not it is there yet."""
        own = self.store / trial.id
        if self.former and not own.exists():
            return self.former.get(trial.id, own)
        return own

    @cached_property
    def former(self) -> dict[str, Path]:
        """The folders of trials that the first edition finished, by today's ids."""
        found: dict[str, Path] = {}
        paths = sorted(self.store.iterdir()) if self.store.is_dir() else []
        for path in paths:
            if first_edition.ID.fullmatch(path.name) and (path / records.RECORD).exists():
                with contextlib.suppress(
                    UserError
                ):  # damaged, or with a part that no longer exists: reports say so
                    record = records.Record.load(path / records.RECORD)
                    if record.status == "finished":
                        found[building.unchecked(record.config).id] = path
        return found
