from __future__ import annotations

from ..base import KIND


@KIND.register(title="No network: the data are features", features=0, parameters=0, preprocessing=None)
def build(*, features: int = 0):
    """What the data set holds goes to the head as it is. For data sets of features, which set it by themselves.

    features: how many numbers a row has; a data set of features says so by itself.
    """
    from mxnet.gluon import nn

    return nn.HybridSequential()
