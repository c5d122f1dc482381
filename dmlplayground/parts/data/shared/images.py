"""Images that are read only when they are asked for, but look like a NumPy array (N, H, W, 3) of uint8."""

import mmap
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ....base.errors import UserError

#: So much of a mapped file may stay in our memory before it is left to the system's, where it costs nothing.
RESIDENT = 256 << 20

PIXELS, SIZES, CHECKSUMS = "pixels.npy", "sizes.npy", "checksums.npy"


class Images:
    """Base: ``image(row)`` gives (H, W, 3) uint8 that is not to be written to; where sizes differ ``shape`` has None."""

    dtype = np.dtype(np.uint8)
    ndim = 4

    def __init__(self, count: int, height: int | None, width: int | None):
        self.shape = (count, height, width, 3)

    def image(self, row: int) -> np.ndarray:
        raise NotImplementedError

    def fingerprint(self) -> bytes:
        """Of everything that decides the pixels."""
        return b"".join(digest(self.image(row)) for row in range(len(self)))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        """One image by its row, or a block of those of one size by a slice or an array of rows."""
        if isinstance(key, (int, np.integer)):
            return self.image(range(len(self))[key])
        images = [self.image(row) for row in np.arange(len(self))[key].tolist()]
        if not images:
            return np.empty((0, *(length or 0 for length in self.shape[1:])), np.uint8)
        if any(image.shape != images[0].shape for image in images):
            raise UserError(
                "these images have different sizes and cannot form a block; choose a transform that crops them."
            )
        return np.stack(images)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)


class Packed(Images):
    """The decoded images of a cache entry, one after another in one mapped file."""

    def __init__(self, folder: Path):
        """Raises OSError or ValueError if there is no complete entry."""
        pixels = np.load(folder / PIXELS, mmap_mode="r", allow_pickle=False)
        self.sizes = np.load(folder / SIZES, allow_pickle=False)
        self.checksums = np.load(folder / CHECKSUMS, allow_pickle=False)
        self._ends = np.cumsum(self.sizes.prod(axis=1, dtype=np.int64) * 3)
        if pixels.shape != (self._ends[-1],) or len(self.checksums) != len(self.sizes):
            raise ValueError(f"{folder} does not hold what its sizes say")
        alike = [int(values[0]) if (values == values[0]).all() else None for values in self.sizes.T]
        super().__init__(len(self.sizes), *alike)
        self._map: mmap.mmap = pixels._mmap
        self._pixels = np.asarray(pixels)
        self._folder = folder
        self._checked = np.zeros(len(self), bool)
        self._touched = 0

    def image(self, row: int) -> np.ndarray:
        height, width = self.sizes[row].tolist()
        end = self._ends[row]
        self._touched += height * width * 3
        if self._touched > RESIDENT and hasattr(mmap, "MADV_DONTNEED"):
            self._touched = 0
            self._map.madvise(mmap.MADV_DONTNEED)  # what was read stays in the system's cache
        pixels = self._pixels[end - height * width * 3 : end]
        if not self._checked[row]:  # checked once per process; reading it from disk takes longer
            if zlib.crc32(pixels.data) != self.checksums[row]:
                raise UserError(
                    f"the cache {self._folder} is damaged (wrong checksum of image {row}); delete this folder, and it is "
                    "made anew from the image files."
                )
            self._checked[row] = True
        return pixels.reshape(height, width, 3)

    def fingerprint(self) -> bytes:
        return digest(self.sizes) + digest(self.checksums)


class SomeImages(Images):
    """Some rows of other images."""

    def __init__(self, images: Any, rows: np.ndarray):
        super().__init__(len(rows), *images.shape[1:3])
        self.images = images
        self.rows = rows

    def image(self, row: int) -> np.ndarray:
        return self.images[int(self.rows[row])]

    def fingerprint(self) -> bytes:
        return digest(self.images) + digest(self.rows)


def digest(images: Any) -> bytes:
    """A digest of images or of an array, which differs where any number does."""
    if isinstance(images, Images):
        return images.fingerprint()
    return blake2b(np.ascontiguousarray(images).view(np.uint8).data, digest_size=16).digest()


def select(images: Any, rows: np.ndarray) -> Any:
    """These rows, in ascending order, without copying them (except features, which are small)."""
    if images.ndim == 2:
        return images[rows]
    if rows.size and rows[-1] - rows[0] + 1 == rows.size and isinstance(images, np.ndarray):
        return images[rows[0] : rows[-1] + 1]
    if isinstance(images, SomeImages):
        return SomeImages(images.images, images.rows[rows])
    return SomeImages(images, rows)
