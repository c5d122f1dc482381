"""The command line. Each file in ``commands/`` is one command, called by the file's name:

    '''retrain everything that failed'''              # the docstring is the help text; a capital and a full stop are added

    EXAMPLE = "retrain runs/quickstart"               # what a user could type after "dmlplayground"
    PAGE = "getting-started"                          # of the documentation, where more is said

    def add_arguments(command): ...                   # what it takes, as ``Command`` has it
    def run(arguments): ...                           # calls one function, prints; the exit code, if it is not 0

Every kind of part (``registry.HOMES``) is listed by a command of the same name (``listing``). A file of that name may say
more of a part, or of all (``about_one(name)``, ``about_all()``: paragraphs); only ``data`` does more than list. The help
names these commands on one line instead of describing each.
Nothing heavy is imported before ``run``: commands that only list or check answer at once.
"""

import importlib
import io
import os
import pkgutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..base import outside, registry, signals
from ..base.errors import UserError, warn
from . import listing
from .arguments import Command, sentence

__all__ = ["main"]

PARTS = "--parts FILE", "load parts of your own from it"


def main(argv: list[str] | None = None) -> int:
    _open_output()
    with signals.heard(), warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: warn(str(message))  # without our lines of code
        return _run(sys.argv[1:] if argv is None else argv)


def _open_output() -> None:
    """Printing never fails on a closed output, or on a character that it cannot show."""
    for name in ("stdout", "stderr"):
        output = getattr(sys, name)
        if output is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 (for the rest of the process)
        elif isinstance(output, io.TextIOWrapper) and output.errors in ("strict", "surrogateescape"):
            output.reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    try:
        commands = _commands()
        parts = Command(add_help=False, allow_abbrev=False)
        parts.repeats(*PARTS)
        own, words = parts.parse_known_args(words)
        outside.load(own.parts)  # first, as names of parts may follow
        arguments = parser(commands).parse_args(_completed(words, commands))
        arguments.parts = own.parts
        if getattr(arguments, "threads", None):  # read only once, when MXNet's library is loaded
            os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
        return arguments.run(arguments) or 0
    except UserError as problem:
        if os.environ.get("DMLPLAYGROUND_DEBUG"):
            raise
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print("\nstopped; finished work is kept, and the same command continues from there.", file=sys.stderr)
        return signals.exit_code(stop)
    except BrokenPipeError:  # the reader of a pipe is gone, as with "| head"
        sys.stdout = None
        return 1
    except OSError as problem:  # such as a full disk or a read-only folder
        place = f"{problem.filename}: " if problem.filename else ""
        print(f"error: cannot read or write: {place}{problem.strerror or problem}.", file=sys.stderr)
        return 2


def _completed(words: list[str], commands: Mapping[str, ModuleType]) -> list[str]:
    """The words of a command line, with the words that a command allows to be left out."""
    complete = getattr(commands.get(words[0]) if words else None, "complete", None)
    return [words[0], *complete(words[1:])] if complete else words


def parser(commands: Mapping[str, ModuleType] | None = None, all_helped: bool = False) -> Command:
    """The whole command line. ``all_helped``: the commands that only list are described as well."""
    from .. import __version__

    commands = _commands() if commands is None else commands
    whole = Command(
        prog="dmlplayground",
        description="Compare deep metric learning methods fairly.",
        epilog=f"to list the parts of a trial, or to describe one:\n  {', '.join(registry.HOMES)}\n\n"
        "exit codes: 0 done, 1 a trial failed, 2 bad input, 130 stopped by Ctrl-C (143, 129: by SIGTERM, SIGHUP)",
    )
    whole.add_argument("--version", action="version", version=f"dmlplayground {__version__}")
    subparsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted({*commands, *registry.HOMES}, key=lambda name: (name not in commands, name)):
        module: Any = commands.get(name)
        if not hasattr(module, "add_arguments"):
            module = listing.command(name, module)
        about = (module.__doc__ or "").strip()
        example = f"example: dmlplayground {module.EXAMPLE}"
        listed: dict[str, Any] = {
            "epilog": f"{example}\nmore: the page {module.PAGE}.html of dmlplayground docs"
        }
        if all_helped or name not in registry.HOMES:
            listed["help"] = " ".join(about.partition("\n\n")[0].split())
        command = subparsers.add_parser(name, description=sentence(about), **listed)
        command.set_defaults(run=getattr(module, "run", None))  # None where each of its actions has one
        command.repeats(*PARTS)
        module.add_arguments(command)
    return whole


def _commands() -> dict[str, ModuleType]:
    """Every file of ``commands/`` by its name."""
    from . import commands

    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    return {name: importlib.import_module(f"{commands.__name__}.{name}") for name in names}
