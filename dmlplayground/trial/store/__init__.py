"""The store: what trials leave behind. It is a folder with one folder for each trial, named by the trial's id:

    record.json     the configuration, versions, machine, every epoch's metrics and times, and the outcome
    trial.json      the configuration alone, to run it again
    epochs.jsonl the same epochs, one per line, written while the trial runs
    checkpoint.npz how to continue; there until the trial has ended
    fold0-member0.best.npz, .last.npz
                    weights after the best and the last epoch; the record's results say which make up which model
    samples.npz     a few test images with their neighbours and a map of the embeddings, for the report's pictures
    lock-1          there while a process trains the trial
    log.txt         what that process said, where a sweep started it

and beside them ``experiment.json``, the manifest of the sweep, and ``report``. Of a store that is kept in small there is just
``records.jsonl.gz`` with all records (``packed``). This package knows files and nothing else.
"""

from pathlib import Path

from ...base.errors import UserError

__all__ = ["BEST", "CHECKPOINT", "LAST", "existing"]

CHECKPOINT = "checkpoint.npz"
BEST, LAST = "best", "last"  # which weights are kept: those of the best epoch, and those of the last


def existing(store: str | Path) -> Path:
    """The store's folder; a UserError if there is none."""
    store = Path(store)
    if not store.is_dir():
        raise UserError(f"there is no store at {store}.")
    return store
