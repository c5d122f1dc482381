"""MLflow: a run for each trial, on the server that $MLFLOW_TRACKING_URI names, else in the folder mlruns of the store.

A store is an experiment there. MLflow 3 calls such folders old and wants a sign that they are meant: so to look at one,
``MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri runs/quickstart/mlruns``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ....base import files, optional
from ...config import Trial, dotted
from ...store import locks

# Tags of a run: whose it is, and the last step that it has.
TRIAL, STEP = "dmlplayground.trial", "dmlplayground.step"
LONGEST = 500  # characters of a parameter's value


class Tracker:
    """A continued trial is the same run: it is known by its tag."""

    program = "MLflow"

    def __init__(self) -> None:
        self._mlflow = optional.load("mlflow")
        self._run = ""

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        store = held.folder.parent.resolve()
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        home = os.environ.get("MLFLOW_TRACKING_URI") or (store / "mlruns").as_uri()
        self._client = self._mlflow.MlflowClient(home)
        with files.alone(held.folder.parent / "mlruns", "set MLFLOW_TRACKING_URI to another place"):
            self._run, self._last = self._found(trial, str(store))
        self._client.update_run(self._run, status="RUNNING")

    def _found(self, trial: Trial, store: str) -> tuple[str, int]:
        """The trial's run, made now if there is none, and the last step that it has."""
        known = self._client.get_experiment_by_name(store)
        experiment = known.experiment_id if known else self._client.create_experiment(store)
        runs = self._client.search_runs([experiment], f"tags.`{TRIAL}` = '{trial.id}'")
        if runs:
            return runs[0].info.run_id, int(runs[0].data.tags.get(STEP, -1))
        run = self._client.create_run(experiment, run_name=trial.id, tags={TRIAL: trial.id}).info.run_id
        for key, value in dotted(trial.mapping()).items():
            self._client.log_param(run, _name(key), str(value)[:LONGEST])
        return run, -1

    def write(self, step: int, values: Mapping[str, float]) -> None:
        if step <= self._last:
            return
        for name, value in values.items():
            self._client.log_metric(self._run, _name(name), value, step=step)
        self._client.set_tag(self._run, STEP, str(step))

    def end(self) -> None:
        if self._run:
            self._client.set_terminated(self._run)


def _name(name: str) -> str:
    """With what MLflow allows in a name: ``R@1`` is ``R_1`` there."""
    return re.sub(r"[^\w\-. /]", "_", name)
