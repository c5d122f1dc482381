"""The base of losses whose batches are interleaved pairs, a0 p0 a1 p1 ..."""

from __future__ import annotations

import numpy as np

from .base import Loss


class PairedLoss(Loss):
    """A loss that reads an anchor and its positive in every two rows."""

    def check(self, rows: int, width: int) -> None:
        self.require(
            rows % 2 == 0,
            f"it reads pairs a0 p0 a1 p1 ..., so a batch has an even number of rows, not {rows}.",
        )

    def check_labels(self, labels: np.ndarray) -> None:
        if (labels[0::2] != labels[1::2]).any():
            self.require(
                False, "it reads pairs a0 p0 a1 p1 ...; here an anchor and its positive differ in class."
            )
