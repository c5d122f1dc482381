"""The folder of a trial in a store."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import UserError
from .schema import Trial


class Places:
    """The folders of a store's trials, each named by the trial's id.

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
        return self.store / trial.id
