"""Converting weights from elsewhere, and checking that weights are what they should be."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .....base import seeds
from .....base.errors import UserError
from .....base.files import digest
from ... import build, create, get, weights_path
from . import formats, loading, parameter_names


class Converted(NamedTuple):
    backbone: str
    naming: str
    parameters: int
    left_out: list[str]


def convert(source: Path, target: Path, backbone: str | None = None) -> Converted:
    """Write the weights in ``source``, in any format and naming known here, as ``.params`` of a backbone."""
    arrays, naming, beside = parameter_names.recognise(formats.read(source))
    candidates = (backbone,) if backbone else naming.backbones if naming else ()
    if not candidates:
        known = ", ".join(naming.title for naming in parameter_names.NAMINGS)
        raise UserError(
            f"{source} has none of the parameter names known here ({known}); say which --backbone it is for."
        )
    from mxnet import init

    problems = []
    for name in candidates:
        network = build(get(name), init.Zero())
        try:
            loading.load(network, arrays, source)
            break
        except UserError as problem:
            problems.append(f"{name}: {problem}")
    else:
        raise UserError("\n".join(problems))
    formats.write(target, network)
    kept = {*loading.by_path(network), *loading.by_name(network)}
    left_out = sorted(beside + [array for array in arrays if array not in kept])
    return Converted(name, naming.title if naming else "our own names", count(network), left_out)


def count(network: Any) -> int:
    """Numbers that are learned."""
    learned = (one for one in network.collect_params().values() if one.grad_req != "null")
    return sum(int(np.prod(parameter.shape)) for parameter in learned)


class Verified(NamedTuple):
    path: Path
    sha256: str
    parameters: int
    features: tuple[float, float]  # least and greatest, of images of noise


def verify(backbone: str, pretrained: str) -> Verified:
    """Load all weights, and look at the features of a few preprocessed images whose pixels are independent and uniform."""
    from mxnet import nd

    record = get(backbone)
    path = weights_path(record, pretrained)
    if path is None or record.preprocessing is None:
        raise UserError("there is nothing to verify in pretrained: none; give imagenet or a file.")
    network = create(backbone, pretrained=str(path))
    size = (2, 3, record.preprocessing.size, record.preprocessing.size)
    pixels = seeds.generator(0, "images of noise").integers(0, 256, size)
    mean, std = np.reshape((record.preprocessing.mean, record.preprocessing.std), (2, 1, 3, 1, 1))
    images = nd.array(((pixels - mean) / std).astype(np.float32))
    features = network(images).asnumpy()
    if not np.isfinite(features).all():
        raise UserError(f"{path}: the features of a noise image are not finite.")
    extent = (float(features.min()), float(features.max()))
    return Verified(path, digest(path), count(network), extent)
