"""The ladder: from the untouched network to a fine-tuned one, cheap steps first, each judged on the same classes.

A rung is written down as soon as it is known, with what it left on disk, so that a killed ladder goes on from there. What
is delivered is a trial like any other: the features or a linear head on them with nothing left to train, or a
fine-tuned network.
"""

import dataclasses
import gc
import hashlib
import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...base import array_files, files, layout, memory
from ...base.files import digest
from ...parts import transforms
from ...parts.layers import expand, merge
from ...trial import config
from ...trial.config import Places, Trial
from ...trial.store import BEST, trained_weights
from ...trial.store.records import Record
from ...trial.training import folds, lr_finder, models, scoring, train
from ...trial.training.networks import HEAD
from ..judge import NAMES, Judgement, judge
from . import choose
from .choose import Plan

FILE = "ladder.json"
SHRINKAGE = (0.03, 0.3, 3.0)
FOR_SIZES = 0.3  # of the time, at most, goes into looking at images in several sizes
LEAST_STEPS = 40  # of fine-tuning: with fewer, nothing is learned
ROUNDS = 5  # evaluations during a fine-tuning
FINDER = 30  # steps of the learning-rate finder
MEASURED = 6  # steps that tell how long one takes
WARM_UP = 2  # pieces of work whose time is not counted: the first ones allocate memory


@dataclass
class Rung:
    """A step of the ladder: what it is, its seconds, and its scores on the validation classes with their intervals."""

    name: str
    seconds: float
    size: int
    scores: dict[str, float]
    intervals: dict[str, list[float]]
    worse: bool = False  # in any score than the untouched features by more than the noise
    config: dict[str, Any] = field(default_factory=dict)  # of its trial, beside what all share

    @property
    def untouched(self) -> bool:
        return "reduction" in self.config.get("head", {})

    def __str__(self) -> str:
        scores = "  ".join(f"{name} {100 * value:5.1f}" for name, value in self.scores.items())
        return f"{self.name:<32} {scores}  {self.seconds:6.1f} s"


say = partial(print, flush=True)
Climbed = tuple[Judgement, dict[str, Any]]  # how good a rung is, and its config
Head = dict[str, np.ndarray]  # the weights of a linear layer, as files of trained weights name them


