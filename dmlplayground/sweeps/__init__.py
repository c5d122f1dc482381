"""Many trials at a time: ``sweep`` runs the trials of a grid, ``tune`` searches for a method's best settings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import outside
from ..trial.store.records import Record

if TYPE_CHECKING:
    from .search_space import Search

__all__ = ["sweep", "tune"]


def sweep(
    file: str | Path | Mapping[str, Any],
    store: str | Path | None = None,
    *,
    workers: int | None = None,
    executor: str = "local",
    address: str | None = None,
    where: Iterable[str] | Mapping[str, Any] = (),
    overrides: Iterable[str] | Mapping[str, Any] = (),
    retry_failed: bool = False,
    log: Iterable[str] = (),
    quiet: bool = True,
    parts: Iterable[str | Path] = (),
) -> list[Record]:
    """Run the trials of an experiment that have not been run yet, ``workers`` at a time, and give all their records.

    ``file`` is a file, the name of one of ours, or what a file would hold, as a mapping. ``store`` defaults to
    ``runs/<name of the file>``, or to the mapping's title.
    Finished trials are never run again, and interrupted ones continue. A trial that fails is recorded as failed, and
    the others carry on. ``where`` and ``overrides`` are mappings, or texts such as ``"method=npairs"``: which trials of
    the grid, and what to change in all of them; what the store was to hold before stays in its report. ``executor`` is
    ``local``, or ``ray`` for the Ray cluster at ``address``, or else the one that this machine belongs to. ``log`` names
    trackers that get the curves as well: tensorboard, wandb, mlflow. ``parts`` are files with parts of one's own. If another
    runner is working on the same store, the two share the work.

    >>> experiment = {"title": "Small", "base": tiny, "grid": {"method": ["npairs", "margin"], "seed": [0]}}
    >>> [record.status for record in dml.sweep(experiment, store, where={"method": "npairs"})]
    ['finished']
    """
    from .chosen import choose  # here, as what only lists must not wait for the runner

    outside.load(parts)
    chosen = choose(file, store, where, overrides)
    chosen.run(executor, address, log, workers=workers, retry_failed=retry_failed, quiet=quiet)
    return chosen.records()


def tune(
    search: "str | Path | Mapping[str, Any] | Search",
    store: str | Path | None = None,
    *,
    workers: int | None = None,
    executor: str = "local",
    address: str | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    methods: Iterable[str] = (),
    log: Iterable[str] = (),
    quiet: bool = True,
    parts: Iterable[str | Path] = (),
) -> Path:
    """Search for a method's best settings, judged on validation classes alone; gives the file of the winner.

    A file that searches for the settings of many methods makes a folder of the store for each of them, and what is given
    is the store, which ``hyperparams`` takes as it takes the file of a winner. ``methods`` names those wanted of them.

    ``search`` is a search file, the name of one of ours, or what a file would hold, as a mapping or as a
    ``Search``. The winner's file is one of hyperparameters: ``dml.train({"method": ..., "hyperparams": winner})``. Beside
    it are the record of all that was tried and an experiment that trains the winner ten times. The same call continues a
    search that was stopped. The other arguments are those of ``sweep``.

    >>> dml.tune("musgrave2020/search/triplet", workers=2)  # doctest: +SKIP
    PosixPath('runs/triplet/best.yaml')
    >>> dml.tune("tripled")
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: 'tripled' is neither a known search nor a file...
    """
    from . import derived_files, executors, search_files, searches

    outside.load(parts)
    if isinstance(search, (str, Path, Mapping)):
        file = derived_files.named(str(search.get("title"))) if isinstance(search, Mapping) else Path(search)
        store = store or Path("runs") / file.stem
        wanted = search_files.load_all(search, overrides, methods)
    else:
        wanted = {"": search}
    store = Path(store or "runs/search")
    opened = executors.create(executor, address, log)
    winners = searches.tune_all(wanted, store, opened, workers=workers, quiet=quiet)
    return winners[0] if "" in wanted else store
