"""Named arrays with a JSON header, in one file that is there whole or not at all."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import signals
from .errors import UserError
from .files import opened, replacing

#: What NumPy raises for a damaged file, or one whose header lies.
DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)

_NAMES, _HEADER = "names.json", "header.json"


def write(path: str | Path, header: Any, arrays: dict[str, np.ndarray], through: Path | None = None) -> None:
    """Named arrays with a JSON header in one file (NumPy's .npz; nothing in it is ever executed).

    The format keeps a checksum of each array, which reading checks, but none of their names. So these are stored too.
    """
    texts = {_NAMES: json.dumps(list(arrays)), _HEADER: json.dumps(header)}
    named = {name: np.frombuffer(text.encode(), np.uint8) for name, text in texts.items()}
    with signals.deferred():
        write_plain(path, {**named, **arrays}, through)


def write_plain(path: str | Path, arrays: Mapping[str, np.ndarray], through: Path | None = None) -> None:
    """Named arrays alone, as np.savez does, whose archive complains of a full disk once more when it is collected."""
    with replacing(path, "wb", through) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read(path: str | Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The header and the arrays that ``write`` put there; a UserError where any of it is damaged."""
    try:
        with opened(path) as file:
            if file.read(2) != b"PK":
                raise ValueError("it does not begin as an archive does")
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        names = arrays.pop(_NAMES, None)
        if names is not None and json.loads(names.tobytes()) != list(arrays):
            raise ValueError("some of what it held is missing")
        return header, arrays
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except Exception as problem:  # a damaged archive raises whatever its damage leads to
        raise UserError(f"{path} is not one of our files, or is damaged: {problem}.") from None
