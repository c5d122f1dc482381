"""Embeddings as the evaluation sees them (first, plain form)."""

from __future__ import annotations

import numpy as np

from ..errors import UserError, unknown

DISTANCES = ("euclidean", "cosine", "hamming")


def as_labels(labels, size: int, name: str) -> np.ndarray:
    """One integer per row, as int64 0, 1, 2, ... would be too much to ask: any integers do."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iub" or labels.shape != (size,):
        raise UserError(
            f"{name} must be {size} integers, one a row, not {labels.dtype} of shape {labels.shape}."
        )
    return labels


class Points:
    def __init__(self, values, distance: str = "euclidean"):
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        values = np.asarray(values)
        if values.ndim != 2:
            raise UserError(f"embeddings must be rows of numbers, not of shape {values.shape}.")
        if distance == "hamming":
            rows = np.unpackbits(values, axis=1) if values.dtype == np.uint8 else values > 0
        else:
            rows = values
        self.rows = rows.astype(np.float64)
        if not np.isfinite(values).all():
            raise UserError("embeddings hold values that are not finite.")
        if distance == "cosine":
            self.rows /= np.maximum(np.linalg.norm(self.rows, axis=1, keepdims=True), 1e-300)

    def __len__(self) -> int:
        return len(self.rows)
