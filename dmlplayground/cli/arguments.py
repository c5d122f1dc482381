"""How a command says what it takes, and the arguments that several of them take."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..base.errors import UserError, unknown
from ..base.threads import MOST_THREADS
from ..trial.store import BEST, LAST

Namespace = argparse.Namespace


class _Help(argparse.RawDescriptionHelpFormatter):
    """argparse's help, with the defaults that there are."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = action.help or ""
        given = str(action.default) not in ("None", "False", "", "[]", argparse.SUPPRESS)
        return f"{text} (default: %(default)s)" if given and "(default" not in text else text


class Command(argparse.ArgumentParser):
    """argparse's parser, except that an error is one line, and that misspelt commands and options get our own
    "did you mean". An argument is named as the help shows it: ``"store"``, ``"--quiet"``, ``"--to FILE"``."""

    def __init__(self, **options: Any):
        super().__init__(**{"formatter_class": _Help, **options})
        self.set_defaults(parser=self)  # of a command line, that of its command or action

    def takes(self, name: str, about: str = "", kind: Any = None, default: Any = None, **more: Any) -> None:
        """An argument or option with a value, which ``kind`` reads."""
        name, _, shown = name.partition(" ")
        self.add_argument(name, help=about, type=kind, default=default, metavar=shown or None, **more)

    def flag(self, name: str, about: str) -> None:
        """An option without a value."""
        self.add_argument(name, help=about, action="store_true")

    def repeats(self, name: str, about: str, kind: Any = None) -> None:
        """An option with a value that may be given several times."""
        self.takes(name, f"{about} (repeatable)", kind, [], action="append")

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help)")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments, left = self.parse_known_args(args, namespace)
        if left:
            command: Command = arguments.parser
            if left[0].startswith("-"):
                option = left[0].partition("=")[0]
                known = (one for action in command._actions for one in action.option_strings)
                raise unknown(f"option of {command.prog}", option, [one for one in known if one[:2] == "--"])
            command.error(f"unexpected argument: {left[0]}")
        return arguments

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            raise unknown(str(action.metavar).lower(), value, action.choices)
        super()._check_value(action, value)


def place(text: str) -> Path:
    """A path. An empty one, such as a variable of the shell that is not set, would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return Path(text)


def png(text: str) -> Path:
    path = place(text)
    if path.suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"must end in .png, not {text}")
    return path


def hyperparams(text: str) -> str:
    """What ``--set`` would be given for these settings."""
    return f"hyperparams={place(text)}"


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """What reads a whole number within these ends."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:  # also a number of thousands of digits
            shown = text if len(text) <= 20 else f"{text[:20]}..."
            raise argparse.ArgumentTypeError(f"must be a whole number, not {shown}") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        if most is not None and number > most:
            raise argparse.ArgumentTypeError(f"must be at most {most:,}")
        return number

    return read


count, natural, threads, rank = whole(1), whole(0), whole(1, MOST_THREADS), whole(1, 10_000)


def ranks(text: str) -> tuple[int, ...]:
    return tuple(map(rank, text.split(",")))


def executor(text: str) -> str:
    from ..sweeps import executors  # here, as what only lists must not wait for it

    if text not in executors.NAMES:
        raise unknown("executor", text, executors.NAMES)
    return text


def tracker(text: str) -> str:
    from ..trial.training import trackers

    trackers.require([text])
    return text


def data_options(name: str, given: Sequence[str]) -> dict[str, Any]:
    """The options of a data set that ``--set`` was given, unknown ones refused."""
    from ..parts import data
    from ..trial import config

    layer = config.merge(*(config.override(text) for text in given))
    options = dict(config.expand({"data": layer})["data"])
    data.get(name).fill(options, "data set")
    return options


def sentence(text: str) -> str:
    """A summary as a sentence: with a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def add_actions(command: Command, *runs: Callable[[Namespace], Any], required: bool = False) -> list[Command]:
    """The actions of a command: functions, with their docstrings as help."""
    actions = command.add_subparsers(metavar="ACTION", required=required)
    found = []
    for run in runs:
        about = run.__doc__ or ""
        found.append(actions.add_parser(run.__name__, help=about, description=sentence(about)))
        found[-1].set_defaults(run=run)
    return found


def add_trial_options(command: Command) -> None:
    command.repeats("--set KEY=VALUE", "change a setting")
    about = "start from published or tuned settings: a study, or a .yaml file (see dmlplayground hyperparams)"
    command.takes("--hyperparams NAME", about, hyperparams, dest="set", action="append")
    command.flag("--dry-run", "check everything, print what would run, and stop")


def add_executor(command: Command) -> None:
    about = "trials at a time (default: one per GPU, or one per core without a GPU)"
    command.takes("--workers N", about, count)
    command.takes("--executor NAME", "local, or ray for a Ray cluster", executor, "local")
    about = "address of the Ray cluster (default: the one this machine belongs to, or a new one here)"
    command.takes("--address", about)
    add_log(command)


def add_log(command: Command) -> None:
    about = "send the curves there as well: tensorboard, wandb or mlflow"
    command.repeats("--log TRACKER", about, tracker)
    about = "as --log tensorboard"
    command.add_argument("--tensorboard", dest="log", action="append_const", const="tensorboard", help=about)


def add_which(command: Command, engine: bool = True) -> None:
    command.takes("--which", "which of the trial's weights to use", default=BEST, choices=(BEST, LAST))
    if engine:
        about = "how embeddings are computed: float32, fused or bfloat16"
        command.takes("--engine", about, default="float32")
