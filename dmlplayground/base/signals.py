"""Requests to stop: Ctrl-C and the signals by which a system ends a process are treated alike."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Optional

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
    before = {number: signal.getsignal(number) for number in ASKING}
    ours = [n for n, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]
    for number in ours:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _stop(number: int, frame: Optional[FrameType]) -> None:
    if _finalizing(frame):  # Python would print what is raised there, and go on as if nothing had happened
        again = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
        return
    raise KeyboardInterrupt if number == signal.SIGINT else Stopped(number)


def _finalizing(frame: Optional[FrameType]) -> bool:
    """Whether Python is in a ``__del__``. MXNet's arrays have one, so training is often there."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


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
    before = {number: signal.getsignal(number) for number in ASKING}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])
