"""Bundles: the records of a store in one archive, with the files of their parts, so that others can verify them.

    records.jsonl.gz        every record that has ended, with its settings, versions and machine (``store.packed``)
    experiment.json         what the store was to hold besides
    parts/SHA256/FILE       the files of parts and commands, by digest

A bundle is data: reading it runs nothing. What of it is code is listed, and runs only where its reader says so.
"""

import gzip
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..base import files, outside, seeds
from ..base.errors import UserError
from ..parts.data.shared import archives
from . import config
from .store import existing, packed, records
from .store.records import Record

MOST = 2**30  # bytes of a bundle
TOLERANCE = 0.02  # by which scores may differ on another processor, whose rounding is another


class Finding(NamedTuple):
    """What was looked at, and whether it holds; None: it was not verified, and ``said`` tells why."""

    what: str
    holds: bool | None
    said: str


def bundle(store: str | Path, path: str | Path) -> Path:
    """Write the records of a store, and the files of their parts, into one archive (.tar.gz).

    >>> dml.bundle(store, store / "mine.tar.gz").name
    'mine.tar.gz'
    """
    store, path = existing(store), Path(path)
    if not path.name.endswith(".tar.gz"):
        raise UserError(f"a bundle's name ends in .tar.gz, not {path.name}.")
    with tempfile.TemporaryDirectory() as folder:
        records.pack(store, folder)
        for source in _sources(packed.read(Path(folder) / packed.FILE).values()):
            copy = Path(outside.KEPT, source["sha256"], Path(source["file"]).name)
            content = outside.file_of({**source, "file": str(store / copy)}).read_bytes()
            (Path(folder) / copy).parent.mkdir(parents=True)
            (Path(folder) / copy).write_bytes(content)
        with (
            files.replacing(path, "wb") as target,
            gzip.GzipFile("", "wb", 9, target, mtime=0) as packing,
            tarfile.open(fileobj=packing, mode="w") as archive,
        ):
            for each in sorted(Path(folder).rglob("*")):
                archive.add(each, each.relative_to(folder).as_posix(), recursive=False, filter=_nobodys)
    return path


