"""Registries that find their entries by themselves: one file in the package's folder is one entry (or a few).

A file registers when it is imported; ``Registry`` imports every module of its package on the first look-up,
so adding a method, data set or backbone is adding a file and nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Generic, TypeVar

from .errors import unknown

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    def __init__(self, kind: str, package: str):
        self.kind = kind
        self.package = package
        self._entries: dict[str, Entry] = {}
        self._complete = False

    def add(self, name: str, entry: Entry) -> None:
        if name in self._entries:
            raise ValueError(f"two {self.kind}s are called {name!r}")
        self._entries[name] = entry

    def names(self) -> list[str]:
        self._discover()
        return sorted(self._entries)

    def get(self, name: str) -> Entry:
        self._discover()
        try:
            return self._entries[name]
        except (KeyError, TypeError):
            raise unknown(self.kind, name, self._entries) from None

    def _discover(self) -> None:
        if self._complete:
            return
        folder = importlib.import_module(self.package).__path__
        for module in pkgutil.iter_modules(folder):
            importlib.import_module(f"{self.package}.{module.name}")
        self._complete = True
