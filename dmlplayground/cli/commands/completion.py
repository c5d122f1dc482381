"""print a script that completes commands, options, names and keys in your shell

bash: add to ~/.bashrc:                     eval "$(dmlplayground completion bash)"
zsh:  add to ~/.zshrc, after compinit:      eval "$(dmlplayground completion zsh)"
fish: put into ~/.config/fish/config.fish:  dmlplayground completion fish | source

The names are those that this version brings. The script is made by the package shtab (extra "completion").
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from ...base import registry, resources
from ..arguments import Command, Namespace, place, png

EXAMPLE = "completion bash"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    command.takes("shell", "your shell", choices=("bash", "fish", "zsh"))


def run(arguments: Namespace) -> None:
    from ...base import optional
    from .. import parser

    shtab = optional.load("shtab")
    whole = parser(all_helped=True)
    for command, action in _actions(whole, ""):
        if action.choices is None and (words := _words(command, action)):
            action.choices = words
            if action.dest in ("config", "file"):  # a name, or a file of one's own
                known = " ".join(words)
                here = {"fish": known, "zsh": f"{{compadd -- {known}; _files}}"}
                action.complete = {**shtab.cmd(f"echo {known}"), **here}
        elif action.type in (place, png):
            action.complete = shtab.FILE
    print(shtab.complete(whole, arguments.shell))


def _actions(parser: Command, command: str) -> Iterator[tuple[str, Any]]:
    """Every argument with its command, those of actions with that of the command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _actions(below, command or name)
        else:
            yield command, action


def _words(command: str, action: argparse.Action) -> Sequence[str]:
    """What may stand there, as far as it has names."""
    from ...parts import methods
    from ...trial import hyperparams
    from .. import templates

    plural = command if action.dest == "name" else {"backbone": "backbones", "data": "data"}.get(action.dest)
    if plural in registry.HOMES:
        return registry.kind(plural).names()
    named: dict[Any, Callable[[], Collection[str]]] = {
        ("experiments", "name"): resources.experiment_names,
        ("hyperparams", "name"): lambda: [*methods.names(), *map(str, hyperparams.names())],
        ("lr", "config"): methods.names,
        ("new", "kind"): templates.kinds,
        ("sweep", "file"): resources.experiment_names,
        ("train", "config"): methods.names,
        ("tune", "file"): resources.search_names,
        ("tune", "methods"): methods.names,
        "KEY=VALUE": _keys,
        "OPTION=VALUE": lambda: _options(registry.kind("data")),
    }
    if "--hyperparams" in action.option_strings:
        return list(hyperparams.studies())
    return list((named.get(action.metavar) or named.get((command, action.dest), tuple))())


def _keys() -> list[str]:
    """Every key of a configuration, the options of parts too."""
    from ...parts.layers import COMPONENTS
    from ...trial import config
    from ...trial.config.schema import kind_of

    own = [f"{key.key}=" for key in config.reference() if key.key not in COMPONENTS]
    of_parts = [f"{key}.{option}" for key in COMPONENTS for option in _options(kind_of(key))]
    return [*own, *(f"{key}=" for key in COMPONENTS), *of_parts]


def _options(kind: registry.Kind) -> list[str]:
    return sorted({f"{option}=" for name in kind.names() for option in kind.get(name).options})
