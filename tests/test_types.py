"""What a type checker sees of the public names: a user's program passes the strictest check, and mistakes do not."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

PROGRAM = """\
from __future__ import annotations

import numpy as np

import dmlplayground as dml

rows = np.zeros((4, 8), np.float32)
labels = np.array([0, 0, 1, 1])
loss = dml.methods.loss("npairs", num_classes=10, embed_dim=8, l2_reg=1e-3)
value = loss(rows, labels)
names: list[str] = dml.methods.names()
title: str = dml.methods.get("npairs").title
anchors, positives, negatives = dml.mining.create("semihard").mine(rows, labels)
for batch in dml.samplers.create("pairs", labels=labels, batch_size=4, seed=1).batches(epoch=0):
    first = int(batch[0])
scores: dict[str, float] = dml.metrics.evaluate(rows, labels, ks=(1, 2))
record = dml.train({"method": "npairs", "epochs": 1}, "runs/one")
seconds: float = record.seconds
dml.sweep("quickstart", "runs/all")
model = dml.load("runs/one/npairs")
embeddings = model.embed(["a.jpg"])
epochs: int = dml.config.trial({"method": "npairs"}).epochs
settings = dml.hyperparams.load("npairs", dataset="cub200")
classes: int = dml.data.load("glyphs", split="train", classes=16).num_classes
rate: float = dml.optimizers.create("adam", lr=1e-3).lr
trainings: int = dml.protocols.create("validated", folds=4).trainings
scale: float = dml.schedules.create("constant").scale(1, epochs=4)
dml.report("runs/all")
"""
MISTAKES = (
    'dml.methods.loss("npairs", num_classes=10)',
    "dml.methods.loss(3, num_classes=10, embed_dim=8)",
    "dml.methods.names() + 1",
    'dml.methods.get("npairs").tittle',
    'dml.mining.create("semihard").find(rows, labels)',
    'dml.samplers.create("pairs", labels=labels)',
    'dml.samplers.create("pairs", labels=labels, batch_size="4")',
    'dml.train({"method": "npairs"}, "runs/one").second',
    'dml.load("runs/one/npairs").embedd(["a.jpg"])',
    'dml.config.trial({"method": "npairs"}).epoch',
    'dml.hyperparams.load("npairs")',
    "dml.data.load(7)",
    'dml.optimizers.create("adam", lr=1e-3).rate',
    'dml.trian({"method": "npairs"})',
)


def complaints(program: str, folder: Path) -> list[str]:
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line.startswith("program.py")]


@pytest.mark.slow
def test_a_program_passes_and_each_of_its_mistakes_is_seen(tmp_path):
    first = PROGRAM.count("\n") + 1
    found = complaints(PROGRAM + "\n".join(MISTAKES) + "\n", tmp_path)
    lines = {int(line.split(":")[1]) for line in found if "error" in line}
    assert lines == set(range(first, first + len(MISTAKES))), found
