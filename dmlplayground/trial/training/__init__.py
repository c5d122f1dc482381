"""Training: ``train(config)`` runs one trial in the one loop (``run``) and returns its record."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base import outside
from ...base.errors import UserError
from .. import config as configuration
from ..config import Trial
from ..store import BEST, locks, records
from ..store.records import Record
from . import trackers

__all__ = ["TrialFailed", "evaluate", "train"]


class TrialFailed(Exception):
    """The trial could not be trained to its end; ``record`` is kept and says why."""

    def __init__(self, record: Record, reason: object):
        super().__init__(f"trial {record.id} failed: {reason}")
        self.record = record


def train(
    config: Trial | Mapping[str, Any] | str | Path,
    store: str | Path = "runs",
    *,
    threads: int = 1,
    quiet: bool = True,
    log: Iterable[str] = (),
    parts: Iterable[str | Path] = (),
) -> Record:
    """Train a trial to its end and return its record, which is kept in ``store`` under the trial's id.

    ``config`` is a mapping, a YAML file or a ``Trial``. A finished trial is not run again. An interrupted one continues from
    its checkpoint. One that another process is training raises ``locks.Busy``. ``threads`` threads prepare the batches; the
    results do not depend on their number. ``log`` names trackers that get the curves as well: tensorboard, wandb, mlflow.
    ``parts`` are files with parts of one's own, which the configuration may name.

    >>> record = dml.train(tiny, store)
    >>> record.status
    'finished'
    """
    outside.require_idle("train")
    outside.load(parts)
    given = configuration.read(config) if isinstance(config, (str, Path)) else config
    if isinstance(given, Mapping):
        outside.load(given.get("parts", ()), Path(store))
    trial = configuration.trial(given)
    folder = configuration.Places(store).folder(trial)
    known = _finished(folder)
    if known is not None:
        records.tidy(folder)
        return known
    from .progress import Progress  # here, as what only lists loads this file

    progress = Progress(quiet, [trackers.create(name) for name in dict.fromkeys(log)])
    with locks.hold(folder) as held:
        if (known := _finished(folder)) is not None:  # by another process, a moment ago
            return known
        outside.keep(trial.parts, Path(store), typed_in=True)
        # Under the lock: it takes seconds, in which another process could start the same trial.
        if trial.trainer.command:
            from .external import ExternalRun as Run
        else:
            from .run import Run  # type: ignore[assignment]

        return Run(trial, held, threads, progress).execute()


def evaluate(
    target: str | Path | Any,
    labels: str | Path | Any | None = None,
    *,
    which: str = BEST,
    data: str | None = None,
    split: str = "test",
    engine: str = "float32",
    metrics: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    clustering: bool | None = None,
    distance: str | None = None,
    seed: int | None = None,
) -> dict[str, float | None]:
    """The scores of a trained trial, or of embeddings of any framework with their ``labels``, by metric.

    ``target`` is a trial's folder; or with ``labels`` an array (N, E), or a ``.npy`` file of one, and the labels (N,) likewise.
    Of a trial, ``which`` says whether its best or its last weights count, ``data`` another data set than its own, ``split``
    which part of it, and ``engine`` how embeddings are computed: float32, fused or bfloat16. ``metrics``, ``ks``,
    ``clustering``, ``distance`` and ``seed`` are as when the trial was run where nothing is given; of arrays, as in
    ``metrics.evaluate``.

    >>> evaluate([[0.0, 0.1], [0.0, 0.0], [1.0, 1.1], [1.0, 1.0]], [5, 5, 7, 7], metrics=["R@K"], ks=[1])
    {'R@1': 1.0}
    """
    from . import scoring  # loads MXNet

    given = {"metrics": metrics, "ks": ks, "clustering": clustering, "distance": distance, "seed": seed}
    wanted: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if labels is None:
        return scoring.of_trial(Path(target), which, data, split, engine, wanted)
    if (data, split, engine) != (None, "test", "float32"):
        raise UserError("data, split and engine are for a trial, not for arrays of embeddings and labels.")
    return scoring.of_arrays(target, labels, **wanted)


def _finished(folder: Path) -> Record | None:
    known = records.find(folder)
    return known if known is not None and known.status == "finished" else None
