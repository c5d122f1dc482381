"""What trials cost, beside what they scored: two methods that saw different numbers of images are not compared by scores
alone, and seconds alone mislead, as they depend on what else the machine did."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

from ..trial.store.records import Record
from . import columns
from .columns import Field
from .grouping import Arena, Cell
from .tables import Column, Seconds, Table

LOAD = (
    "load: how many processes, its own among them, wanted to run at the same time during training, and how many cores the "
    "machine has. If load is above cores, seconds are longer than on a quiet machine."
)
PROCESSOR = "processor: what the cores worked for the training, added up; the same on a busy machine."
IMAGES = "images: how many images training saw, in all folds and members; one seen twice counts twice."
LOOKS = "looks: how often the test classes were scored once training had begun. Each look is a chance to choose by them."


def images(record: Record) -> int:
    """Those that training saw; of older records, as many as batches hold."""
    config = record.config
    step = config["batch_size"] * config.get("accumulate", 1)
    return sum(entry.get("images", entry.get("steps", 0) * step) for entry in record.epochs)


def steps(record: Record) -> int:
    return sum(entry.get("steps", 0) for entry in record.epochs)


def looks(record: Record) -> int:
    """After how many epochs the test classes were scored; once at the end where they were kept away until then."""
    watched = [entry for entry in record.epochs if entry["epoch"] and entry.get("measured_on") == "test"]
    return len(watched) or 1


def training(record: Record) -> float:
    """Seconds."""
    return sum(entry.get("seconds", 0.0) for entry in record.epochs)


def processor(record: Record) -> float | None:
    """Seconds that the processor worked for the training; None of older records."""
    known = [entry["processor_seconds"] for entry in record.epochs if "processor_seconds" in entry]
    return sum(known) if known else None


def evaluation(record: Record) -> float:
    """Seconds, those of the results at the end among them."""
    of_epochs = sum(entry.get("evaluation_seconds", 0.0) for entry in record.epochs)
    return of_epochs + record.cost.get("results_seconds", 0.0)


def _mean(
    column: Column, of_record: Callable[[Record], float | None], shown: Callable[[float], Any] = round
) -> Field:
    """The mean over the records of a cell."""

    def value(cell: Cell) -> Any:
        known = [number for record in cell.records if (number := of_record(record)) is not None]
        return shown(fmean(known)) if known else None

    return Field(column, value)


SEEN = _mean(Column("images", IMAGES), images)
LOOKED = _mean(Column("looks", LOOKS), looks)
LEARNED = Column("parameters", "numbers that a training learns")
FIELDS = (
    SEEN,
    _mean(Column("steps"), steps),
    LOOKED,
    _mean(LEARNED, lambda record: record.cost.get("parameters")),
    _mean(Column("training"), training, Seconds),
    _mean(Column("processor", PROCESSOR), processor, Seconds),
    _mean(Column("evaluation"), evaluation, Seconds),
    _mean(Column("load"), lambda record: record.cost.get("load"), float),
    _mean(Column("cores"), lambda record: record.machine.get("cores")),
)


def table(arena: Arena) -> Table:
    """A row for each cell with a result, in the order of the leaderboard: means over its runs."""
    notes = ["Means over runs.", IMAGES, LOOKS, PROCESSOR, LOAD]
    # Nobody has counted the images that a command shows its network.
    runs = ((cell.method, record) for cell in arena.finished for record in cell.records)
    if names := dict.fromkeys(method for method, record in runs if record.cost.get("images_declared")):
        notes.append(f"Images of {', '.join(names)}: as the command declares them.")
    return columns.table("costs", "What it cost", arena, [*columns.naming(arena), *FIELDS], notes)
