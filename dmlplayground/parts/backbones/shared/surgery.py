"""Exchanging layers of a finished network."""

from collections.abc import Iterator
from typing import Any

from mxnet.gluon import nn

AVERAGES = (nn.GlobalAvgPool2D, nn.AvgPool2D)


def layers(network: Any) -> Iterator[tuple[Any, str, Any]]:
    """Every layer that holds no others, with the block it is in and its name there, in the order of registration."""
    for name, child in network._children.items():
        if child._children:
            yield from layers(child)
        else:
            yield network, name, child


def last(network: Any, kinds: tuple[type, ...]) -> Any | None:
    """The last layer that is one of these."""
    found = [layer for _, _, layer in layers(network) if isinstance(layer, kinds)]
    return found[-1] if found else None


def replace(network: Any, old: Any, new: Any) -> None:
    """Replace ``old`` by ``new`` everywhere; a layer can be registered in several places."""
    for parent, name, layer in list(layers(network)):
        if layer is old:
            parent._children[name] = new
            if getattr(parent, name, None) is old:
                # Gluon's own setter insists on a block of the same class.
                object.__setattr__(parent, name, new)
