"""Mixed precision for GPUs: products and convolutions in 16 bits, by MXNet's amp; weights, losses and updates in 32.

Small gradients would vanish in 16 bits, so the loss is multiplied by a large number before it goes backward, and the
gradients are divided by it in the step. A step whose gradients have overflowed is left out, and the number halved.
"""

from __future__ import annotations

from typing import Any

from ..errors import UserError


def scaler(wanted: bool, dtype: str = "float16") -> Any:
    """The keeper of the loss's multiplier where a trial wants mixed precision; None where it does not.

    Amp rewrites MXNet's operators for the rest of the process, so trials with and without do not share one.
    """
    from mxnet.contrib import amp
    from mxnet.contrib.amp.loss_scaler import LossScaler

    if not wanted:
        if amp.amp._amp_initialized:
            raise UserError(
                "this process computes in mixed precision by now; train the others in another one."
            )
        return None
    amp.init(dtype)
    return LossScaler()