class Ladder:
    """All rungs of a folder of images in ``out``; each is said as it is known, and why there are no more."""

    def __init__(self, plan: Plan, out: Path, minutes: float, changes: Mapping[str, Any], quiet: bool):
        self.plan, self.out, self.budget, self.changes, self.quiet = plan, out, 60 * minutes, changes, quiet
        pictures = digest(Path(plan.base["data"]["path"]))
        #: Everything on which the rungs depend.
        self.key = {"pictures": pictures, "sizes": list(plan.sizes), "changes": dict(changes)}
        self.rungs: list[Rung] = []
        self.planned: dict[str, Any] = {}  # of fine-tuning, once it has been measured
        self.reason = ""
        self._read()

    @property
    def best(self) -> Rung:
        """The best among those that are no worse than the untouched features."""
        return _best(rung for rung in self.rungs if not rung.worse)

    @property
    def _untouched_best(self) -> Rung:
        return _best(rung for rung in self.rungs if rung.untouched)

    @property
    def _best_head(self) -> Rung:
        size = self._untouched_best.size
        heads = [rung for rung in self.rungs if "start" in rung.config.get("head", {})]
        return _best(rung for rung in heads if rung.size == size)

    @property
    def spent(self) -> float:
        return sum(rung.seconds for rung in self.rungs)

    def climb(self) -> Record:
        """Every rung that the time allows, and then the trial of the best."""
        for size in self.plan.sizes:
            if not self._affordable(size):
                break
            self._rung("untouched", size, self._untouched)
        size = self._untouched_best.size
        if self.plan.pretrained:
            self._rung("principal components", size, self._components)
            self._rung("whitening", size, self._whitened)
            for given in choose.HEADS:
                self._rung(f"head: {given['method']}", size, partial(self._head, given))
        self._fine_tune()
        gc.collect()
        return train(self._trial(self.best.config), self.out, quiet=self.quiet)

    # --- rungs ---------------------------------------------------------------------------------------------------------

    def _untouched(self, size: int) -> Climbed:
        return judge(*self._features(size, "kept")), choose.untrained(size, head={"reduction": "none"})

    def _components(self, size: int) -> Climbed:
        found, _ = self._features(size, "train")
        return self._computed(size, [components(found, self._width(size))])

    def _whitened(self, size: int) -> Climbed:
        known, width = self._features(size, "train"), self._width(size)
        return self._computed(size, [whitened(*known, width, each) for each in SHRINKAGE])

    def _width(self, size: int) -> int:
        """How many numbers an embedding has; there are no more directions than images."""
        return min(choose.HEAD["embed_dim"], *self._features(size, "train")[0].shape)

    def _computed(self, size: int, heads: list[Head]) -> Climbed:
        """The best of these heads."""
        found, labels = self._features(size, "kept")
        judged = [judge(apply(head, found), labels) for head in heads]
        best = max(range(len(heads)), key=lambda place: judged[place].score(NAMES[1]))
        return judged[best], self._with_head(size, heads[best])

    def _head(self, given: Mapping[str, Any], size: int) -> Climbed:
        """A head trained on features, from the best that was computed; validation classes choose its epoch."""
        start = self._best_head.config
        own = {
            "data": {"name": "features", "path": str(self._features_file(size))},
            "protocol": "paper",
            "head": start["head"],
            "evaluation": {**self.plan.base["evaluation"], "headline": NAMES[1]},
            "embed_dim": start["embed_dim"],
        }
        trial = config.trial(merge(expand(choose.HEAD), expand(self._fitting(given, size)), own))
        record = train(trial, self.out / "heads", quiet=True)
        weights = Places(self.out / "heads").folder(trial) / record.results[BEST]["weights"][0]
        arrays = trained_weights.read(weights).arrays
        head = {name[len(HEAD) :]: array for name, array in arrays.items() if name.startswith(HEAD)}
        return self._computed(size, [head])

    def _fitting(self, given: Mapping[str, Any], size: int) -> dict[str, Any]:
        """The settings with batches that the training classes can fill."""
        _, labels = self._features(size, "train")
        sampler = given.get("sampler")
        most = sampler["per_class"] * len(np.unique(labels)) if isinstance(sampler, Mapping) else len(labels)
        return {**given, "batch_size": min(given["batch_size"], most)}

    def _fine_tune(self) -> None:
        """The whole network, from the best head, as long as the time allows."""
        name = "fine-tuning" if self.plan.pretrained else "training"
        if not self.planned:
            self.planned = self._measure()
            self._write()
        self.reason = self.planned["reason"]
        given = self.planned["config"]
        if not given:
            say(self.reason)
            return
        trial = self._trial(given)

        def tried(size: int) -> Climbed:
            train(trial, self.out, quiet=self.quiet)
            kept, transform = self._division(size).folds[0].monitor, transforms.create(**trial.transform)
            found = models.embed(scoring.learners(Places(self.out).folder(trial)), kept, transform)
            return judge(found, kept.labels), given

        steps = layout.plural(given["iterations"] * ROUNDS, "step")
        say(f"{name}: {steps} of {given['batch_size']} images at a rate of {trial.optimizer['lr']:.1e}")
        self._rung(name, self.planned["size"], tried)

    def _measure(self) -> dict[str, Any]:
        """The largest images that time and memory allow enough steps with, how many steps, and at what rate."""
        best = self._untouched_best.size
        sizes = sorted({rung.size for rung in self.rungs if rung.size <= best})
        tuning = choose.FINE_TUNING if self.plan.pretrained else choose.FROM_SCRATCH
        given = self._fitting(tuning, best) | {"epochs": ROUNDS, "iterations": MEASURED}
        if self.plan.pretrained:
            given |= {key: self._best_head.config[key] for key in ("head", "embed_dim")}

        def trial_at(size: int) -> Trial:
            given["transform"] = choose.transform(size)
            return self._trial(given)

        step, room = self._step(trial_at(sizes[0]))
        passes = choose.PASSES[self.plan.pretrained]
        lacking = []
        for size in reversed(sizes):
            pixels, free = (size / sizes[0]) ** 2, memory.available()
            trial = trial_at(size)
            most = passes * len(self._division(size).folds[0].train) // trial.batch_size
            left = self._left(size)
            steps = int(min(left / (step * pixels) - FINDER, most))
            if free is not None and room * pixels > free:
                lacking.append(f"{room * pixels / 1e9:.0f} GB of memory")
            elif steps < min(LEAST_STEPS, most):
                needed = self.budget - left + (LEAST_STEPS + FINDER) * step * pixels
                lacking.append(f"--minutes {math.ceil(needed / 60)}")
            else:
                break
        else:
            reason = f"it stops before the whole network is trained: that needs {lacking[-1]}"
            return {"config": {}, "reason": reason}
        reason = f"after {passes} passes over the images" if steps >= most else "where the time ends"
        more = f"; to train on images of {best} px needs {lacking[0]}" if lacking else ""
        given["iterations"] = max(1, steps // ROUNDS)
        if self.plan.pretrained:
            rates = lr_finder.find(trial, *choose.RATES, FINDER)
            given["optimizer"] = {"lr": float(np.clip(rates.suggestion or 1e-4, *choose.TAKEN))}
        return {"config": given, "size": size, "reason": f"it stops {reason}{more}"}

    def _step(self, trial: Trial) -> tuple[float, int]:
        """The seconds and the bytes that a training step takes."""
        before = memory.peak() or 0
        feed, learner = lr_finder.first_fold(trial)
        step = duration(learner.step(batches).loss.wait_to_read() for batches in feed.batches(1))
        room = (memory.peak() or 0) - before
        del feed, learner
        gc.collect()
        return step, room

    # --- trials and features -----------------------------------------------------------------------------------------------

    def _trial(self, given: Mapping[str, Any]) -> Trial:
        """What all share, then these settings, then what the user has changed."""
        return config.trial(merge(expand(self.plan.base), expand(given), expand(self.changes)))

    def _division(self, size: int) -> folds.Division:
        return folds.divide(self._trial(choose.untrained(size)))

    def _features(self, size: int, which: str) -> tuple[np.ndarray, np.ndarray]:
        """The features of the fold's images for training or validation, and their labels; computed once."""
        path = self.out / "features" / f"{which}-{size}.npz"
        if not path.is_file():
            trial, division = self._trial(choose.untrained(size)), self._division(size)
            dataset = division.folds[0].train if which == "train" else division.folds[0].monitor
            blocks = models.blocks(dataset, division.transform, 1)
            found = models.features(trial, blocks, models.devices(trial)[0])
            array_files.write_plain(path, {"features": found, "labels": dataset.labels})
        with np.load(path, allow_pickle=False) as stored:
            return stored["features"], stored["labels"]

    def _features_file(self, size: int) -> Path:
        """Both as a data set of features, the validation classes in the place of the test classes."""
        path = self.out / "features" / f"both-{size}.npz"
        if not path.is_file():
            rows, labels = zip(self._features(size, "train"), self._features(size, "kept"))
            split = np.repeat(["train", "test"], [len(each) for each in rows])
            named = np.array([f"{name} {label}" for name, label in zip(split, np.concatenate(labels))])
            array_files.write_plain(path, {"features": np.concatenate(rows), "labels": named, "split": split})
        return path.resolve()

    def _with_head(self, size: int, head: Head) -> dict[str, Any]:
        """Keep a head, and the trial of the network with it."""
        named = {HEAD + key: value for key, value in head.items()}
        whole = b"".join(np.ascontiguousarray(array).tobytes() for array in named.values())
        path = (self.out / "heads" / f"{hashlib.sha256(whole).hexdigest()[:12]}.npz").resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        trained_weights.write(path, trained_weights.Weights("", {}, 0, 0, named), path.parent)
        start = {**choose.PLAIN, "start": str(path)}
        return choose.untrained(size, head=start, embed_dim=len(head["0.bias"]))

    # --- the time ----------------------------------------------------------------------------------------------------------

    def _affordable(self, size: int) -> bool:
        """Whether looking at all images in this size is a small part of the time, by the size before."""
        if not self.rungs:
            return True
        last = self.rungs[-1]
        fold = self._division(last.size).folds[0]
        expected = last.seconds * (size / last.size) ** 2 * (1 + len(fold.train) / len(fold.monitor))
        if self.spent + expected <= FOR_SIZES * self.budget:
            return True
        say(f"larger images than {last.size} px would take too much of the time")
        return False

    def _left(self, size: int) -> float:
        """The seconds that looking at images of this size leaves for training."""
        division = self._division(size)
        kept = len(division.folds[0].monitor)
        looks = kept * (ROUNDS + 3) + 3 * len(division.test)
        # Of looking at those kept back.
        seconds = next(rung.seconds for rung in self.rungs if rung.size == size)
        return self.budget - self.spent - looks * seconds / max(1, kept)

    # --- what is written down ------------------------------------------------------------------------------------------------

    def _rung(self, name: str, size: int, make: Callable[[int], Climbed]) -> None:
        """Climb a rung, unless it is known; write it down and say it."""
        name = f"{name}, {size} px"
        rung = next((rung for rung in self.rungs if rung.name == name), None)
        if rung is None:
            started = time.perf_counter()
            judged, own = make(size)
            gc.collect()  # a network is in a cycle of references, and large
            seconds = time.perf_counter() - started
            scores = {key: judged.score(key) for key in NAMES}
            intervals = {key: list(judged.interval(key)) for key in NAMES}
            rung = Rung(name, seconds, size, scores, intervals, config=own)
            if not rung.untouched:
                untouched = judge(*self._features(self._untouched_best.size, "kept"))
                rung.worse = any(judged.worse(untouched, key) for key in NAMES)
            self.rungs.append(rung)
            self._write()
        say(rung)

    def _write(self) -> None:
        rungs = [dataclasses.asdict(rung) for rung in self.rungs]
        content = {"key": self.key, "seconds": self.budget, "rungs": rungs, "planned": self.planned}
        files.write_json(self.out / FILE, content)

    def _read(self) -> None:
        """What an earlier run has left, if it was of the same pictures and settings."""
        path = self.out / FILE
        if not path.is_file():
            return
        content = files.read_json(path)
        if content.get("key") != self.key:
            for folder in ("features", "heads"):
                shutil.rmtree(self.out / folder, ignore_errors=True)
            return
        self.rungs = [Rung(**one) for one in content["rungs"]]
        self.planned = content["planned"]
        if content["seconds"] != self.budget:  # another length: only what it decides is done again
            self.rungs = [rung for rung in self.rungs if not rung.config["epochs"]]
            self.planned = {}


def _best(rungs: Iterable[Rung]) -> Rung:
    return max(rungs, key=lambda rung: rung.scores[NAMES[1]])


def duration(pieces: Iterable[object]) -> float:
    """The seconds for a piece of work, if other programs leave the machine alone."""
    taken = np.diff([time.perf_counter(), *(time.perf_counter() for _ in pieces)])
    return float(np.median(taken[WARM_UP:] if len(taken) > WARM_UP else taken))


# --- heads that need no training: linear maps, computed at once from features of the training images ---------------------


def components(features: np.ndarray, width: int) -> Head:
    """The principal components of largest variance."""
    mean = features.mean(axis=0)
    _, _, axes = np.linalg.svd(features - mean, full_matrices=False)
    return _linear(axes[:width], mean)


def whitened(features: np.ndarray, labels: np.ndarray, width: int, shrinkage: float) -> Head:
    """The directions in which classes differ most for the spread that images of one class have there.

    Linear discriminant analysis: that spread is made equal in all directions, and the principal components of what
    results are taken. ``shrinkage`` is added to it in every direction, in units of its mean: with few images of a class
    it is known badly.
    """
    mean = features.mean(axis=0)
    classes, rows = np.unique(labels, return_inverse=True)
    means = np.stack([features[rows == place].mean(axis=0) for place in range(len(classes))])
    away = features - means[rows]
    spread = away.T @ away / len(features)
    values, axes = np.linalg.eigh(spread)
    level = shrinkage * values.mean()
    whiten = (axes / np.sqrt(np.maximum(values, 0) + level)) @ axes.T
    _, _, found = np.linalg.svd((features - mean) @ whiten, full_matrices=False)
    return _linear(found[:width] @ whiten, mean)


def _linear(weight: np.ndarray, mean: np.ndarray) -> Head:
    weight = weight.astype(np.float32)
    return {"0.weight": weight, "0.bias": -(weight @ mean).astype(np.float32)}


def apply(head: Head, features: np.ndarray) -> np.ndarray:
    return features @ head["0.weight"].T + head["0.bias"]
