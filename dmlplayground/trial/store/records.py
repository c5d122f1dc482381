"""Records: what is kept of a trial, and everything that reports read."""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from ... import __version__
from ...base import files, optional
from ...base.errors import UserError, warn
from . import CHECKPOINT, checks, existing, locks, manifest, packed

__all__ = [
    "RECORD", "Record", "find", "load_store", "machine", "now", "pack", "survey", "to_frame", "versions",
]  # fmt: skip

RECORD, TRIAL = "record.json", "trial.json"
FORMAT = 1
#: Packages whose versions decide a trial's numbers.
PACKAGES = "mxnet, mxnet-cu112, numpy, scipy, scikit-learn, numba, gluoncv, matplotlib, pillow"


@dataclass
class Record:
    """One trial's record. ``status`` is running, finished, failed or interrupted.

    ``epochs`` holds one entry for each epoch (entry 0: before training): ``fold``, ``member`` (the first that is trained
    there), ``epoch``, ``loss``, ``learning_rate``, ``steps``, ``images``, ``seconds``, ``processor_seconds``, ``health``
    and, where there was an evaluation, ``metrics``, ``measured_on`` and ``evaluation_seconds``; where they were asked for
    also ``kmeans``, ``intervals`` and ``training``, the metrics of the training images.
    ``results`` holds what a table shows, by the names that the protocol lists: ``untrained``, ``best`` and ``last`` under
    ``paper``, each with its metrics and the weights that gave them. A trial that begins with trained weights or with features
    has ``untouched`` too: these as they are.
    ``cost`` holds what the epochs do not tell: ``parameters``, the numbers that a training learns, ``results_seconds``, what
    the results took at the end, and ``load``, the machine's mean load while training ran in the last sitting.

    >>> record = dml.records.Record.load(trial / "record.json")
    >>> record.status, record.config["method"]["name"]
    ('finished', 'npairs')
    """

    id: str
    config: dict[str, Any]
    status: str = "running"
    epochs: list[dict[str, Any]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    started: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    cost: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    format: int = FORMAT
    sealed: ClassVar[bool] = False  # whether the file that it was read from has a checksum

    @property
    def seed(self) -> int:
        return self.config["seed"]

    def save(self, folder: Path, through: Path | None = None) -> None:
        files.write_json(folder / RECORD, checks.sealed(asdict(self)), through)

    @classmethod
    def load(cls, path: str | Path) -> "Record":
        """The record in a file; a UserError with the reason if it is damaged."""
        path = Path(path)
        if not path.exists() and (trials := sorted(path.parent.glob(f"*/{RECORD}"))):
            raise UserError(f"{path.parent} is a store: name one of its trials, such as {trials[0].parent}.")
        return cls.of(files.read_json(path), path)

    @classmethod
    def of(cls, content: Any, path: Path) -> "Record":
        """The record with this content, which the file holds; a UserError with the reason if it is damaged."""
        newer = content.get("format", 0) if isinstance(content, dict) else 0
        if isinstance(newer, int) and newer > FORMAT:
            newest = f"a newer dmlplayground (format {newer}); this one reads {FORMAT}"
            raise UserError(f"{path} was written by {newest}.")
        try:
            checks.record(content)
        except checks.Wrong as reason:
            raise UserError(f"{path} is not the record of a trial, or is damaged: {reason}.") from None
        known = cls(**{key: value for key, value in content.items() if key in KEYS})
        known.sealed = checks.CHECKSUM in content  # type: ignore[misc]
        return known


KEYS = {field.name for field in fields(Record)}
Keep = Callable[[Record], Record | None]  # what of a record is held


def find(folder: Path) -> Record | None:
    """The current record in a trial's folder, or None if there is none yet.

    A trial that is marked as running, but that no process is training, was interrupted by its process's death.

    >>> dml.records.find(trial).status
    'finished'
    """
    path, together = folder / RECORD, folder.parent / packed.FILE
    if not path.exists():
        content = packed.read(together).get(folder.name)
        return None if content is None else Record.of(content, together / folder.name)
    record = Record.load(path)
    if record.id != folder.resolve().name:
        raise UserError(f"{path} is the record of another trial, {record.id}.")
    if record.status == "running" and not locks.alive(folder):
        record.status = "interrupted"
    return record


def tidy(folder: Path) -> None:
    """Remove what a killed owner has left: its lock, and of a finished trial the checkpoint. A lock that names no owner is
    removed from a finished trial alone, which nobody trains."""
    lock = locks.current(folder)
    if not any(folder.glob("lock-*")) and not (folder / CHECKPOINT).exists():
        return
    if lock is not None and not lock.gone:
        record = None if lock.owner else find(folder)
        if record is None or record.status != "finished":
            return
        lock.give_up()
    with contextlib.suppress(locks.Busy), locks.hold(folder):
        record = find(folder)
        if record is not None and record.status == "finished":
            (folder / CHECKPOINT).unlink(missing_ok=True)


def survey(store: str | Path, keep: Keep = lambda record: record) -> tuple[list[Record], list[str]]:
    """All records of a store, by id, and a line about each that cannot be used. Of each only what ``keep`` returns is held.

    >>> found, problems = dml.records.survey(store)
    >>> len(found), problems
    (1, [])
    """
    store = existing(store)
    found, problems = [], []
    names = {path.parent.name for path in store.glob(f"*/{RECORD}")}
    try:
        names.update(packed.read(store / packed.FILE))
    except UserError as problem:
        problems.append(str(problem))
    for name in sorted(names):
        try:
            record = find(store / name)
        except UserError as problem:
            problems.append(str(problem))
        else:
            found += [kept] if record and (kept := keep(record)) else []
    return found, problems


def load_store(store: str | Path, keep: Keep = lambda record: record) -> list[Record]:
    """All records of a store that can be used, by id; one record where ``store`` is a record or a trial's folder. Of each only
    what ``keep`` returns is held. The user is warned about the others.

    >>> [record.status for record in dml.records.load_store(store)]
    ['finished']
    """
    store = Path(store)
    one = store if store.is_file() else store / RECORD
    if store.name == packed.FILE:
        every = [Record.of(content, store / id) for id, content in packed.read(store).items()]
        return [record for record in map(keep, every) if record]
    if one.is_file():
        return [record for record in map(keep, [Record.load(one)]) if record]
    found, problems = survey(store, keep)
    for problem in problems:
        warn(f"{problem} It is left out.")
    return found


def to_frame(given: str | Path | Iterable[Record]) -> Any:
    """Records, or those of a store, as a data frame of pandas: a row for each, a column for every value by its dotted name,
    such as ``config.method.name`` and ``results.best.metrics.R@1``. The epochs are left out.

    >>> dml.records.to_frame(store)[["status", "config.method.name", "config.seed"]].values.tolist()
    [['finished', 'npairs', 0]]
    """
    pandas = optional.load("pandas")
    found = load_store(given) if isinstance(given, (str, Path)) else given
    rows = map(asdict, found)
    return pandas.json_normalize([{key: row[key] for key in row if key != "epochs"} for row in rows])


def pack(store: str | Path, target: str | Path) -> Path:
    """Write the store's records into the folder ``target`` as one small file, for a repository or to hand on; beside it what
    the store is to hold besides. What has not ended yet is left out, and of the machine's system all but its name.

    >>> [record.id for record in load_store(pack(store, store / "small"))] == [record.id for record in load_store(store)]
    True
    """
    found, problems = survey(store)
    ended = [record for record in found if record.status in ("finished", "failed")]
    if problems or not ended:
        raise UserError(f"{store} cannot be packed: {problems[0] if problems else 'no trial has ended.'}")
    for record in ended:
        record.machine["system"] = str(record.machine.get("system", "")).partition("-")[0]
    # What had no checksum gets none: nobody has checked it since it was written.
    contents = [checks.sealed(asdict(record)) if record.sealed else asdict(record) for record in ended]
    manifest.keep(Path(store), Path(target), {record.id for record in ended})
    return packed.write(Path(target), contents)


def versions() -> dict[str, str]:
    """The versions that decide a trial's numbers.

    >>> dml.records.versions()["dmlplayground"] == dml.__version__
    True
    """
    from importlib import metadata  # here, as listings load this file

    found = {"dmlplayground": __version__, "python": platform.python_version()}
    for name in PACKAGES.split(", "):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def machine() -> dict[str, Any]:
    """The machine that a trial runs on.

    >>> sorted(dml.records.machine())
    ['cores', 'omp_threads', 'processor', 'system']
    """
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "omp_threads": os.environ.get("OMP_NUM_THREADS"),
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def now() -> str:
    """The time in UTC, to the second, as records have it.

    >>> dml.records.now()[10]
    'T'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
