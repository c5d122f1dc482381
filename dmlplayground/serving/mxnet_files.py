"""A trained embedding network as files that plain MXNet reads, and that we read back.

    NAME.json                            what it is: its trial and its files
    NAME-symbol.json, NAME-0000.params   the network, from uint8 images (B, H, W, 3) to embeddings (B, E);
                                         of an ensemble NAME-0-symbol.json, NAME-0-0000.params and so on

Normalisation is part of the network; resizing and cropping are not. ``NAME.json`` says the height and width (``input``)
of the images that it was tested with, and images of other sizes give poor embeddings:

    network = mxnet.gluon.SymbolBlock.imports("NAME-symbol.json", ["data"], "NAME-0000.params")
    embeddings = network(mxnet.nd.array(images, dtype="uint8"))
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mxnet import MXNetError, cpu, gluon, nd, sym

from ..base import files
from ..base.errors import UserError
from ..parts.backbones.shared.engines import extract
from ..parts.backbones.shared.weights import formats
from ..trial import config

FORMAT = "dmlplayground embedding network"


def write(learners: Sequence[Any], target: Path, size: tuple[int, int]) -> list[Path]:
    """Export the learners side by side; ``target`` has no suffix, ``size`` is the height and width of the images they take."""
    trial, members = learners[0].trial, []
    description = target.with_name(f"{target.name}.json")
    written = [description]
    with files.replacing_all() as begin:
        for number, learner in enumerate(learners):
            name = target.name if len(learners) == 1 else f"{target.name}-{number}"
            symbol, params = (target.with_name(name + end) for end in ("-symbol.json", "-0000.params"))
            graph = learner.network(sym.var("data", dtype="uint8"))
            statistics, arrays = graph.list_auxiliary_states(), {}
            for key, parameter in learner.network.collect_params().items():
                kind = "aux" if key in statistics else "arg"
                arrays[f"{kind}:{key}"] = parameter.list_data()[0].as_in_context(cpu())
            begin(symbol).write(graph.tojson())
            formats.dump(arrays, begin(params, "wb"))
            member = {"symbol": symbol.name, "params": params.name}
            members.append({**member, "width": learner.width, "fold": learner.fold})
            written += [symbol, params]
        described = {
            "format": FORMAT,
            "config": trial.mapping(),
            "members": members,
            "distance": trial.evaluation.distance,
            "input": {"height": size[0], "width": size[1], "channels": "rgb", "type": "uint8"},
        }
        files.dump_json(described, begin(description))
    return written


class Exported:
    """One exported network, which embeds as a learner does."""

    def __init__(self, trial: config.Trial, folder: Path, member: dict[str, Any]):
        symbol, params = str(folder / member["symbol"]), str(folder / member["params"])
        try:
            self.network = gluon.SymbolBlock(sym.load(symbol), sym.var("data", dtype="uint8"))
            self.network.collect_params().load(params, ctx=cpu())
        except (MXNetError, OSError, ValueError, AssertionError) as problem:
            # MXNet's own words are a traceback of its C++, whose last line says most.
            why = (str(problem).strip().splitlines() or [type(problem).__name__])[-1].strip().rstrip(".")
            what = f"{symbol} and {params} are not an exported network, or are damaged"
            raise UserError(f"{what}: {why}.") from None
        self.network.hybridize(static_alloc=True, static_shape=True)
        self.extractor: Any = self.network
        self.trial = trial
        self.width, self.fold = int(member["width"]), int(member["fold"])

    def embed(self, blocks: Iterable[np.ndarray]) -> np.ndarray:
        return extract(self.extractor, (nd.array(block, dtype="uint8") for block in blocks), self.width)


def read(description: Path) -> list[Exported]:
    """The networks described in that file by ``write``."""
    content = files.read_json(description)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UserError(f"{description} does not describe an exported network.")
    trial = config.trial(content["config"])
    return [Exported(trial, description.parent, member) for member in content["members"]]
