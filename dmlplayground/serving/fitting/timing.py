"""How long a piece of work takes on this machine, and how much memory."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterable

WARM_UP = 2  # pieces of work that are not counted: the first ones allocate memory
COUNTED = 60  # pieces, unless SECONDS are over before and FEWEST are done
FEWEST, SECONDS = 3, 4.0


def duration(pieces: Iterable[object]) -> tuple[float, float]:
    """The seconds for a piece of work, if other programs leave the machine alone (the median), and if they interrupt as
    often as they do now (the mean)."""
    taken: list[float] = []
    started = time.perf_counter()
    for _ in pieces:
        taken.append(time.perf_counter() - started)
        started += taken[-1]
        counted = taken[WARM_UP:]
        if len(counted) >= COUNTED or (len(counted) >= FEWEST and sum(counted) > SECONDS):
            break
    counted = taken[WARM_UP:] or taken
    middle, mean = statistics.median(counted), statistics.mean(counted)
    return middle, max(middle, mean)


def peak_memory() -> int:
    """Bytes that this process has held at most."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
