"""Search files: for the settings of one method, as ``search_space`` describes them, or of many.

A file for many methods holds one search for each, with as many trials, and what one method tries does not depend on the
others:

    methods: all                  # or a list
    own_ranges: true              # search the ranges that each method's record declares besides those of config (the default)
    title: Equal tuning
    trials: 12
    config: {data: glyphs, optimizer: {lr: {range: [1e-4, 1e-2], log: true}}}

A file with ``rungs`` may search several times (``searches: 2``), with points, seeds and folds of their own: first once for
every method, then again. A file may be ``like`` another, and change what follows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..base import resources
from ..base.errors import UserError
from ..base.options import build
from ..parts import methods
from ..trial import config
from . import derived_files
from .search_space import Search

Given = str | Path | Mapping[str, Any]
Settings = Iterable[str] | Mapping[str, Any]


def load_all(given: Given, overrides: Settings = (), wanted: Iterable[str] = ()) -> dict[str, Search]:
    """The searches of a file, of a built-in one by its name, or of a mapping in its place, by the folder of the store that each
    has: its method, below its number if it has rungs. Those of the ``wanted`` methods alone if any are named. A file that
    names no methods holds one search, under the empty name. ``overrides`` change its config."""
    if not isinstance(given, Mapping):
        given = Path(given)
        given = given if given.suffix == ".yaml" else resources.find_search(given)
    content = derived_files.read(given, resources.find_search)
    if not isinstance(content, Mapping):
        return {"": build(Search, content, where="")}
    content, title = dict(content), content.get("title", given)
    if isinstance(content.get("config"), Mapping):
        changes = (config.expand(config.override(text)) for text in derived_files.settings(overrides))
        content["config"] = config.merge(config.expand(content["config"]), *changes)
    if "prune" in content:
        raise UserError(
            f"{title}: prune: searches stop no trial early any more; leave it out, or give the search "
            "rungs, short trainings of which the best get longer ones."
        )
    times = _times(content, title)
    if "methods" not in content:
        if list(wanted):
            raise UserError(
                f"{title} searches for the settings of one method; --methods is for files with `methods`."
            )
        return {str(number) if len(times) > 1 else "": _search(content, number) for number in times}
    file = build(_Many, {key: value for key, value in content.items() if key in _MANY}, where="")
    rest = {key: value for key, value in content.items() if key not in _MANY}
    return {
        f"{number}/{name}" if number else name: _search(_of_method(rest, name, file.own_ranges), number)
        for number in times
        for name in file.chosen(wanted)
    }


def _times(content: dict[str, Any], title: Any) -> list[int]:
    """The numbers of the searches that a file asks for; 0 alone where there is just one, without a number."""
    times = content.pop("searches", 1)
    if not isinstance(times, int) or isinstance(times, bool) or times < 1:
        raise UserError(f"searches must be a whole number from 1 on, not {times!r}.")
    if times > 1 and not content.get("rungs"):
        raise UserError(f"{title} has no rungs: only a search by halving is repeated (searches: {times}).")
    return list(range(1, times + 1)) if content.get("rungs") else [0]


def _search(content: Mapping[str, Any], number: int) -> Search:
    return build(Search, {**content, "number": number} if number else content, where="")


@dataclass(frozen=True)
class _Many:
    """What a file says of the methods that it searches."""

    methods: Literal["all"] | list[str]
    own_ranges: bool = True

    def chosen(self, wanted: Iterable[str]) -> list[str]:
        """The names of the methods, checked."""
        offered = methods.names() if self.methods == "all" else list(self.methods)
        wanted = list(wanted)
        for name in (*offered, *wanted):
            methods.get(name)
        if not offered:
            raise UserError("methods must name at least one method, or be all.")
        if left_out := ", ".join(name for name in wanted if name not in offered):
            raise UserError(f"the file does not search for {left_out}; it does for {', '.join(offered)}.")
        return wanted or offered


_MANY = tuple(_Many.__dataclass_fields__)


def _of_method(content: Mapping[str, Any], name: str, own_ranges: bool) -> dict[str, Any]:
    """The content of the file of this method's search alone."""
    given = config.expand(content.get("config") or {})
    said = [f"{key}." for key in config.dotted(given)]
    ranges = methods.get(name).ranges if own_ranges else {}
    free = [key for key in ranges if not any(one.startswith(f"{key}.") for one in said)]
    own = [config.nested(key, ranges[key]) for key in free]
    changed = config.merge(given, {"method": {"name": name}}, *own)
    return {**content, "title": f"{content.get('title', '')}: {name}", "config": changed}
