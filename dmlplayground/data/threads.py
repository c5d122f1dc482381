"""Work done ahead by threads. Threads are enough, since decoding and resizing release Python's global lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_DEPTH = 8  # items that ``beside`` keeps ready


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ahead(prepare: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """``map(prepare, items)``, in order. The next few results are prepared by ``threads`` threads while one is used."""
    if threads < 1:
        yield from map(prepare, items)
        return
    waiting: deque = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
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
    """The same items, made a few ahead of their use by a separate thread.

    The first is made by the calling thread: a sampler may look at a network before it, and a network belongs to one
    thread.
    """
    end: Any = object()
    item = next(items, end)
    with ThreadPoolExecutor(1, thread_name_prefix="planning") as pool:
        waiting: deque[Future] = deque(pool.submit(next, items, end) for _ in range(_DEPTH))
        try:
            while item is not end:
                yield item
                item = waiting.popleft().result()
                waiting.append(pool.submit(next, items, end))
        finally:
            for future in waiting:
                future.cancel()
