"""OpenCV's image operations: those of the ``cv2`` package, which let other threads run and are twice as fast,
or those inside MXNet where ``cv2`` cannot be loaded (opencv-python wants libGL, which slim containers
lack)."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import cv2

    cv2.setNumThreads(1)  # our threads take an image each
except ImportError:
    cv2 = None  # type: ignore[assignment]

#: OpenCV's codes. Only ``area`` averages over all pixels when an image is made smaller.
INTERPOLATIONS = {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos": 4}


def library() -> str:
    """What decodes and resizes here: it decides the last digit of a pixel."""
    if cv2 is not None:
        return f"opencv {cv2.__version__}"
    import mxnet

    return f"mxnet {mxnet.__version__}"


def decode(content: bytes) -> np.ndarray:
    """The picture in these bytes as (H, W, 3) RGB, turned upright as its EXIF data says."""
    if cv2 is None:
        return _mxnet().imdecode(content).asnumpy()
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("OpenCV cannot decode it")
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=image)


def resize(image: np.ndarray, height: int, width: int, interpolation: str) -> np.ndarray:
    code = INTERPOLATIONS[interpolation]
    if cv2 is not None:
        return cv2.resize(image, (width, height), interpolation=code)
    from mxnet import nd

    return _mxnet().imresize(nd.array(image, dtype=np.uint8), width, height, code).asnumpy()


def flip(image: np.ndarray, out: np.ndarray) -> None:
    """The image mirrored left to right, into ``out``: NumPy takes twenty times as long for steps of three
    bytes."""
    if cv2 is None:
        out[...] = image[:, ::-1]
    else:
        cv2.flip(image, 1, dst=out)


def _mxnet() -> Any:
    from mxnet import image

    return image
