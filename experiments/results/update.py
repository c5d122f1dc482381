"""Keeps what README.md and the documentation show of experiments: their records in small, and of the quick start the table
made of them and the figure.

python experiments/results/update.py                            makes table and figure anew of the records kept here
python experiments/results/update.py runs/quickstart            first puts the records of this run in their place
python experiments/results/update.py runs/miners parts/miners   puts those of `experiments/parts/miners` in theirs
"""

import shutil
import sys
from pathlib import Path

from dmlplayground import reports
from dmlplayground.base import files
from dmlplayground.reports import figure_files, figures, tables
from dmlplayground.reports.grouping import arenas
from dmlplayground.trial.store import records
from dmlplayground.trial.store.records import Record

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
KEPT, FIGURE = HERE / "quickstart", HERE / "quickstart.svg"
BEGIN, END = (
    "<!-- leaderboard: written by experiments/results/update.py -->\n",
    "<!-- end of leaderboard -->\n",
)


def main(store: str = "", experiment: str = KEPT.name) -> None:
    if store:
        keep(Path(store), HERE / experiment)
    found = records.load_store(KEPT)
    text = with_table(README.read_text(encoding="utf-8"), found)
    with files.replacing(README) as stream:
        stream.write(text)
    with files.replacing(FIGURE, "wb") as stream:
        stream.write(figure(found))


def keep(store: Path, kept: Path) -> None:
    """Keep the store's records in one small file."""
    unfinished = [record.id for record in records.load_store(store) if record.status != "finished"]
    if unfinished:
        sys.exit(f"error: {store} has {', '.join(unfinished)}: not finished.")
    shutil.rmtree(kept, ignore_errors=True)
    records.pack(store, kept)


def with_table(text: str, found: list[Record]) -> str:
    """The text with the leaderboard of these records between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    (table,) = reports.leaderboard(found)
    return f"{before}{BEGIN}\n{tables.markdown(table)}\n{END}{after}"


def figure(found: list[Record]) -> bytes:
    """The bars of the report, as SVG."""
    return figure_files.draw(figures.bars(arenas(found)[0]))[".svg"]


if __name__ == "__main__":
    main(*sys.argv[1:])
