"""Changes of colour as matrices (3, 4): a pixel times the first three columns, plus the last."""

import numpy as np

LUMA = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue appear
GREY = np.tile(LUMA, (3, 1))
# Brightness and two axes of colour (YIQ), in which a change of hue is a turn.
_YIQ = np.array([LUMA, [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


def scaled(colours: np.ndarray, offset: float = 0.0) -> np.ndarray:
    """The matrix with these three columns, and an offset shared by all channels."""
    return np.column_stack([colours, np.full(3, offset)])


def brighter(factor: float) -> np.ndarray:
    return scaled(factor * np.eye(3))


def contrasted(factor: float, mean: float) -> np.ndarray:
    """Away from the image's mean grey (factor above 1), or towards it."""
    return scaled(factor * np.eye(3), (1 - factor) * mean)


def saturated(factor: float) -> np.ndarray:
    """Away from every pixel's own grey, or towards it."""
    return scaled(factor * np.eye(3) + (1 - factor) * GREY)


def turned(share: float) -> np.ndarray:
    """The hue moved by a share of the circle of colours; brightness stays."""
    cosine, sine = np.cos(2 * np.pi * share), np.sin(2 * np.pi * share)
    turn = np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])
    return scaled(np.linalg.inv(_YIQ) @ turn @ _YIQ)


def after(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Both changes as one."""
    return np.column_stack([second[:, :3] @ first[:, :3], second[:, :3] @ first[:, 3] + second[:, 3]])
