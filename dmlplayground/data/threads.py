"""Work done ahead by threads. Decoding and resizing let go of Python's lock, so threads are all it takes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ahead(prepare: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """``map(prepare, items)``, in order, the next few results being made by ``workers`` threads while this
    one is used."""
    if workers < 1:
        yield from map(prepare, items)
        return
    waiting: deque = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="batches") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(prepare, item))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
