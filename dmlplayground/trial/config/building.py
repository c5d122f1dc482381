"""A complete, checked trial from layers: the schema's neutral values, the method's published settings (its record), the
data set's and the backbone's own, the values that the key ``hyperparams`` names, the user's file, and
``--set key=value``. Later layers win."""

import contextlib
import functools
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base import outside, registry
from ...base.errors import UserError, unknown
from ...base.files import digest
from ...base.options import convert
from ...base.safe_yaml import read_yaml
from ...parts import methods
from ...parts.layers import COMPONENTS, dotted, expand, merge, override
from ...parts.methods.shared.base import external_method
from ...studies import recipes
from . import trial_ids
from .checking import check
from .schema import FIELDS, NEEDED, NEUTRAL, Named, Trial, kind_of
from .units import completed_groups

A_PART = "a name, or a mapping with a name and options"


def trial(given: Trial | Mapping[str, Any], overrides: Iterable[str] = ()) -> Trial:
    """A complete, checked trial from a mapping such as a YAML file holds, and ``key.subkey=value`` overrides.

    >>> dml.config.trial({"method": "npairs"}, ["batch_size=32"]).batch_size
    32
    >>> dml.config.trial({"method": "npair"})
    Traceback (most recent call last):
        ...
    dmlplayground.base.errors.UserError: unknown method 'npair'. Did you mean 'npairs'?
    """
    built = unchecked(given, overrides)
    check(built)
    return built


def read(path: str | Path) -> Any:
    """The configuration in a YAML file, whose ``parts`` lie beside it unless it says otherwise.

    >>> _ = (store / "mine.yaml").write_text("method: npairs")
    >>> dml.config.read(store / "mine.yaml")
    {'method': 'npairs'}
    """
    return outside.located(read_yaml(path), Path(path).absolute().parent)


def unchecked(given: Trial | Mapping[str, Any], overrides: Iterable[str] = ()) -> Trial:
    """The trial, complete and with the right types, without checking whether its values can work."""
    values = completed(layered(given, overrides))
    built = Trial(**{**values, "parts": own_parts(values)})
    object.__setattr__(built, "id", trial_ids.name(built))
    return built


def layered(given: Trial | Mapping[str, Any], overrides: Iterable[str] = ()) -> dict[str, Any]:
    """All layers as one mapping, as they say it."""
    given = _said(given, overrides)
    found = _recipe(given)
    given = merge(_neutral("data"), found.parts if found else {}, given)
    _check_names(given)
    data, options = registry.split(given["data"])
    of_data = expand(kind_of("data").get(data).configured(options))  # which may depend on its options
    brought = {key: of_data[key] for key in of_data if key == "backbone"}  # features come with their network
    given = merge(_neutral("backbone"), brought, given)
    method, backbone = (kind_of(key).get(given[key]["name"]) for key in ("method", "backbone"))
    of_parts = (expand(method.configuration), of_data, expand(backbone.configuration))
    published = recipes.layer(found, given["backbone"]["name"], data) if found else {}
    # Of the data and the backbone, layers may give options alone; ``given`` has their names.
    neutral = _neutral(*(key for key in NEUTRAL if key not in ("data", "backbone")))
    return merge({"groups": {}}, neutral, *of_parts, published, given)


