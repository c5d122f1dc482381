from typing import Literal

from ...base.options import Positive
from ..graph import classes
from .shared import KIND, LENGTH, OWN_RATE, Loss, about, initial_weights, one_of


def meta_classes_of(count: int, balanced: bool) -> initial_weights.Fill:
    """A meta-class for every class: dealt out evenly in random order, or each drawn by itself."""

    def fill(nd, array):
        draws = nd.random.uniform(shape=array.shape, ctx=array.context)
        array[:] = nd.argsort(draws) % count if balanced else nd.floor(draws * count).clip(0, count - 1)

    return fill


@KIND.register(
    title="DREML",
    year=2018,
    paper="Xuan, Souvenir and Pless: Deep Randomized Ensembles for Metric Learning, ECCV 2018",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": True, "init": "truncnorm", "init_scale": 0.001},
    defaults={
        "embed_dim": 12,
        "batch_size": 128,
        "epochs": 12,
        "optimizer": {"name": "adam", "lr": 1e-2, "weight_decay": 5e-4, "epsilon": 1e-2},
        "schedule": {"factor": 0.1, "steps": [4, 8]},
        "ensemble": {"members": 12, "order": "sequential"},
        "evaluation": {"distance": "cosine", "every": 12},
    },
    ranges={
        "method.static_proxies": one_of(False, True, note="the released script has both"),
        "method.scale": about(3.0, "the study 3"),
        **LENGTH,
        **OWN_RATE,
    },
)
class DREML(Loss):
    """An ensemble of small embeddings, each of which tells apart a random grouping of the classes.

    This is the loss of one member. ``class_map`` takes each class to one of ``meta_classes`` (as many as the
    embedding is wide, if not given); it is drawn when the loss is initialised, saved with the weights and
    never learned. Then

        L = mean over rows i of  D_im + log sum_{k != m} exp(-D_ik)

    with D_ik = scale^2 |x_i - p_k|^2 / temperature and m = class_map[y_i]: proxy-NCA over the meta-classes.
    With ``static_proxies`` it is the softmax cross-entropy of the embedding itself, one dimension a
    meta-class (a head with ``normalize: false`` then, as the released code has).

    The embedding of an image is that of all members in a row, compared by cosine; ``ensemble.members`` says
    how many. The paper's values: 12 members of 12 dimensions in the study's table, 48 x 12 in its script;
    meta-classes dealt evenly.

    The released code draws every class's meta-class by itself, so that groups may be very unequal or empty,
    and evaluates after every member, reporting the best number of members on the test set. ``class_map:
    independent`` draws as it did; we report all members.

    meta_classes: how many groups of classes; null: as many as the embedding is wide.
    class_map: how classes are dealt to groups: balanced: evenly; independent: each by itself, as in the released code.
    static_proxies: a softmax of the embedding itself, one dimension a group, instead of learned proxies.
    scale: distances are as between vectors of this length.
    temperature: what squared distances are divided by.
    """

    reads = "rows"

    meta_classes: int | None = None
    class_map: Literal["balanced", "independent"] = "balanced"
    static_proxies: bool = False
    scale: Positive = 3.0
    temperature: Positive = 1.0

    def __post_init__(self) -> None:
        self.groups = self.embed_dim if self.meta_classes is None else self.meta_classes
        self.require(self.groups >= 2, f"meta_classes must be at least 2, not {self.groups}.")
        self.sharpness = 2 * self.scale**2 / self.temperature
        drawn = meta_classes_of(self.groups, balanced=self.class_map == "balanced")
        self.weight("class_map", (self.num_classes,), drawn, learned=False)
        if not self.static_proxies:
            # Only their direction matters, since the loss sets their length.
            self.weight("proxies", (self.groups, self.embed_dim), initial_weights.normal(0.01 / 8))

    def check(self, rows, width):
        classes.check_width(self, width, self.groups if self.static_proxies else self.embed_dim)

    def hybrid_forward(self, F, embeddings, labels, weights, class_map, proxies=None):
        meta = F.take(class_map, labels)
        if self.static_proxies:
            return classes.cross_entropy(F, embeddings, meta, self.groups, weights=weights)
        logits = classes.nearness(F, embeddings, proxies, self.groups, self.sharpness)
        hidden = classes.hide_own(F, meta, self.groups, self.dtype)
        return classes.cross_entropy(F, logits, meta, self.groups, hidden=hidden, weights=weights)
