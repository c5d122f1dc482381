"""Keeps the records of a store, or of all stores below a folder, in small; of searches also what they found.

python experiments/results/keep.py runs/arenas/glyphs/search experiments/results/arenas/glyphs/search
"""

import shutil
import sys
from pathlib import Path

from dmlplayground import hyperparams
from dmlplayground.sweeps.winners import TRIED
from dmlplayground.trial.store import manifest, records


def main(source: str, target: str) -> None:
    for stated in sorted(Path(source).glob(f"**/{manifest.FILE}")):
        kept = Path(target) / stated.parent.relative_to(source)
        print(records.pack(stated.parent, kept))
        for name in (hyperparams.WINNER, TRIED):
            if stated.with_name(name).exists():
                shutil.copy(stated.with_name(name), kept / name)


if __name__ == "__main__":
    main(*sys.argv[1:])
