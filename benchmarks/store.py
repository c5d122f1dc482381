"""What reports, the live page, comparisons and resumed sweeps cost with a large store: processor seconds, memory, and
milliseconds of a poll. The store is made of the quick start's records, with other settings, seeds and scores.

python benchmarks/store.py [--trials 20000] [--keep FOLDER]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dmlplayground.trial.store import checks, manifest, records

QUICKSTART = Path(__file__).resolve().parents[1] / "experiments" / "results" / "quickstart"
METHODS = ("margin", "npairs", "proxy_nca", "triplet_semihard")
SIZES, BATCHES, SEEDS = (16, 32, 64, 128), (20, 40, 60, 80, 120), 5


def experiment(trials: int) -> dict[str, Any]:
    """A grid of as many trials: four methods, four sizes, five batches, five seeds, and as many rates as it takes."""
    rates = max(1, trials // (len(METHODS) * len(SIZES) * len(BATCHES) * SEEDS))
    grid = {
        "method": list(METHODS),
        "embed_dim": list(SIZES),
        "batch_size": list(BATCHES),
        "optimizer.lr": [round(1e-4 * (number + 1), 6) for number in range(rates)],
        "seed": list(range(SEEDS)),
    }
    return {"title": "Large", "grid": grid}


def make(store: Path, file: Path) -> int:
    """Write the records of all trials of the experiment. Returns how many."""
    from dmlplayground.sweeps.chosen import choose

    examples = {record.config["method"]["name"]: asdict(record) for record in records.load_store(QUICKSTART)}
    chosen = choose(file, store)
    for trial in chosen.trials:
        mapping = trial.mapping()
        content = dict(examples[mapping["method"]["name"]])
        chance = random.Random(trial.id)
        content |= {key: scored(content[key], chance) for key in ("epochs", "results")}
        content |= {"id": trial.id, "config": mapping}
        (store / trial.id).mkdir(parents=True)
        for name, what in ((records.RECORD, checks.sealed(content)), (records.TRIAL, mapping)):
            (store / trial.id / name).write_text(json.dumps(what))  # without waiting for the disk
    chosen.state()
    return len(chosen.trials)


def scored(content: Any, chance: random.Random) -> Any:
    """The content of a record with other scores."""
    if isinstance(content, dict):
        return {
            key: {name: moved(value, chance) for name, value in of.items()}
            if key == "metrics"
            else scored(of, chance)
            for key, of in content.items()
        }
    return [scored(one, chance) for one in content] if isinstance(content, list) else content


def moved(value: Any, chance: random.Random) -> Any:
    return value if value is None else min(1.0, max(0.0, value + chance.gauss(0, 0.02)))


def measured(code: str, *words: str) -> tuple[float, float]:
    """Processor seconds and megabytes of a process that runs this code."""
    # Its own highest memory: that of children holds the highest of all before.
    end = "import resource, sys; used = resource.getrusage(resource.RUSAGE_SELF)"
    tell = "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)"
    command = [sys.executable, "-c", f"import sys; {code}; {end}; {tell}", *words]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds, megabytes = map(float, done.stderr.splitlines()[-1].split())
    return seconds, megabytes


def rows(store: Path, file: Path) -> Iterator[tuple[str, str, str]]:
    main = "from dmlplayground.cli import main; main(sys.argv[1:])"
    new = file.with_name("new.json")
    new.write_text(json.dumps(experiment(120_000)))
    commands = {
        "compare, no report": ["compare", str(store), str(store)],
        "report": ["report", str(store)],
        "compare with itself": ["compare", str(store), str(store)],
        "sweep, all done": ["sweep", str(file), "--store", str(store)],
        "dry run, 120,000 new": ["sweep", str(new), "--dry-run", "--store", str(store.with_name("new"))],
    }
    for name, words in commands.items():
        seconds, megabytes = measured(main, *words)
        yield name, f"{seconds:.1f} s", f"{megabytes:.0f} MB"
    yield from polls(store)


def polls(store: Path) -> Iterator[tuple[str, str, str]]:
    """Of the live page: the first poll, one where nothing has changed, and one where a trial has."""
    from dmlplayground.reports.live.server import Site

    site, some = Site([store]), next(store.glob(f"*/{records.RECORD}"))
    yield "first poll", f"{processor(site):.1f} s", ""
    yield "poll, nothing new", f"{1000 * statistics.median(processor(site) for _ in range(9)):.0f} ms", ""
    times = []
    for _ in range(9):
        some.rename(some.with_suffix(".old")).rename(some)
        times.append(processor(site))
    yield "poll, a new record", f"{1000 * statistics.median(times):.0f} ms", ""


def processor(site: Any) -> float:
    began = time.process_time()
    site.state(0)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="the folder for the store, or the one that has it already")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as passing:
        folder = arguments.keep or Path(passing)
        file, store = folder / "large.json", folder / "store"
        if not (store / manifest.FILE).exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(experiment(arguments.trials)))
            print(f"{make(store, file):,} trials")
        print(f"{'what':22} {'processor':>10} {'memory':>10}")
        for what, seconds, memory in rows(store, file):
            print(f"{what:22} {seconds:>10} {memory:>10}", flush=True)


if __name__ == "__main__":
    main()
