"""score a trained trial, or arrays of embeddings and labels"""

from __future__ import annotations

from pathlib import Path

from .. import outcomes
from ..arguments import add_engine, ranks

EXAMPLE = "evaluate embeddings.npy labels.npy --ks 1,10,100"


def add_arguments(command) -> None:
    command.add_argument("target", type=Path, help="a trial's folder, or embeddings (N, E) as .npy")
    command.add_argument("labels", type=Path, nargs="?", help="labels (N,) as .npy, of these embeddings")
    command.add_argument(
        "--which",
        choices=("best", "last"),
        default="best",
        help="which of a trial's weights (default: %(default)s)",
    )
    command.add_argument("--data", help="another data set than the trial's own")
    command.add_argument("--split", default="test", help="train or test (default: %(default)s)")
    command.add_argument(
        "--ks", type=ranks, default=(1, 2, 4, 8, 16), help="ranks of Recall@K (default: 1,2,4,8,16)"
    )
    command.add_argument(
        "--distance",
        choices=("euclidean", "cosine", "hamming"),
        help="default: the trial's, or euclidean for arrays",
    )
    command.add_argument("--no-clustering", action="store_true", help="leave out NMI, AMI and F1")
    command.add_argument("--seed", type=int, default=0, help="of k-means (default: %(default)s)")
    add_engine(command)


def run(arguments) -> None:
    from ...training import scoring

    shared = {
        "ks": arguments.ks,
        "clustering": not arguments.no_clustering,
        "seed": arguments.seed,
    }
    if arguments.labels is not None:
        distance = arguments.distance or "euclidean"
        scores = scoring.of_arrays(arguments.target, arguments.labels, distance=distance, **shared)
    else:
        scores = scoring.of_trial(
            arguments.target,
            which=arguments.which,
            data=arguments.data,
            split=arguments.split,
            distance=arguments.distance,
            engine=arguments.engine,
            **shared,
        )
    print(outcomes.scores(scores))
