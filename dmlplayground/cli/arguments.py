"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import unknown
from ..base.threads import MOST_THREADS
from ..trial.store import BEST, LAST


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


def add_set(command: argparse.ArgumentParser, what: str = "change a setting", key: str = "KEY") -> None:
    command.add_argument(
        "--set", action="append", default=[], metavar=f"{key}=VALUE", help=f"{what} (repeatable)"
    )


def add_data_options(command: argparse.ArgumentParser) -> None:
    add_set(command, "set an option of the data set", "OPTION")


def add_trial_options(command: argparse.ArgumentParser) -> None:
    add_set(command)
    command.add_argument(
        "--hyperparams", dest="set", action="append", type=hyperparams, metavar="NAME",
        help="start from published or tuned settings: a study, or a .yaml file (see dmlplayground hyperparams)",
    )  # fmt: skip
    command.add_argument(
        "--dry-run", action="store_true", help="check everything, print what would run, and stop"
    )


def add_executor(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers",
        type=count,
        metavar="N",
        help="trials at a time (default: one per GPU, or one per core without a GPU)",
    )
    command.add_argument(
        "--executor", type=executor, default="local", metavar="NAME", help="local, or ray for a Ray cluster"
    )
    command.add_argument(
        "--address",
        help="address of the Ray cluster (default: the one this machine belongs to, or a new one on this machine)",
    )
    add_log(command)


def add_log(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--log",
        type=tracker,
        action="append",
        default=[],
        metavar="TRACKER",
        help="send the curves there as well: tensorboard, wandb or mlflow (repeatable)",
    )
    command.add_argument(
        "--tensorboard", dest="log", action="append_const", const="tensorboard", help="as --log tensorboard"
    )


def add_model(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("model", type=place, help=what)
    add_which(command)


def add_which(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--which",
        choices=(BEST, LAST),
        default=BEST,
        help="which of the trial's weights to use",
    )


def add_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--engine",
        default="float32",
        help="how embeddings are computed: float32, fused or bfloat16",
    )
