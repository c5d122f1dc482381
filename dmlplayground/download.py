"""Downloads that continue where an interrupted one ended, and the checksums to check them by."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

CHUNK = 1 << 20
TIMEOUT = 30  # seconds without a byte
ERRORS = (OSError, http.client.HTTPException)
_ALGORITHMS = {8: "sha256", 32: "md5", 40: "sha1", 64: "sha256"}  # by the length of a checksum


def fetch(url: str, partial: Path, checksum: str = "") -> None:
    """Fetch ``url``, continuing what an interrupted download has left. Raises one of ``ERRORS``.

    The caller compares the file with the ``checksum``. Over plain http and ftp anybody on the way can put another file
    in its place, so only a whole SHA-256 will do there.
    """
    from tqdm import tqdm

    if not _encrypted(url) and len(checksum) < 64:
        raise OSError("its address is not encrypted, and no SHA-256 is known to check the file by")

    done = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as problem:
        if problem.code != 416:
            raise
        partial.unlink()  # nothing lies beyond what is there, so it is whole, or another file: begin anew
        return fetch(url, partial, checksum)
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


def _encrypted(url: str) -> bool:
    """Whether nobody on the way can change what comes from there; what stays on this machine counts as well."""
    address = urllib.parse.urlsplit(url)
    return address.scheme == "https" or address.hostname in ("127.0.0.1", "::1", "localhost")


def digest(path: Path, algorithm: str = "sha256") -> str:
    """The file's SHA-256, SHA-1 or MD5."""
    found = hashlib.new(algorithm)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def agrees(path: Path, checksum: str) -> bool:
    """Whether the file has this checksum: a SHA-256, the first eight digits of one, a SHA-1 or an MD5, by its length."""
    return digest(path, _ALGORITHMS[len(checksum)]).startswith(checksum)
