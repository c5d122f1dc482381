"""score a trained trial, or arrays of embeddings and labels"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .. import run_summary
from ..arguments import add_engine, add_which, natural, place, ranks

EXAMPLE = "evaluate embeddings.npy labels.npy --ks 1,10,100"
PAGE = "metrics"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("target", type=place, help="a trial's folder, or embeddings (N, E) as .npy")
    command.add_argument("labels", type=place, nargs="?", help="labels (N,) as .npy, of these embeddings")
    add_which(command)
    command.add_argument("--data", help="a data set other than the trial's own")
    command.add_argument("--split", default="test", help="train or test")
    command.add_argument(
        "--metrics",
        type=lambda words: words.split(","),
        help="names from dmlplayground metrics, separated by commas (default: the trial's, or the standard ones)",
    )
    command.add_argument(
        "--ks", type=ranks, help="the K of metrics such as R@K (default: the trial's, or 1,2,4,8,16)"
    )
    command.add_argument(
        "--distance",
        choices=("euclidean", "cosine", "hamming"),
        help="default: the trial's, or euclidean for arrays",
    )
    command.add_argument(
        "--no-clustering", action="store_true", help="leave out the metrics that need clusters"
    )
    command.add_argument("--seed", type=natural, help="seed of k-means (default: that of the trial, or 0)")
    add_engine(command)


def run(arguments: Namespace) -> None:
    from ...trial.training import evaluate

    scores = evaluate(
        arguments.target,
        arguments.labels,
        which=arguments.which,
        data=arguments.data,
        split=arguments.split,
        engine=arguments.engine,
        metrics=arguments.metrics,
        ks=arguments.ks,
        clustering=False if arguments.no_clustering else None,
        distance=arguments.distance,
        seed=arguments.seed,
    )
    print(run_summary.scores(scores))
