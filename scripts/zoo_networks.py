"""Keeps the facts of every network of Gluon's and gluoncv's zoos: python scripts/zoo_networks.py

Do so when the release of a library changes.
"""

import re
from typing import Any

from dmlplayground.base import files
from dmlplayground.parts.backbones.shared import gluon_zoos, zoo_records
from dmlplayground.parts.backbones.shared.weights.sources import ZOOS

CLASSIFIES = re.compile(
    r"(se_|cifar_)?(alexnet|darknet|densenet|dla|googlenet|inceptionv3|mobilenet|nasnet|res(idualattention)?ne[sx]?t|senet|"
    r"shufflenet|squeezenet|vgg|wideresnet|xception)(?!.*(_gn|custom|hmdb51|int8|kinetics|sthsth|ucf101)).*|hrnet_.*_c"
)


def names(library: str) -> list[str]:
    """The zoo's image classification networks; gluoncv has others too."""
    if library == "gluoncv":
        return sorted(name for name in gluon_zoos.zoo(library).get_model_list() if CLASSIFIES.fullmatch(name))
    try:
        gluon_zoos.zoo(library).get_model("")
    except ValueError as listing:  # the zoo lists its networks only in this error
        return str(listing).split("\n\t")[1:]
    raise AssertionError("a network without a name")


def facts(library: str, name: str) -> dict[str, Any]:
    """What a zoo's network is, found by building it."""
    from mxnet.gluon.model_zoo import model_store

    checksums = dict(model_store._model_sha1)
    if library == "gluoncv":
        checksums.update(gluon_zoos.zoo(library).model_store._model_sha1)
    shape = gluon_zoos.output_shape(gluon_zoos.trunk(library, name), zoo_records.preprocessing(name).size)
    return {"features": shape[1], "weights": checksums.get(name, "")}


def all_facts() -> dict[str, dict[str, dict[str, Any]]]:
    return {library: {name: facts(library, name) for name in names(library)} for library in ZOOS}


if __name__ == "__main__":
    files.write_json(zoo_records.FILE, all_facts())
