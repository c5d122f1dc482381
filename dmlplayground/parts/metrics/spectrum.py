"""The spectrum of the embeddings: how evenly they use the directions there are."""

from typing import Any

import numpy as np

from ...base.errors import UserError
from .shared.engine.embeddings import Embeddings
from .shared.table import KIND, NOT_ZERO

ZERO = 1e-10  # of the largest singular value: below it a direction counts as unused


def rho_spectrum(embeddings: Any, k: int = 2, truncated: bool = False) -> Any:
    """rho@k: how far the singular values of the embeddings are from all being equal; 0 is the flattest spectrum.

    The singular values of the (N, E) matrix, not centred, without the |k| - 1 largest, are divided by their sum: q_1 to
    q_n. Then

        k > 0:  KL(uniform, q) = (1/n) sum of log(1 / (n q_i)),
        k < 0:  KL(q, uniform) = sum of q_i log(n q_i),

    and k = 0 gives q itself, of all values. Where a singular value is zero, KL(uniform, q) is infinite. Where nothing but
    zeros is left, both are.

    k: which rho, as above; the study's figures use 2.
    truncated: leave out the last of the E singular values, as the study's code does on a CPU.

    Three directions used 3 : 2 : 1. Without the first, q = (2/3, 1/3), and rho is (log 3/4 + log 3/2) / 2:

    >>> round(rho_spectrum([[3.0, 0, 0], [0, 2, 0], [0, 0, 1]], k=2), 4)
    0.0589
    """
    points = Embeddings(embeddings)
    triangle = np.empty((0, points.dim))
    for part in points.slices():  # rows are folded into it block by block
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, points.rows(part)]), mode="r"))
    values = np.linalg.svd(triangle, compute_uv=False)  # largest first
    values = np.where(values < ZERO * values[0], 0.0, values)
    values = values[max(abs(k) - 1, 0) : points.dim - truncated]
    if not len(values):
        raise UserError(f"rho_spectrum@{k} has no singular value left to look at.")
    total = values.sum()
    q = values / total if total > 0 else values
    if k == 0:
        return q
    if total == 0:
        return float("inf")
    if k < 0:
        used = q[q > 0]
        return float(np.sum(used * np.log(len(q) * used)))
    with np.errstate(divide="ignore"):
        return float(-np.mean(np.log(len(q) * q)))


_SPECTRUM = {"needs": "embeddings", "higher_is_better": False, "percent": False, "numbers": NOT_ZERO}


@KIND.register("rho_spectrum@K", title="Spectral decay rho@K", also=("rho", "rho@2"), **_SPECTRUM)
def rho_of_all(embeddings: Any, labels: Any, k: int) -> float:
    """How far the singular values of the embeddings are from all being equal. They are taken without the |K| - 1 largest,
    and divided by their sum, which gives q_1 to q_n:

        rho@K = (1/n) sum over i of log(1 / (n q_i)), if K > 0
        rho@K = sum over i of q_i log(n q_i), if K < 0

    Lower is flatter. Methods whose training embeddings have a flatter spectrum tend to transfer better to new classes. The
    study's figures use K = 2.
    """
    return rho_spectrum(embeddings, k)


@KIND.register("rho_truncated@K", title="Spectral decay rho@K without the last value", **_SPECTRUM)
def rho_of_all_but_the_last(embeddings: Any, labels: Any, k: int) -> float:
    """How far the singular values are from all being equal, the last of E left out:

        rho@K = (1/n) sum over i of log(1 / (n q_i)), if K > 0
        rho@K = sum over i of q_i log(n q_i), if K < 0

    The q_i are those of ``rho_spectrum``. This is the number that the study's code gives on a CPU.
    """
    return rho_spectrum(embeddings, k, truncated=True)
