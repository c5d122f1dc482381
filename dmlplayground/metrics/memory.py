"""How much working memory the evaluation may take, beyond the embeddings and labels it was handed."""

from __future__ import annotations

import re
from typing import Union

from ..errors import UserError

Memory = Union[int, str]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def as_bytes(memory: Memory) -> int:
    """A number of bytes, or a text such as "512MB", "1GB" or "0.5GiB".

    >>> as_bytes("1GB"), as_bytes("0.5KiB"), as_bytes(2000)
    (1000000000, 512, 2000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?)?b?\s*", str(memory).lower())
    amount = int(float(match[1]) * _UNITS[match[2] or ""]) if match else 0
    if amount < 1:
        raise UserError(f"memory must be a number of bytes or a text such as '512MB', not {memory!r}.")
    return amount