def verify(path: str | Path, sample: int = 3, run: bool = False, seed: int = 0) -> list[Finding]:
    """Check the form, settings and budgets of a bundle, train ``sample`` of its trials again and compare their numbers.

    ``run``: also trials with parts or commands of the bundle, whose code then runs here. ``seed`` draws the sample.

    >>> [one.holds for one in dml.verify(dml.bundle(store, store / "mine.tar.gz"), sample=1)]
    [True, True, True, True]
    """
    path = Path(path)
    if not archives.is_archive(path) or path.stat().st_size > MOST:
        raise UserError(f"{path} is not a bundle: an archive of at most {MOST >> 20:,} MB.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archives.unpack(path, folder)
        found, problems = records.survey(folder)
        if problems or not found:
            raise UserError(f"{path} is not a bundle: {problems[0] if problems else 'it holds no records.'}")
        return list(_findings(found, folder, sample, run, seed))


def _findings(found: list[Record], folder: Path, sample: int, run: bool, seed: int) -> Iterator[Finding]:
    yield Finding("form", True, f"{len(found)} records")
    sources = _sources(record.config for record in found)
    wrong = [source["file"] for source in sources if not _holds(folder, source)]
    named = wrong or [Path(each["file"]).name for each in sources]
    yield Finding("parts", not wrong, ", ".join(named) or "none")
    plain = [record for record in found if run or not record.config.get("parts")]
    if sources and run and not wrong:
        outside.load(sources, folder)
    faults = [f"{record.id}: {fault}" for record in plain if (fault := _fault(record))]
    yield Finding("ids and budgets", not faults, "; ".join(faults[:5]) or f"of {len(plain)} trials")
    if left := len(found) - len(plain):
        code = f"{left} trials run code of the bundle, which was not asked for"
        yield Finding("trials with code", None, code)
    if commanded := [one for one in found if (one.config.get("trainer") or {}).get("command")]:
        yield _declared(commanded)
    ended = [record for record in plain if record.status == "finished"]
    order = seeds.generator(seed, "verify").permutation(len(ended))
    for record in [ended[place] for place in order[:sample]]:
        yield _replayed(record, folder)


def _sources(contents: Any) -> list[dict[str, str]]:
    """The files that configurations, or records with one, name, each once."""
    configurations = [content.get("config", content) for content in contents]
    return list({each["sha256"]: each for one in configurations for each in one.get("parts") or ()}.values())


def _holds(folder: Path, source: Mapping[str, str]) -> bool:
    copy = folder / outside.KEPT / Path(source["sha256"]).name / Path(source["file"]).name
    return copy.is_file() and files.digest(copy) == source["sha256"]


def _fault(record: Record) -> str:
    """Why a record cannot be what its configuration gives; empty if it can."""
    try:
        trial = config.trial(record.config)
    except UserError as problem:
        return str(problem)
    if trial.id != record.id:
        return f"its settings are those of {trial.id}"
    epochs = [entry for entry in record.epochs if entry["epoch"]]
    if record.status == "finished" and max((entry["epoch"] for entry in epochs), default=0) > trial.epochs:
        return f"it has more than {trial.epochs} epochs"
    units = len(config.units(trial))
    steps = sum(entry.get("steps") or 0 for entry in epochs)
    if trial.iterations and steps > units * trial.epochs * trial.iterations:
        return f"it took {steps} steps, more than its settings allow"
    return ""


def _declared(found: list[Record]) -> Finding:
    """Whether commands declare no more images than their settings allow. Nobody has counted them, so none is verified."""
    what, open_ended = "images that commands declare", 0
    for record in found:
        given, seen = record.config, Counter[int]()
        for entry in record.epochs:
            seen[entry.get("fold", 0)] += entry.get("images") or 0
        if not given.get("iterations"):
            open_ended += 1
            continue
        budget = given["epochs"] * given["iterations"] * given.get("accumulate", 1) * given["batch_size"]
        if (most := max(seen.values(), default=0)) > budget:  # of a fold
            return Finding(what, False, f"{record.id}: {most:,}, and its budget is {budget:,}")
    left = f"; {open_ended} have passes over the data as their budget" if open_ended else ""
    return Finding(what, None, f"of {len(found)} trials: nobody has counted them{left}")


def _replayed(record: Record, folder: Path) -> Finding:
    """Train a trial of the bundle again, and compare."""
    from .training import train  # loads what trains

    what = f"replay of {record.id}"
    for source in record.config.get("parts") or ():
        if outside.changed(source):
            return Finding(what, None, f"this machine has another {source['file']}")
    try:
        with tempfile.TemporaryDirectory() as store:
            if (folder / outside.KEPT).is_dir():
                shutil.copytree(folder / outside.KEPT, Path(store) / outside.KEPT)
            again = train(record.config, store)
    except Exception as problem:  # whatever a trial of somebody else's raises is a finding
        return Finding(what, None, f"it cannot be trained here: {problem}")
    here, there = records.machine()["processor"], record.machine.get("processor")
    apart = _apart(record.results, again.results)
    if apart == 0:
        return Finding(what, True, "the same to the last bit")
    if here != there and apart <= TOLERANCE:
        return Finding(what, True, f"within {TOLERANCE:g}, as this processor is another ({there})")
    return Finding(what, False, f"its results differ by up to {apart:g}")


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The largest difference between the metrics of two records' results."""
    mine, theirs = dict(_measured(one)), dict(_measured(other))
    if mine.keys() != theirs.keys():
        return float("inf")
    return max((abs(value - theirs[key]) for key, value in mine.items()), default=0.0)


def _measured(results: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int, str], float]]:
    for name, result in results.items():
        for place, entry in enumerate(result if isinstance(result, list) else [result]):
            yield from (((name, place, key), value or 0.0) for key, value in entry["metrics"].items())


def _nobodys(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same records give the same bundle, whoever makes it."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime, info.mode = 0, 0o755 if info.isdir() else 0o644
    return info
