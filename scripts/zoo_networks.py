"""Keeps the facts of every network of Gluon's and gluoncv's zoos: python scripts/zoo_networks.py

Do so when the release of a library changes.
"""

from __future__ import annotations

from dmlplayground.base import files
from dmlplayground.parts.backbones.shared import gluon_zoos, zoo_records
from dmlplayground.parts.backbones.shared.weights import sources

if __name__ == "__main__":
    files.write_json(
        zoo_records.FILE,
        {
            library: {name: gluon_zoos.facts(library, name)._asdict() for name in gluon_zoos.names(library)}
            for library in sources.ZOOS
        },
    )
