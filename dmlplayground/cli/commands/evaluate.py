"""score a trained trial, or arrays of embeddings and labels"""

from .. import run_summary
from ..arguments import Command, Namespace, add_which, natural, place, ranks

EXAMPLE = "evaluate embeddings.npy labels.npy --ks 1,10,100"
PAGE = "metrics"


def add_arguments(command: Command) -> None:
    command.takes("target", "a trial's folder, or embeddings (N, E) as .npy", place)
    command.takes("labels", "labels (N,) as .npy, of these embeddings", place, nargs="?")
    add_which(command)
    command.takes("--data", "a data set other than the trial's own")
    command.takes("--split", "train or test", default="test")
    about = "names from dmlplayground metrics, comma-separated (default: the trial's, or the standard ones)"
    command.takes("--metrics", about, lambda words: words.split(","))
    command.takes("--ks", "the K of metrics such as R@K (default: the trial's, or 1,2,4,8,16)", ranks)
    distances = ("euclidean", "cosine", "hamming")
    command.takes("--distance", "default: the trial's, or euclidean for arrays", choices=distances)
    command.flag("--no-clustering", "leave out the metrics that need clusters")
    command.takes("--seed", "seed of k-means (default: that of the trial, or 0)", natural)


def run(arguments: Namespace) -> None:
    from ...trial.training import evaluate

    names = ("which", "data", "split", "engine", "metrics", "ks", "distance", "seed")
    how = {name: getattr(arguments, name) for name in names}
    clustering = False if arguments.no_clustering else None
    print(run_summary.scores(evaluate(arguments.target, arguments.labels, clustering=clustering, **how)))
