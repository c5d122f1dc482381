"""The records of ``gluon:NAME`` and ``gluoncv:NAME``, which have no files here. What they say is kept in
``zoo_networks.json``, so that commands that list or check need not load MXNet and build a network.
``scripts/zoo_networks.py`` writes that file, and a test holds it against the libraries."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ....base import files
from ....base.errors import unknown
from .base import IMAGENET, Backbone, Preprocessing
from .weights.sources import Download, Homes

FILE = Path(__file__).with_name("zoo_networks.json")
CIFAR10 = Preprocessing(32, mean=(125.31, 122.95, 113.87), std=(51.59, 50.85, 51.26))
SIZES = {"inceptionv3": 299, "xception": 299, "nasnet_6": 331}  # pixels a side, of the others 224


@cache
def kept() -> dict[str, dict[str, dict[str, Any]]]:
    """What has to be known of every network before it is built, by library and name: how many ``features`` it has, and the
    SHA-1 of the library's trained ``weights``, which is empty if it has none."""
    return files.read_json(FILE)


@cache
def record(library: str, name: str) -> Backbone:
    """The facts of a zoo's network as a backbone's."""
    if library not in kept():
        raise unknown("zoo of networks", library, kept())
    if name not in kept()[library]:
        raise unknown(f"network of {library}", name, kept()[library])

    def build() -> Any:
        return trunk(library, name)

    facts = kept()[library][name]
    build.__doc__ = f"The network {name} of {library}'s zoo, without its classifier."
    return Backbone(
        key=f"{library}:{name}",
        title=f"{name} of {library}",
        build=build,
        features=facts["features"],
        preprocessing=preprocessing(name),
        imagenet=Homes(weights(library, name), licence="Apache-2.0") if facts["weights"] else None,
    )


def weights(library: str, network: str, note: str = "") -> Download:
    """The trained weights of a zoo's network, as the library's own table has them."""
    sha1 = kept()[library][network]["weights"]
    name = f"{network}-{sha1[:8]}"
    return Download(f"{library}:{name}.zip", f"{name}.params", content=sha1, note=note)


def trunk(library: str, network: str) -> Any:
    """The zoo's network from images to features, not initialised."""
    from . import gluon_zoos  # loads MXNet

    return gluon_zoos.trunk(library, network)


def preprocessing(name: str) -> Preprocessing:
    """What a zoo's network was trained with."""
    if name.startswith("cifar"):
        return CIFAR10
    size = next((size for start, size in SIZES.items() if name.startswith(start)), IMAGENET.size)
    return replace(IMAGENET, size=size)
