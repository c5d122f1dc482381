"""What is wrong with trials before any of them runs: all of it at once, each fault with its trials."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ..base import devices
from ..base.errors import UserError
from ..base.registry import split
from ..parts import backbones, data
from ..trial.config import Trial, check_data

T = TypeVar("T")
MOST_SHOWN = 100  # of the problems of trials that cannot run


def require(trials: Sequence[Trial], *, here: bool, notes: list[str] | None = None) -> None:
    """A ``UserError`` that names all ``problems``."""
    if found := problems(trials, here=here, notes=notes):
        raise found[0][1] if len(trials) == 1 else cannot_run(found)


def problems(
    trials: Sequence[Trial], *, here: bool, notes: list[str] | None = None
) -> list[tuple[str, UserError]]:
    """What these trials ask for and cannot have, and batches that their data do not allow, each with the trial's id; no image
    is decoded. With ``notes`` nothing is fetched, and published sets that are not on this machine are noted there instead.
    ``here``: they run on this machine, and need its devices."""
    machines = _answers([_machine(one) for one in trials if here], lambda wanted: devices.require(*wanted))
    weights = _answers([trial.backbone for trial in trials], lambda network: _weights(network, notes is None))
    classes = _answers([trial.data for trial in trials], lambda component: _classes(component, notes))
    wrong: list[tuple[str, UserError]] = []
    batches: dict[Any, object] = {}
    for trial in trials:
        count = classes[repr(trial.data)]
        # Trials that differ only in their seed share these parts, so even a large grid has few to check.
        batch = (id(trial.data), id(trial.protocol), id(trial.sampler), trial.batch_size)
        if batch not in batches:
            batches[batch] = None if isinstance(count, UserError) else answer(check_data, trial, count)
        answers = (machines.get(repr(_machine(trial))), weights[repr(trial.backbone)], count, batches[batch])
        wrong += [(trial.id, answer) for answer in answers if isinstance(answer, UserError)]
    return wrong


def _machine(trial: Trial) -> tuple[str, int, bool | str]:
    return trial.device, trial.devices, trial.amp


def cannot_run(problems: Iterable[tuple[str, UserError]]) -> UserError:
    """One error for all trials that cannot run, in which a problem that many share is reported once."""
    sharing: dict[str, list[str]] = {}
    for name, problem in problems:
        sharing.setdefault(str(problem), []).append(name)
    lines = []
    for said, (name, *others) in sharing.items():
        lines.append(f"{name}{f' and {len(others):,} more' if others else ''}: {said}")
    if len(lines) == 1:
        return UserError(f"the grid has trials that cannot run (exclude or fix them): {lines[0]}")
    shown = [f"  {line}" for line in lines[:MOST_SHOWN]]
    more = [f"  and {len(lines) - MOST_SHOWN:,} more"] * (len(lines) > MOST_SHOWN)
    return UserError("\n".join(["these trials of the grid cannot run (exclude or fix them):", *shown, *more]))


def _answers(things: Iterable[Any], ask: Callable[[Any], T]) -> dict[str, T | UserError]:
    """What ``ask`` says of each of the things, or why it cannot; each is asked for once."""
    return {name: answer(ask, thing) for name, thing in {repr(thing): thing for thing in things}.items()}


def answer(ask: Callable[..., T], *given: Any) -> T | UserError:
    """What it says of this, or why it cannot."""
    try:
        return ask(*given)
    except UserError as problem:
        return problem


def _weights(network: Mapping[str, Any], fetch: bool) -> None:
    """The file of weights is there, or is fetched now. Where nothing is to be fetched, ImageNet's may still have to be."""
    if fetch or network.get("pretrained", "none") != "imagenet":
        backbones.weights_path(backbones.get(network["name"]), network.get("pretrained", "none"))


def _classes(component: Mapping[str, Any], notes: list[str] | None) -> int | None:
    """The number of training classes, if known; for a published set that is not here but noted, what its authors say, also
    where features of its images are wanted. If a user's own data are not there, that is an error."""
    try:
        return data.require(**component)
    except UserError as problem:
        release = data.get(split(component.get("of", component))[0]).release
        if release is None or notes is None:
            raise
        notes.append(f"note: {problem}")
        return next(iter(release.counts.values())).classes
