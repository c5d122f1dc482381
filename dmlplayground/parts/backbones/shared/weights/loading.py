"""Loading arrays into a network: all of its parameters or none; arrays that do not fit are named."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .....base.errors import UserError


def load(network: Any, arrays: dict[str, np.ndarray], source: object) -> None:
    """Load the arrays into the network: every parameter must be there, and only the classifier's may be left over."""
    own = by_path(network) if any("." in name for name in arrays) else by_name(network)
    check(own, arrays, source, getattr(network, "left_out", ()))
    for name in own:
        if not np.isfinite(arrays[name]).all():
            raise UserError(f"{source}: {name} holds values that are not finite.")
    from mxnet import nd

    for name, parameter in own.items():
        parameter.set_data(nd.array(arrays[name].astype(np.float32)))


def check(
    own: Mapping[str, Any], arrays: Mapping[str, np.ndarray], source: object, left_out: Collection[str] = ()
) -> None:
    """Raise UserError unless the arrays are those of the parameters ``own``, in names and shapes."""
    missing = [name for name in own if name not in arrays]
    extra = [name for name in arrays if name not in own and name not in left_out]
    if missing or extra:
        raise UserError(
            f"{source} does not fit this network. Missing: {_some(missing)}. Not part of it: {_some(extra)}."
        )
    for name, parameter in own.items():
        if parameter.shape != arrays[name].shape:
            raise UserError(
                f"{source}: {name} has the shape {arrays[name].shape}; this network needs {parameter.shape}."
            )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:8]) or "nothing"
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def published(network: Any) -> dict[str, Any]:
    """The network's parameters by the names of its published file: those of MXNet's symbolic networks
    are the parameters' own (``conv_1_weight``), those of Gluon's are paths (``layer1.0.conv1.weight``)."""
    return by_name(network) if network.prefix == "" else by_path(network)


def by_path(network: Any) -> dict[str, Any]:
    return network._collect_params_with_prefix()


def by_name(network: Any) -> dict[str, Any]:
    return {name[len(network.prefix) :]: parameter for name, parameter in network.collect_params().items()}
