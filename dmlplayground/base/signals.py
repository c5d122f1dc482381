"""Requests to stop: Ctrl-C and the signals by which a system ends a process are treated alike."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.02  # seconds after which a request is repeated if it came when it could not be noticed


class Stopped(KeyboardInterrupt):
    """This process was asked to stop by a signal other than Ctrl-C's."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Within the block SIGTERM and SIGHUP stop the program as Ctrl-C does, and none of the three is lost; ignored ones
    (``nohup``) stay ignored. Afterwards the handlers are as before: a program that calls a command and later forks
    processes could not end all of them otherwise, as Python loses a signal that it handles and that comes in a fork."""
    plain = (signal.SIG_DFL, signal.default_int_handler)
    report, sys.unraisablehook = sys.unraisablehook, _ask_again
    try:
        with _handling(_stop, lambda former: former in plain):
            yield
    finally:
        sys.unraisablehook = report


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else Stopped(number)


def _ask_again(lost: Any) -> None:
    """Python prints what is raised in a ``__del__`` or in a callback of C, and goes on. MXNet's arrays have both."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    number = lost.exc_value.number if isinstance(lost.exc_value, Stopped) else signal.SIGINT
    again = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def exit_code(stop: KeyboardInterrupt) -> int:
    """That of a program that was stopped, as in shells: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Requests to stop wait until the block has ended, so that no half-written file is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    with _handling(lambda number, _: heard.append(number), callable):
        yield
    if heard:
        signal.raise_signal(heard[0])


@contextlib.contextmanager
def _handling(handler: Any, takes: Callable[[Any], bool]) -> Iterator[None]:
    """Within the block a handler has the place of those former ones that it ``takes``."""
    before = {number: signal.getsignal(number) for number in ASKING}
    ours = [number for number, former in before.items() if takes(former)]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
