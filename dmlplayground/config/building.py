"""A complete, checked trial from layers: the framework's defaults (the schema), the method's published settings (its
record), the data set's and the backbone's own, the values that the key ``hyperparams`` names, the user's file, and
``--set key=value``. Later layers win."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from ..errors import UserError
from ..options import build, fill_options
from .checking import check, check_data
from .layers import COMPONENTS, dotted, expand, merge, override
from .schema import Named, Trial

if TYPE_CHECKING:
    from ..hyperparams import Hyperparams

__all__ = ["recipe", "trial"]

# The parts of a trial that says nothing of them, and that neither its method nor its data set chooses.
CHOSEN = {"data": {"name": "glyphs"}, "backbone": {"name": "conv4"}}
DEFAULTS = {"sampler": {"name": "shuffled"}, "transform": {"name": "paper"}}


def trial(given: Union[Trial, Mapping[str, Any]], overrides: Iterable[str] = ()) -> Trial:
    """A complete, checked trial from a mapping such as a YAML file holds, and ``key.subkey=value`` overrides."""
    from .. import backbones, data, hyperparams, methods

    given = _said(given, overrides)
    recipe = _recipe(given)
    given = _whole(merge(CHOSEN, recipe.parts if recipe else {}, given))
    method = methods.get(given["method"]["name"])
    dataset = data.get(given["data"]["name"])
    backbone = backbones.get(given["backbone"]["name"])
    layers = [
        expand(layer)
        for layer in (DEFAULTS, method.configuration, dataset.configuration, backbone.configuration)
    ]
    if recipe:
        layers.append(hyperparams.layer(recipe, backbone.key))
    built = build(Trial, merge(*layers, given), "")
    built = dataclasses.replace(
        built,
        method=_component(built.method, method.options, "method"),
        data=_component(built.data, dataset.options, "data set"),
        backbone=_component(built.backbone, backbone.options, "backbone"),
        **_complete_parts(built),
    )
    check(built)
    check_data(built, num_classes=None)
    return built


def recipe(given: Mapping[str, Any], overrides: Iterable[str] = ()) -> dict[str, Any]:
    """All that the key ``hyperparams`` of such a configuration sets, by dotted keys; empty without that key.

    >>> recipe({"method": "npairs", "data": "cub200", "hyperparams": "fehervari2019"})["backbone.name"]
    'inception_bn'
    """
    from .. import hyperparams

    given = _said(given, overrides)
    found = _recipe(given)
    if found is None:
        return {}
    backbone = merge(CHOSEN, found.parts, given)["backbone"]["name"]
    brought = {f"{part}.name": value["name"] for part, value in found.parts.items() if part not in given}
    return {**brought, **dotted(hyperparams.layer(found, backbone))}


def _said(given: Union[Trial, Mapping[str, Any]], overrides: Iterable[str]) -> dict[str, Any]:
    """What the user says, in a file and on the command line."""
    if isinstance(given, Trial):
        given = given.mapping()
    # Overrides are joined first: whether a part's name or its options come first makes no difference.
    return merge(expand(given), merge(*(expand(override(text)) for text in overrides)))


def _recipe(given: dict[str, Any]) -> Optional[Hyperparams]:
    """What the key ``hyperparams``, which is taken out, stands for in such a trial."""
    from .. import hyperparams

    def name(part: str) -> str:
        value = given.get(part, CHOSEN.get(part))
        return str(value.get("name", "")) if isinstance(value, Mapping) else ""

    wanted = given.pop("hyperparams", None)
    return None if wanted is None else hyperparams.find(wanted, name("method"), name("data"))


def _whole(given: dict[str, Any]) -> dict[str, Any]:
    """What the user says, once it names all parts that a trial cannot be without."""
    from .. import methods

    for key in COMPONENTS:
        part = given.get(key, {})
        if not isinstance(part, Mapping) or not isinstance(part.get("name", ""), str):
            raise UserError(f"{key} must be a name, or a mapping with a name and options, not {part!r}.")
    if "name" not in given.get("method", {}):
        raise UserError(f"the configuration needs a method; choose from {', '.join(methods.names())}.")
    return given


def _complete_parts(built: Trial) -> dict[str, Any]:
    from .. import mining, parts, regularizers, samplers, transforms

    def whole(kind: parts.Kind, given: Any) -> Named:
        name, options = parts.split(given)
        return {"name": name, **kind.get(name).fill(options, kind.name)}

    sampler, transform = samplers.get(built.sampler["name"]), transforms.get(built.transform["name"])
    return {
        "mining": whole(mining.KIND, built.mining) if built.mining else None,
        "regularizers": [whole(regularizers.KIND, term) for term in built.regularizers],
        "sampler": _component(built.sampler, sampler.options, "sampler"),
        "transform": {"name": transform.key, **transform.fill(parts.split(built.transform)[1], "transform")},
    }


def _component(given: Named, options: Mapping, kind: str) -> Named:
    name = given["name"]
    rest = {key: value for key, value in given.items() if key != "name"}
    return {"name": name, **fill_options(options, rest, where=f"{kind} {name}")}
