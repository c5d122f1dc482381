"""Evaluation: arrays in, numbers out. Nothing here knows of networks, trainers or records.

Each metric is a function in a file of this package; ``table`` says what a file states of it. Reading the table imports
neither MXNet nor scikit-learn, SciPy or numba: a metric imports what it needs when it is computed.
"""

from ...base.ray_nodes import on_ray
from .average_precision import map_at_k, map_at_r, map_within_k, mean_average_precision
from .class_density import density
from .mutual_information import ami, nmi, nmi_geometric
from .pairwise_f1 import pairwise_f1
from .precision import precision_at_k, r_precision
from .recall import recall_at_k
from .shared.engine.kmeans import KMeans, kmeans
from .shared.engine.ranks import Ranks
from .shared.evaluation import Evaluation, assess, evaluate
from .shared.intervals import bootstrap, normal
from .shared.table import (
    CRITERION,
    KIND,
    KS,
    STANDARD,
    Metric,
    among,
    chosen,
    first,
    headline,
    leading,
    of_trial,
)
from .spectrum import rho_spectrum

names, get = KIND.names, KIND.get

__all__ = [
    "KIND", "KS", "CRITERION", "STANDARD", "Evaluation", "KMeans", "Metric", "Ranks", "ami", "among", "assess", "bootstrap",
    "chosen", "density", "evaluate", "first", "get", "headline", "kmeans", "leading", "map_at_k", "map_at_r", "map_within_k",
    "mean_average_precision", "names", "nmi", "nmi_geometric", "normal", "of_trial", "on_ray", "pairwise_f1", "precision_at_k",
    "r_precision", "recall_at_k", "rho_spectrum",
]  # fmt: skip
