"""A model card: what a network takes and gives, what it was trained on, how good it is, and whose weights it began with."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base import files, layout
from ..base.errors import UserError
from ..parts import backbones, data, metrics, protocols
from ..trial.store import records
from ..trial.training import models
from .judge import NAMES, judge

if TYPE_CHECKING:
    from .model import Model


def write(model: "Model", written: Sequence[Path], takes: str, eight_bits: str = "") -> Path:
    """Write the card of these files beside them; ``takes`` says what images, ``eight_bits`` what these have cost."""
    path = written[0].with_suffix(".md")
    parts = [f"# {path.stem}", _facts(model, written, takes), "## Scores", _measured(model, _scores)]
    parts += ["## Match or no match", _measured(model, lambda model: f"Two images {model.threshold()}.")]
    if eight_bits:
        parts += ["## Eight bits", f"{eight_bits[0].upper()}{eight_bits[1:]}."]
    with files.replacing(path) as file:
        file.write("\n\n".join(parts) + "\n")
    return path


def _facts(model: "Model", written: Sequence[Path], takes: str) -> str:
    trial, backbone = model.trial, backbones.get(model.trial.backbone["name"])
    size = sum(path.stat().st_size for path in written)
    networks = f"{len(model.members)} networks, each: " if len(model.members) > 1 else ""
    trained = f"{trial.method['name']}, {layout.plural(trial.epochs, 'epoch')}" if trial.epochs else "none"
    facts = {
        "files": f"{', '.join(path.name for path in written)}: {size / 1e6:.1f} MB",
        "takes": takes,
        "gives": f"{layout.plural(model.width, 'number')} an image, to be compared by the {model.distance} distance",
        "network": f"{networks}{backbone.title}",
        "weights it began with": _origin(backbone, trial.backbone["pretrained"]),
        "images it was trained on": _measured(model, _images),
        "training": trained,
        "trial": trial.id,
    }
    return _table(("", ""), facts.items())


def _origin(backbone: backbones.Backbone, pretrained: str) -> str:
    if pretrained == "none":
        return "none: they were drawn at random"
    if pretrained != "imagenet":
        return f"those in {pretrained}; their licence is not known here"
    homes = backbone.homes()
    licence = homes.licence or "not stated by their source"
    return f"ImageNet's ({homes.homes[0].address()}); licence: {licence}"


def _images(model: "Model") -> str:
    train = data.load(**model.trial.data, split="train", stored=model.stored)
    images, classes = layout.plural(len(train), "image"), layout.plural(train.num_classes, "class")
    return f"{train.name}: {images} of {classes}"


def _scores(model: "Model") -> str:
    dataset, _ = models.data_of(model.trial, "test")
    judged = judge(model.embed_dataset(dataset), dataset.labels, model.distance, dataset.queries)
    untouched = {}
    if model.source.is_dir():
        results = records.Record.load(model.source / records.RECORD).results
        untouched = results.get(protocols.UNTOUCHED, {}).get("metrics", {})
    rows = []
    for name in NAMES:
        low, high = judged.interval(name)
        own = f"{metrics.get(name).shown(untouched[name])} %" if name in untouched else "-"
        rows.append((name, f"{100 * judged.score(name):.2f} % ({100 * low:.2f} to {100 * high:.2f})", own))
    table = _table(("metric", "score (interval)", "untouched network"), rows)
    classes = f"{dataset.num_classes} test classes of {dataset.name}"
    return f"{len(judged.labels):,} queries of {classes}, on which it was not trained. Intervals: 95 %, over classes.\n\n{table}"


def _measured(model: "Model", what: "Callable[[Model], str]") -> str:
    """A text that needs the trial's images, or why there is none."""
    try:
        return what(model)
    except UserError as problem:
        return f"Not measured here: {problem}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows])
