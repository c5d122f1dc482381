"""Runs a search: settings are proposed, trained, and judged on validation classes.

Proposals that are decided by their numbers (``sobol``, ``every``) are known before anything is trained; ``tpe`` proposes one
after the other. With rungs many settings get a short training, the best of these a longer one, and so on. A trial of a rung
is a training of its own, with a schedule of its own length. Who goes on is decided by the scores of all trials of the rung,
of equals the first. So a search finds the same with any number of workers, and goes on from its records when stopped.
Short trainings favour what learns fast: so where a rung of full length has more to ``refine``, the method's own settings are
among them, if a shorter one had left them out. The others are near the best. A further rung of full length judges the best
of all these anew, with another seed.

The store then holds ``best.yaml``, ``repeat.yaml`` (``winners``) and ``search.json``, everything that was tried.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from ..base import files, layout, seeds
from ..base.errors import UserError
from ..parts import data, methods
from ..trial import config
from ..trial.config.schema import NEUTRAL
from ..trial.store import manifest, records
from . import runner, winners
from .executors import Executor
from .search_space import HalvingRung, Search
from .winners import Proposal

LEFT_OUT = {"status": "left out"}  # of a rung that a proposal skipped
RATE = "optimizer.lr"
ALONE = {1: 0.25, 2: 0.75}  # draws near the best that move the rate alone: to this share of what is near
PATIENCE = 20  # so many proposals for each trial, if most of them cannot be trained


def tune_all(
    wanted: Mapping[str, Search], store: Path, executor: Executor, *, workers: int | None, quiet: bool
) -> list[Path]:
    """Run searches one after the other, each in the folder of its name; gives the files of their winners."""
    found = []
    with closing(executor):
        for name, search in wanted.items():
            if not quiet:
                number = f", search {search.number}" if search.rungs else ""
                trials = layout.plural(search.trials, "trial")
                print(f"{search.title}{number}: {trials}, records in {store / name}", flush=True)
            found.append(tune(search, store / name, executor, workers=workers, quiet=quiet))
    return found


def tune(search: Search, store: Path, executor: Executor, **how: Any) -> Path:
    """Search until all is done, or go on where it was stopped, as ``runner.run`` is told how; gives the winner's file."""
    manifest.write(store, search.title, search.about)
    if search.draw == "tpe" and not search.rungs:
        from . import tpe  # needs Optuna

        tried = tpe.run(search, store, executor, **how)
    else:
        tried = _by_number(search, store, executor, **how)
    _write_tried(search, tried, store)
    furthest = max((len(one.reached) for one in tried), default=0)
    if not (best := _ranked([one for one in tried if len(one.reached) == furthest], search)):
        raise UserError(
            f"the search found nothing: none of its {len(tried)} trials finished; see {store / winners.TRIED}."
        )
    return _write_winner(search, tried, best[0], store)


def _by_number(search: Search, store: Path, executor: Executor, **how: Any) -> list[Proposal]:
    """All that is tried, on one rung after the other; without rungs as if on one."""

    def train(proposals: list[Proposal]) -> None:
        trials = [search.trial(one.values, number) for one in proposals]
        runner.run(store, trials, executor, searching=not search.rungs, **how)
        for one, trial in zip(proposals, trials):
            one.reached += [LEFT_OUT] * (number - len(one.reached))
            one.reached.append(winners.outcome(search, store / trial.id))

    tried = going_on = _proposals(search)
    for number, rung in enumerate(search.rungs or [HalvingRung(search.trials)]):
        going_on = going_on[: rung.trials]
        train(going_on)
        if rung.refine:
            own = [one for one in tried if one.number == 0 and one not in going_on]
            train(own)
            going_on = _ranked(going_on + own, search)
            near = _near(search, going_on[0], tried, rung.refine - len(own)) if going_on else []
            train(near)
            tried, going_on = tried + near, going_on + near
        if not (going_on := _ranked(going_on, search)):
            of_rung = f" of its rung {number + 1}" if search.rungs else ""
            raise UserError(f"the search found nothing: no trial{of_rung} finished; see {store}.")
    return tried


def _proposals(search: Search) -> list[Proposal]:
    """What the search tries first."""
    wanted = search.rungs[0].trials if search.rungs else search.trials
    drawn: Iterable[dict[str, Any]] = (sobol(search, n) for n in range(PATIENCE * wanted))
    if search.draw == "every":
        drawn = islice(search.combinations(), wanted)
    return _trainable(search, enumerate(drawn), wanted)


