"""A trained model: the networks of a trial, or exported ones, side by side."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import UserError, unknown
from ..parts import transforms
from ..parts.backbones.shared.engines import Engine
from ..parts.data import Dataset
from ..parts.transforms.shared.stored import Stored
from ..trial.store import BEST
from ..trial.training import folds, models, scoring
from . import card, expansion, image_inputs, matching, mxnet_files
from .index import Index
from .neighbours import unit

FORMATS = ("mxnet", "onnx")
ANY_SIZE = "images (B, H, W, 3) of uint8 in RGB and of any size"  # what a graph that resizes takes


class Model:
    """The model that ``dml.load`` returns.

    ``width`` is how many numbers an embedding has, ``distance`` how near two of them are measured to be, ``trial`` the
    configuration that was trained.
    """

    def __init__(self, target: Path, which: str = BEST, engine: str = "float32"):
        self.source = target
        self.members: Sequence[Any] = (
            mxnet_files.read(target) if target.suffix == ".json" else scoring.learners(target, which)
        )
        for member in self.members:
            member.extractor = Engine(member.network, engine)
        self.trial = self.members[0].trial
        if self.trial.head.reduction == "components":
            raise UserError(
                f"{target}: images are reduced together there (head.reduction components); others cannot join them."
            )
        self.width = sum(member.width for member in self.members)
        self.distance = self.trial.evaluation.distance
        self.transform = transforms.create(**self.trial.transform)

    def __repr__(self) -> str:
        return f"Model({self.source}: {self.width} numbers an image)"

    @cached_property
    def digest(self) -> str:
        """A digest of all weights, the same for a trial and its export."""
        whole = hashlib.sha256()
        for member in self.members:
            arrays = (each.list_data()[0].asnumpy() for each in member.network.collect_params().values())
            digests = sorted(hashlib.sha256(array.tobytes()).hexdigest() for array in arrays)
            whole.update("".join(digests).encode())
        return whole.hexdigest()

    def embed(self, given: image_inputs.Given, threads: int = 1) -> np.ndarray:
        """Embeddings (N, width) of images, prepared exactly as the trial's test images were.

        ``given``: a file or a folder, a list of files, arrays (H, W, 3) of uint8 in RGB and of any sizes, or a data set.
        """
        return self.embed_dataset(image_inputs.read(given, self.stored).dataset, threads)

    def embed_dataset(self, dataset: Dataset, threads: int = 1) -> np.ndarray:
        return models.embed(self.members, dataset, self.transform, threads)

    def search(self, gallery: image_inputs.Given) -> Index:
        """An index of these images, to search in: ``model.search("photos").find("query.jpg", count=5)``."""
        index = Index.make(self)
        index.add(gallery)
        return index

    index = search

    def _apart(self) -> tuple[list[tuple[Sequence[Any], Dataset]], bool]:
        """Networks with images of classes that they were not trained on: each fold's with those that were kept back from
        it, or all with the test images; and whether there are any kept back."""
        kept = folds.kept_back(self.trial)
        if not kept:
            return [(self.members, models.data_of(self.trial, "test")[0])], False
        own = {fold: [member for member in self.members if member.fold == fold] for fold in kept}
        return [(own[fold], dataset) for fold, dataset in kept.items() if own[fold]], True

    def unseen(self) -> tuple[Dataset, str]:
        """Images to measure a choice on, and what they are: the first fold's classes kept back, or else the test classes."""
        groups, kept = self._apart()
        what = "classes kept back from training" if kept else "test classes"
        return groups[0][1], f"{self.trial.data['name']} ({what})"

    def gain_of_expansion(self, expand: int) -> expansion.Gain:
        """What searching once more with the mean of ``expand`` neighbours brings, on the trial's validation classes, each
        fold's networks on those kept back from them; or on the test classes, if there are none."""
        _, measured_on = self.unseen()
        parts = []
        for members, dataset in self._apart()[0]:
            embeddings = models.embed(members, dataset, self.transform)
            parts.append(expansion.gain(embeddings, dataset.labels, self.distance, expand, measured_on))
        return expansion.mean(parts)

    def threshold(
        self, given: image_inputs.Given | None = None, false_accepts: float = 0.01
    ) -> matching.Threshold:
        """The distance up to which two images match, set on images of known classes.

        ``given``: a folder with a folder for every class, or a data set. Without it, the trial's validation classes: each
        fold's networks are looked at on the classes that were kept back from them, and ``matching.joined`` puts the
        folds' distances together. A trial without validation classes takes its test images. ``false_accepts`` is the
        share of pairs of different classes that may be taken for matches.
        """
        matching.check_share(false_accepts)
        if given is not None:
            dataset, _, classes, _ = image_inputs.read(given, self.stored)
            embeddings = self.embed_dataset(dataset)
            return matching.calibrate(embeddings, classes, self.distance, false_accepts, str(given))
        groups, kept = self._apart()
        name, kind, parts = self.trial.data["name"], self.distance, []
        measured_on = f"the validation classes of {name}" if kept else f"{name} (test classes)"
        for members, dataset in groups:
            embeddings = models.embed(members, dataset, self.transform)
            if len(members) < len(self.members):
                embeddings = unit(embeddings)  # as they stand beside those of the other folds
            parts.append(matching.calibrate(embeddings, dataset.labels, kind, false_accepts, measured_on))
        if len(parts) > 1:
            measured_on += ", the networks of each fold alone on those kept back from it"
        return matching.joined(parts, kind, measured_on)

    def export(
        self, path: str | Path, form: str = "mxnet", resize: bool = False, eight_bit: bool = False
    ) -> list[Path]:
        """Write the model for other programs, and a card of it (``.md``). Returns the files that were written, the card last.

        ``mxnet``: for plain MXNet, and for ``dml.load``; ``path`` is without a suffix. ``onnx``: one graph for ONNX
        Runtime and the like; ``resize`` lets it take images of any size, and ``eight_bit`` makes it a quarter as large:
        the card says what that costs.
        """
        if form not in FORMATS:
            raise unknown("format", form, FORMATS)
        if not Path(path).name:
            raise UserError(f"{path} is a folder: add the name of the network to write.")
        if form == "onnx":
            from . import onnx_file  # needs the extra "onnx"

            network, cost = onnx_file.write(self, Path(path), resize, eight_bit)
            return [network, card.write(self, [network], ANY_SIZE if resize else self.takes, cost)]
        if resize or eight_bit:
            what = "include the resizing" if resize else "have eight bits"
            raise UserError(f"only an ONNX file can {what}; export with --format onnx.")
        written = mxnet_files.write(self.members, Path(path), self.input_size)
        return [*written, card.write(self, written, self.takes)]

    @property
    def takes(self) -> str:
        """The images that an exported network is given."""
        height, width = self.input_size
        return f"images (B, {height}, {width}, 3) of uint8 in RGB: resize to {self.stored.describe()}, then cut out the centre"

    @property
    def input_size(self) -> tuple[int, int]:
        """Height and width of the images that enter the network, after resizing and cropping."""
        stored, size = self.stored, self.trial.data.get("size")
        if stored.resize == "none" and not isinstance(size, int):
            raise UserError(
                "this trial takes images of any size, but other programs need a fixed one: "
                "train with a transform that resizes or crops."
            )
        side = int(size or 0) if stored.resize == "none" else stored.size
        height, width = self.transform.test_shape(np.empty((0, side, side, 3), np.uint8))
        return int(height), int(width)

    @property
    def stored(self) -> Stored:
        """How an image is resized before its crop. If the trial's data had a size of their own, images get that size."""
        size = self.trial.data.get("size")
        stored = self.transform.stored_for_test
        if stored.resize == "none" and isinstance(size, int):
            return Stored("squash", size)
        return stored
