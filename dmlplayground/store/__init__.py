"""The store: what trials leave behind. A folder, with one folder a trial, named by the trial's id:

    record.json     the configuration, versions, machine, every epoch's metrics and times, and the outcome
    trial.json      the configuration alone, to run it again
    epochs.jsonl    the same epochs, a line each, written while the trial runs
    checkpoint.npz  there until the trial has ended: how to go on
    fold0-member0.best.npz, .last.npz
                    weights after the best and the last epoch; the record's results say which make up which model
    samples.npz     a few test images with their neighbours and a map of the embeddings, for the report's pictures
    lock-1          there while a process trains the trial
    log.txt         what that process said, where a sweep started it

and beside them ``experiment.json``, the manifest of the sweep, and ``report``. This package knows files and nothing else.
"""

__all__ = [
    "BEST",
    "LAST",
    "checkpoints",
    "checks",
    "locks",
    "manifest",
    "records",
    "snapshots",
    "stream",
    "trained_weights",
]

BEST, LAST = "best", "last"  # which weights are kept: those of the best epoch, and those of the last