def _near(search: Search, best: Proposal, tried: list[Proposal], wanted: int) -> list[Proposal]:
    """So many more, near the best: numbers that were searched are moved, what was chosen stays. The second and the third move the
    rate alone, down and up: where other numbers are right already, most are worse for being moved with it."""

    def moved(n: int) -> dict[str, Any]:
        alone = n in ALONE and RATE in search.parameters
        shares = {RATE: ALONE[n]} if alone else _shares(search, n, "near")
        return {key: search.parameters[key].near(best.values[key], share) for key, share in shares.items()}

    first = 1 + max(one.number for one in tried)
    drawn = ((first + n, {**best.values, **moved(n)}) for n in range(PATIENCE * wanted))
    return _trainable(search, drawn, wanted, tried)


def _trainable(
    search: Search, drawn: Iterable[tuple[int, dict[str, Any]]], wanted: int, tried: Sequence[Proposal] = ()
) -> list[Proposal]:
    """The first of what is drawn, leaving out what cannot be trained or was proposed before."""
    found = {search.trial(one.values, 0).id: one for one in tried}
    problem: UserError | None = None
    classes = None
    for number, values in drawn:
        if len(found) == len(tried) + wanted:
            break
        try:
            trials = [search.trial(values, rung) for rung in range(max(1, len(search.rungs)))]
            classes = classes or data.require(**trials[0].data)
            for trial in trials:
                config.check_data(trial, classes)
        except UserError as refused:
            problem = refused
            continue
        found.setdefault(trials[0].id, Proposal(number, values))
    if not found:
        raise winners.none_can_be_trained(problem)
    return list(found.values())[len(tried) :]


def sobol(search: Search, number: int) -> dict[str, Any]:
    """The values of a trial of the search, counted from 0: from a Sobol sequence, which is evenly spread. Nothing else decides
    them, so searches with the same range propose the same values for it. The first trial has the method's own options,
    batches and head, where the search would find them, and the middle of every other range."""
    parameters = search.parameters
    # Each of several searches has its own points.
    shares = _shares(search, number, "search" if search.rungs and number else "")
    values = {key: parameter.at(shares[key]) for key, parameter in parameters.items()}
    if number:
        return values
    record = methods.get(search.config["method"]["name"])
    own = {f"method.{name}": option.default for name, option in record.options.items()}
    own |= {"sampler": dict(record.sampler), **{f"head.{key}": value for key, value in record.head.items()}}
    holds = {key: own[key] for key, one in parameters.items() if key in own and one.holds(own[key])}
    return {**values, **holds}


def _shares(search: Search, number: int, moved_by: str) -> dict[str, float]:
    """A point of a Sobol sequence: from 0 to below 1 for every key. With a word, all points are moved by as much."""
    from scipy.stats import qmc

    keys = search.parameters
    # The sequence begins with a corner, which is left out; the middle of everything follows.
    shares = qmc.Sobol(len(keys), scramble=False).fast_forward(number + 1).random()[0]
    if moved_by:
        moves = [seeds.generator(search.seed, moved_by, search.number, key).random() for key in keys]
        shares = (shares + moves) % 1.0
    return dict(zip(keys, shares))


def _ranked(tried: list[Proposal], search: Search) -> list[Proposal]:
    """Those that have a score, the best first."""
    sign = -1 if search.direction == "maximize" else 1
    scored = [(sign * one.value, one.number, one) for one in tried if one.value is not None]
    return [one for _, _, one in sorted(scored, key=lambda row: row[:2])]


def _write_tried(search: Search, tried: list[Proposal], store: Path) -> None:
    """All that was tried, as JSON."""
    rungs = [
        {key: value for key, value in vars(rung).items() if value} | {"length": str(rung.share)}
        for rung in search.rungs
    ]
    content = {
        "title": search.title,
        "about": search.about,
        "number": search.number,
        "seed": search.seed,
        **({"images": search.images, "rungs": rungs} if rungs else {"draw": search.draw}),
        "config": search.config,
        "tried": [vars(proposal) for proposal in tried],
    }
    files.write_json(store / winners.TRIED, content)


def _write_winner(search: Search, tried: list[Proposal], best: Proposal, store: Path) -> Path:
    last = best.reached[-1]
    record = records.find(store / last["id"])
    assert record is not None and best.value is not None
    states = Counter(one["status"] for proposal in tried for one in proposal.reached if one != LEFT_OUT)
    further, chosen = {}, {}
    if search.rungs:
        lengths = {
            str(rung.share): reached["value"]
            for rung, reached in zip(search.rungs, best.reached)
            if "value" in reached
        }
        further = {"number": search.number, "epoch": last["epoch"], "by_length": lengths}
        # A trial that trains on all classes reports this epoch beside its best and its last.
        chosen = {"protocol.name": NEUTRAL["protocol"], "protocol.epoch": last["epoch"]}
    return winners.write(search, record, store, best.value, states, further, chosen)
