"""Matrix products in tiles, through MXNet's FullyConnected.

It reaches the arithmetic limit of the processor where ``numpy.dot`` and ``mx.nd.dot`` depend on which
processors their BLAS knows. The result is a view of a buffer that a later product overwrites.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import cycle

import numpy as np


class Product:
    """Tiles of ``data @ weight.T (+ bias)``, at most ``capacity`` numbers each. A tile lasts until as many others
    as there are ``buffers`` have been started."""

    def __init__(self, capacity: int, buffers: int = 1):
        import mxnet as mx

        self._mx = mx
        self._buffers = cycle([self.empty((capacity,)) for _ in range(buffers)])

    def empty(self, shape: tuple[int, ...]):
        """An operand and the NumPy view to fill it by; the memory they share lives as long as the operand."""
        array = self._mx.nd.empty(shape, ctx=self._mx.cpu())
        array.wait_to_read()
        pointer = ctypes.c_void_p()
        check_call, library = self._mx.base.check_call, self._mx.base._LIB
        check_call(library.MXNDArrayGetData(array.handle, ctypes.byref(pointer)))
        view = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), shape)
        return array, view

    def array(self, values: np.ndarray):
        """An operand: a float32 copy that can take part in many products."""
        array, view = self.empty(values.shape)  # nd.array would take five times as long for small ones
        view[...] = values
        return array

    def __call__(self, data, weight, bias=None) -> np.ndarray:
        return self.start(data, weight, bias)()

    def start(self, data, weight, bias=None) -> Callable[[], np.ndarray]:
        """Begin a tile, which a thread of MXNet's computes; the function that is returned waits for it."""
        shape = (data.shape[0], weight.shape[0])
        size = shape[0] * shape[1]
        buffer, view = next(self._buffers)
        out = buffer[:size].reshape(shape)
        operands = (data, weight) if bias is None else (data, weight, bias)
        self._mx.nd.FullyConnected(
            *operands, num_hidden=shape[1], no_bias=bias is None, flatten=False, out=out
        )

        def finish() -> np.ndarray:
            out.wait_to_read()
            return view[:size].reshape(shape)

        return finish
