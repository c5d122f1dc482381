"""Principal components of embeddings: how features of any width are compared at one width."""

import numpy as np

ROWS = 4096  # standardised at a time


def principal_components(embeddings: np.ndarray, count: int) -> np.ndarray:
    """The rows by their first ``count`` principal components (fewer where they have fewer numbers), at unit length.

    Every number is standardised first: less its mean, over its standard deviation. Components are not whitened. Both are
    found from these very rows.
    """
    mean = embeddings.mean(axis=0, dtype=np.float64)
    spread = embeddings.std(axis=0, dtype=np.float64)
    scale = np.where(spread > 0, spread, 1)
    blocks = [slice(start, start + ROWS) for start in range(0, len(embeddings), ROWS)]

    def standardised(block: slice) -> np.ndarray:
        return (embeddings[block] - mean) / scale

    scatter = sum(rows.T @ rows for rows in map(standardised, blocks))
    directions = np.linalg.eigh(scatter)[1][:, ::-1][:, :count]
    reduced = np.concatenate([standardised(block) @ directions for block in blocks])
    lengths = np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-12)
    return (reduced / lengths).astype(np.float32)
