"""Evaluation: arrays in, numbers out. Nothing here knows of networks, trainers or records."""

from .clustering import ami, nmi, pairwise_f1
from .engine.kmeans import KMeans, kmeans
from .engine.ranks import Ranks
from .evaluation import Evaluation, assess, bootstrap, evaluate
from .retrieval import map_at_k, map_at_r, precision_at_k, r_precision, recall_at_k

__all__ = [
    "Evaluation",
    "KMeans",
    "Ranks",
    "ami",
    "assess",
    "bootstrap",
    "evaluate",
    "kmeans",
    "map_at_k",
    "map_at_r",
    "nmi",
    "pairwise_f1",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
]
