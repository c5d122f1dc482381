"""The base of every regularizer: the regularizer as a plain object, and the registry."""

from ....base import registry
from ....base.options import NotNegative


class Regularizer(registry.Named):
    """A term that is added to any loss, times ``weight``.

    A subclass writes ``hybrid_forward(self, F, embeddings, labels)``, which returns one number, (1,).

    >>> dml.regularizers.create("embedding_norm", weight=0.01, power=2).weight
    0.01
    """

    kind = "regularizer"

    dtype = "float32"

    weight: NotNegative

    def hybrid_forward(self, F, embeddings, labels):
        raise NotImplementedError


KIND: registry.Kind[registry.Part, Regularizer] = registry.Kind(
    "regularizer", "dmlplayground.parts.regularizers", setting="regularizers"
)