def completed(said: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a trial has for these keys: of the right types, and the parts with every option. None depends on
    another key, except that ``groups`` needs ``optimizer``."""
    values = {}
    for key, value in said.items():
        if key not in FIELDS:
            raise unknown("configuration key", key, FIELDS)
        if key in COMPONENTS and value is not None:
            _check_form(value, key)
        typed = convert(value, FIELDS[key], key)
        values[key] = _component(key, typed) if key in COMPONENTS else typed
    if "groups" in values:
        values["groups"] = completed_groups(values["optimizer"], values["groups"])
    return values


def upgraded(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A record's configuration with all present keys, so that those of the same trial are equal, whichever version wrote
    them. If it names parts that no longer exist, it stays as it is.

    >>> mapping = dml.config.trial({"method": "npairs"}).mapping()
    >>> older = {key: value for key, value in mapping.items() if key != "embed_dim"}
    >>> dml.config.upgraded(older)["embed_dim"]
    64
    """
    without_seed = json.dumps({key: value for key, value in recorded.items() if key != "seed"})
    return {**json.loads(_upgraded(without_seed)), "seed": recorded["seed"]}


@functools.lru_cache(maxsize=10_000)  # a store has few configurations besides their seeds
def _upgraded(recorded: str) -> str:
    content = json.loads(recorded)
    parts = content.pop("parts", [])  # a record is read without running what it names
    try:
        return json.dumps({**unchecked(content).mapping(), "parts": parts})
    except UserError:
        return recorded


def agrees(id: str, recorded: Mapping[str, Any]) -> bool:
    """Whether a record's configuration is that of its id. So it is taken to be where this program cannot say: of ids that
    it did not make, and of parts and keys that it does not have.

    >>> trial = dml.config.trial({"method": "npairs"})
    >>> agrees(trial.id, trial.mapping()), agrees(trial.id, {**trial.mapping(), "batch_size": 120})
    (True, False)
    """
    if not trial_ids.FORM.fullmatch(id) or not outside.known(recorded.get("parts")):
        return True  # a record is read without running what it names
    try:
        return unchecked(recorded).id == id
    except UserError:
        return True


def starts_trained(backbone: Mapping[str, Any]) -> bool:
    """Whether a trial with this backbone begins with something learned: pretrained weights, or a network's features.

    >>> dml.config.starts_trained({"name": "conv4", "pretrained": "none"})
    False
    """
    if backbone.get("pretrained", "none") != "none":
        return True
    try:
        return bool(kind_of("backbone").get(backbone["name"]).preprocessing is None)
    except UserError:  # an older record's, which no longer exists
        return False


def recipe(given: Mapping[str, Any], overrides: Iterable[str] = ()) -> dict[str, Any]:
    """Everything that the key ``hyperparams`` of such a configuration sets, by dotted keys; empty without that key.

    >>> recipe({"method": "npairs", "data": "cub200", "hyperparams": "fehervari2019"})["backbone.name"]
    'inception_bn'
    """
    given = _said(given, overrides)
    found = _recipe(given)
    if found is None:
        return {}
    backbone, data = (merge(_neutral(key), found.parts, given)[key]["name"] for key in ("backbone", "data"))
    brought = {f"{part}.name": value["name"] for part, value in found.parts.items() if part not in given}
    return {**brought, **dotted(recipes.layer(found, backbone, data))}


def _said(given: Trial | Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """What the user says, in a file and on the command line."""
    if isinstance(given, Trial):
        given = given.mapping()
    if isinstance(overrides, str):
        raise UserError(f"overrides must be a list of texts such as 'epochs=3', not {overrides!r}.")
    # Overrides are merged first, so the order of a part's name and its options does not matter.
    changes = merge(*(expand(override(text)) for text in overrides))
    said = merge(expand(given), changes)
    parts = said.get("parts", [])
    outside.load(parts)
    said["parts"] = [one for one in parts if isinstance(one, Mapping) and one.get("role") == outside.COMMAND]
    name_of_command(said)
    return said


def name_of_command(said: Mapping[str, Any]) -> None:
    """Let a trial that a command trains call its method as it likes."""
    trainer, method = said.get("trainer"), said.get("method")
    if not (isinstance(trainer, Mapping) and trainer.get("command") and isinstance(method, Mapping)):
        return
    if isinstance(name := method.get("name"), str) and name not in methods.names():
        methods.KIND.put(external_method(name), None)


def _neutral(*keys: str) -> dict[str, Named]:
    return {key: {"name": NEUTRAL[key]} for key in keys}


def _recipe(given: dict[str, Any]) -> recipes.Hyperparams | None:
    """The settings that the key ``hyperparams`` (removed here) stands for in such a trial."""
    wanted = given.pop("hyperparams", None)
    if wanted is None:
        return None
    parts = ({**_neutral("data"), **given}.get(key) for key in ("method", "data"))
    method, data = (str(part.get("name", "")) if isinstance(part, Mapping) else "" for part in parts)
    return recipes.find(wanted, method, data, given.get("search", 0))


def _check_names(given: Mapping[str, Any]) -> None:
    """Check that what the user says names every part that a trial needs."""
    for key in NEEDED:
        _check_part(given.get(key, {}), key)
    if "name" not in given.get("method", {}):
        if wrong := [key for key in given if key not in FIELDS]:
            raise unknown("configuration key", wrong[0], FIELDS)
        raise UserError(f"the configuration needs a method; choose from {', '.join(methods.names())}.")


def _check_form(given: Any, key: str) -> None:
    if FIELDS[key] != list[Named]:
        _check_part(given, key)
        return
    if not isinstance(given, list):
        raise UserError(f"{key} must be a list, each entry being {A_PART}, not {given!r}.")
    for place, one in enumerate(given):
        _check_part(one, f"{key}[{place}]", named=True)


def _check_part(given: Any, where: str, named: bool = False) -> None:
    """``named``: a mapping without a name, which only changes options of another layer's part, will not do."""
    if not isinstance(given, Mapping) or not isinstance(given.get("name", None if named else ""), str):
        raise UserError(f"{where} must be {A_PART}, not {given!r}.")


def _component(key: str, given: Any) -> Any:
    """The part with every option; for an optional part nothing, and for a list each of its parts."""
    if not isinstance(given, Mapping):
        return given and [_component(key, one) for one in given]
    name, options = registry.split(given)
    kind = kind_of(key)
    return {"name": name, **kind.get(name).fill(options, kind.name)}


def own_parts(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files of the parts from outside that these values of a trial name, each with its SHA-256."""
    trainer = values.get("trainer")
    scripts = list(_scripts(trainer.command or "", values.get("parts", ()))) if trainer else []
    kinds = [kind for kind in registry.Kind.known if kind.outside]
    if not kinds:
        return scripts
    named = set(_words({key: value for key, value in values.items() if key not in ("parts", "trainer")}))
    found = {
        (source.sha256, source.file): source._asdict()
        for kind in kinds
        for key, source in kind.outside.items()
        if any(word == key or kind.holds(word) == key for word in named)
    }
    return [*(found[name] for name in sorted(found)), *scripts]


def script(word: str, sources: Iterable[dict[str, str]]) -> dict[str, str] | None:
    """The one of these files that a word of a command names."""
    if word.endswith(".py") or "/" in word:
        return next((source for source in sources if Path(source["file"]).name == Path(word).name), None)
    return None


def _scripts(command: str, given: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The files that a command runs. Those that are ``given`` already stay as they are."""
    with contextlib.suppress(ValueError):  # which a check of the trial refuses
        for word in shlex.split(command):
            path = Path(word).absolute()
            if known := script(word, given):
                yield known
            elif word.endswith(".py") and path.is_file():
                yield {"file": str(path), "sha256": digest(path), "role": outside.COMMAND}


def _words(value: Any) -> Iterator[str]:
    """Every text in the values, wherever a part may be named."""
    if isinstance(value, str):
        yield value
    elif hasattr(value, "__dataclass_fields__"):
        yield from _words(vars(value))
    elif isinstance(value, (Mapping, list, tuple)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _words(each)
