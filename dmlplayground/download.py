"""Downloads that go on where an interrupted one ended, and the checksums to check them by."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path

CHUNK = 1 << 20
TIMEOUT = 30  # seconds without a byte
ERRORS = (OSError, http.client.HTTPException)
_ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256"}  # by the length of a digest


def fetch(url: str, partial: Path) -> None:
    """Fetch ``url``, going on from what an interrupted download has left. Raises one of ``ERRORS``."""
    from tqdm import tqdm

    done = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as problem:
        if problem.code != 416:
            raise
        partial.unlink()  # nothing lies beyond what is there, so it is whole, or another file: begin anew
        return fetch(url, partial)
    with response:
        resumed = response.status == 206
        length = int(response.headers.get("Content-Length") or 0)
        done = done if resumed else 0
        bar = tqdm(
            total=done + length or None,
            initial=done,
            unit="B",
            unit_scale=True,
            desc=url.rsplit("/", 1)[1],
            disable=None,
        )
        with bar, partial.open("ab" if resumed else "wb") as file:
            received = 0
            while chunk := response.read(CHUNK):
                file.write(chunk)
                received += len(chunk)
                bar.update(len(chunk))
    if length and received < length:
        raise OSError(
            f"the connection ended after {received} of {length} bytes; the next attempt goes on from there"
        )
    return None


def reason(problem: Exception) -> object:
    """Why a download failed, in a few words."""
    return getattr(problem, "reason", None) or problem


def digest(path: Path, like: str = 64 * "0") -> str:
    """The file's SHA-256, or its SHA-1 or MD5 where ``like`` is one of these by its length."""
    found = hashlib.new(_ALGORITHMS[len(like)])
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()
