"""OpenCV's image operations, from the package ``cv2``, or from MXNet and SciPy where it cannot be loaded: opencv-python needs
libGL, which slim containers lack. Those of ``cv2`` are twice as fast and let other threads run."""

from functools import cache
from typing import Any

import numpy as np

#: OpenCV's codes. Only ``area`` averages over all pixels when an image is made smaller.
INTERPOLATIONS = {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos": 4}


@cache
def package() -> Any:
    """``cv2``, or None where it cannot be loaded. It is loaded with the first image: checking a trial needs none."""
    try:
        import cv2
    except ImportError:
        return None
    cv2.setNumThreads(1)  # our threads each take an image
    return cv2


def library() -> str:
    """The library that decodes and resizes; pixels may differ slightly between libraries."""
    cv2 = package()
    if cv2 is not None:
        return f"opencv {cv2.__version__}"
    import mxnet

    return f"mxnet {mxnet.__version__}"


def resize(image: np.ndarray, height: int, width: int, interpolation: str) -> np.ndarray:
    """By one of OpenCV's interpolations, or ``antialiased``: averaged where that makes it smaller, else linear."""
    cv2 = package()
    if interpolation == "antialiased":
        interpolation = "area" if height * width < image.shape[0] * image.shape[1] else "linear"
    code = INTERPOLATIONS[interpolation]
    if cv2 is not None:
        return cv2.resize(image, (width, height), interpolation=code)
    from mxnet import image as images
    from mxnet import nd

    return images.imresize(nd.array(image, dtype=np.uint8), width, height, code).asnumpy()


def flip(image: np.ndarray, out: np.ndarray) -> None:
    """The image mirrored left to right, into ``out``: NumPy takes twenty times as long."""
    cv2 = package()
    if cv2 is None:
        out[...] = image[:, ::-1]
    else:
        cv2.flip(image, 1, dst=out)


def mean(image: np.ndarray) -> np.ndarray:
    """The mean colour."""
    cv2 = package()
    return image.mean(axis=(0, 1)) if cv2 is None else np.array(cv2.mean(image)[:3])


def recolour(image: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Every pixel times the first three columns of ``matrix`` (3, 4), plus the last, rounded and cut to 0 .. 255."""
    cv2 = package()
    if cv2 is not None:
        return cv2.transform(image, matrix)
    return _as_pixels(image @ matrix[:, :3].T + matrix[:, 3])


def blur(image: np.ndarray, sigma: float) -> np.ndarray:
    """Blurred by a Gaussian; what lies beyond the border mirrors what lies within."""
    cv2 = package()
    radius = round(3 * sigma)
    if cv2 is not None:
        return cv2.GaussianBlur(image, (2 * radius + 1,) * 2, sigma, borderType=cv2.BORDER_REFLECT_101)
    from scipy import ndimage

    widths = (sigma, sigma, 0)
    return _as_pixels(ndimage.gaussian_filter(image.astype(float), widths, mode="mirror", radius=radius))


def rotate(image: np.ndarray, degrees: float) -> np.ndarray:
    """Turned about its centre, at the same size; what comes in from outside mirrors what lies within."""
    cv2 = package()
    height, width = image.shape[:2]
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    x, y = (width - 1) / 2, (height - 1) / 2
    # Where each pixel of the result comes from.
    source = np.array([[cosine, -sine, x - cosine * x + sine * y], [sine, cosine, y - sine * x - cosine * y]])
    if cv2 is not None:
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return cv2.warpAffine(image, source, (width, height), flags=flags, borderMode=cv2.BORDER_REFLECT_101)
    from scipy import ndimage

    rows, columns = np.mgrid[:height, :width]
    columns, rows = (row[0] * columns + row[1] * rows + row[2] for row in source)
    layers = np.moveaxis(image.astype(np.float64), -1, 0)
    turned = [ndimage.map_coordinates(layer, (rows, columns), order=1, mode="mirror") for layer in layers]
    return _as_pixels(np.stack(turned, axis=-1))


def _as_pixels(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
