"""One seed per trial: every random stream derives from it by name, so streams never overlap or shift, and are the same in
every process, on every machine and after a resume. No generator outlives the epoch (or batch) that it is named after."""

import zlib

import numpy as np


def _sequence(seed: int, names: tuple[str | int, ...]) -> np.random.SeedSequence:
    words = [zlib.crc32(name.encode()) if isinstance(name, str) else int(name) for name in names]
    return np.random.SeedSequence(entropy=int(seed), spawn_key=words)


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A NumPy generator for the stream called ``names`` of the trial with this ``seed``."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, names)))


def integer(seed: int, *names: str | int) -> int:
    """A 31-bit seed for libraries that take an integer (``mx.random.seed``, scikit-learn)."""
    return int(_sequence(seed, names).generate_state(1)[0] >> 1)
