"""Writing files so that a crash leaves the old one or the new one, never half: beside the target, then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import UserError


@contextlib.contextmanager
def replacing(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a file that takes the place of ``path`` when the block ends well, and vanishes when it does not."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding = None if "b" in mode else "utf-8"
    with tempfile.NamedTemporaryFile(
        mode, dir=path.parent, prefix=f".{path.name}.", delete=False, encoding=encoding
    ) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(0o666 & ~_umask())  # a temporary file is private; this one need not be
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block has ended: a file half written would be thrown away, and what writes it complain."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)


def write_json(path: str | Path, content: Any) -> None:
    with uninterrupted(), replacing(path) as file:
        json.dump(content, file, indent=1, allow_nan=False)
        file.write("\n")


def read_json(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except ValueError as problem:
        raise UserError(f"{path} is not valid JSON: {problem}.") from None


_HEADER = "header.json"


def write_arrays(path: str | Path, header: Any, arrays: dict[str, np.ndarray]) -> None:
    """Named arrays with a JSON header in one file (NumPy's .npz; nothing in it is ever executed)."""
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with uninterrupted(), replacing(path, "wb") as file:
        np.savez(file, **{_HEADER: text}, **arrays)


def read_arrays(path: str | Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The header and the arrays that ``write_arrays`` put there."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return json.loads(arrays.pop(_HEADER).tobytes()), arrays
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
        raise UserError(f"{path} is not one of our files, or is damaged: {problem}.") from None
