"""Requests to stop: Ctrl-C, and the signals by which a system asks a process to end, are one thing to us."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn, Optional

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """Somebody asked this process to stop by a signal other than Ctrl-C's."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


def listen() -> None:
    """From now on SIGTERM and SIGHUP stop the program as Ctrl-C does. What is ignored (``nohup``) stays ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, frame: Optional[FrameType]) -> NoReturn:
    raise Stopped(number)


def exit_code(stop: KeyboardInterrupt) -> int:
    """What a program that was stopped so ends with, as shells count: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Requests to stop wait until the block has ended: a file half written would be thrown away, and its writer complain."""
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
