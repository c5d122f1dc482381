"""Work done by threads. These are enough, since decoding, resizing and compiled loops release Python's global lock."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 1024  # with many more, the system refuses some and MXNet crashes
_DEPTH = 8  # items that ``beside`` keeps ready


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def arithmetic() -> int:
    """How many threads compute, in MXNet and in our own loops: OMP_NUM_THREADS, or one if that is not set. OpenMP allows a
    number for every level there, and MXNet ends the process unless it is a single one."""
    setting = os.environ.get("OMP_NUM_THREADS", "").strip()
    first = setting.partition(",")[0].strip()
    if setting and not (first.isdecimal() and 1 <= int(first) <= MOST_THREADS):
        raise UserError(f"OMP_NUM_THREADS must be a number from 1 to {MOST_THREADS}, not {setting!r}.")
    if first != setting:
        os.environ["OMP_NUM_THREADS"] = first
    return int(first or 1)


def for_each(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function of every item, in order, by as many threads as compute."""
    threads = min(arithmetic(), len(items))
    return list(ahead(function, items, threads if threads > 1 else 0))


def ahead(prepare: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """``map(prepare, items)``, in order. The next few results are prepared by ``threads`` threads while one is used."""
    if threads < 1:
        yield from map(prepare, items)
        return
    waiting: deque = deque()
    with _pool(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(prepare, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def beside(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, made a few ahead of their use by a separate thread. The first is made by the calling thread: a sampler
    may look at a network before it, and a network belongs to one thread."""
    end: Any = object()
    item = next(items, end)
    with _pool(1) as pool:
        waiting: deque[Future] = deque(pool.submit(next, items, end) for _ in range(_DEPTH))
        try:
            while item is not end:
                yield item
                item = waiting.popleft().result()
                waiting.append(pool.submit(next, items, end))
        finally:
            for future in waiting:
                future.cancel()


def _pool(threads: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # here, as commands that only list must not wait for it

    return ThreadPoolExecutor(threads)
