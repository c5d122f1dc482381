"""The base of losses whose batches are interleaved pairs, a0 p0 a1 p1 ..."""

from __future__ import annotations

import numpy as np

from ....base.errors import UserError
from .base import Loss


class PairedLoss(Loss):
    """A loss that reads an anchor and its positive in every two rows."""

    def check(self, rows: int, width: int) -> None:
        if rows % 2:
            raise UserError(
                f"{self.key} reads pairs a0 p0 a1 p1 ..., so a batch has an even number of rows, not {rows}."
            )

    def check_labels(self, labels: np.ndarray) -> None:
        if (labels[0::2] != labels[1::2]).any():
            raise UserError(
                f"{self.key} reads pairs a0 p0 a1 p1 ...; here an anchor and its positive differ in class."
            )
