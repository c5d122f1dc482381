"""A real Ray cluster of several nodes on this machine: the same numbers as without it, also when a node is lost."""

import functools
import threading
import time

import numpy as np
import pytest
from sweeps_fixture import SMALL, numbers

from dmlplayground import config, metrics
from dmlplayground.base.errors import UserError
from dmlplayground.sweeps import executors, local, runner
from dmlplayground.trial.store import locks, records, stream

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'dmlplayground[ray]'")
pytestmark = pytest.mark.slow

BASE = {
    **SMALL,
    "method": "proxy_nca",
    "iterations": 6,
    "evaluation": {"clustering": False, "every": 20},
}


@pytest.fixture
def cluster():
    """A head without room for trials, and two nodes with room for one each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    cluster.nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def trials(epochs: int, seeds: int) -> list:
    return [config.trial({**BASE, "epochs": epochs, "seed": seed}) for seed in range(seeds)]


def test_the_same_numbers_when_a_node_is_lost_in_the_middle(tmp_path, cluster, capsys):
    wanted = trials(epochs=150, seeds=3)
    executor = executors.create("ray", cluster.address)
    assert executor.slots == 2

    def lose_a_node():
        """Once both run: everything of one node ends at once, as when its power fails."""
        while sum(path.read_text().count("\n") > 3 for path in tmp_path.glob(f"ray/*/{stream.FILE}")) < 2:
            time.sleep(0.02)
        cluster.remove_node(cluster.nodes[0], allow_graceful=False)

    threading.Thread(target=lose_a_node, daemon=True).start()
    runner.run(tmp_path / "ray", wanted, executor)
    told = capsys.readouterr().out
    assert "was lost with its node" in told
    assert "continuing after epoch" in told
    runner.run(tmp_path / "local", wanted, local.Local(), quiet=True)
    assert len(numbers(tmp_path / "ray")) == 3
    assert numbers(tmp_path / "ray") == numbers(tmp_path / "local")


def test_stopping_keeps_the_epochs(tmp_path, cluster, monkeypatch):
    wanted = trials(epochs=2000, seeds=2)
    executor = executors.create("ray", cluster.address)

    def stop_when_both_run(self):
        if all(job.epochs > 1 for job in self.running) and len(self.running) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(runner.Runner, "_show", stop_when_both_run)
    with pytest.raises(KeyboardInterrupt):
        runner.run(tmp_path, wanted, executor, quiet=True)
    assert {record.status for record in records.load_store(tmp_path)} == {"interrupted"}
    assert all(locks.current(tmp_path / trial.id) is None for trial in wanted)


LOSS = '''
from dmlplayground.parts.methods.shared.base import KIND, Loss


@KIND.register(title="Pull and push", paper="None.", year=2026)
class OwnLoss(Loss):
    """Squared distances of one class, less those of others.

    reach: how far others are pushed.
    """

    def __init__(self, num_classes, embed_dim, *, reach: float = 1.0):
        super().__init__(num_classes, embed_dim)
        self.reach = reach

    def hybrid_forward(self, F, embeddings, labels):
        apart = F.broadcast_sub(F.expand_dims(embeddings, 0), F.expand_dims(embeddings, 1))
        apart = F.sum(F.square(apart), axis=2)
        same = F.broadcast_equal(F.expand_dims(labels, 0), F.expand_dims(labels, 1))
        return F.mean(F.where(same, apart, F.relu(self.reach - apart)))
'''
COMMAND = """
import json, sys, time
from pathlib import Path
import numpy as np

job = json.loads(Path(sys.argv[1]).read_text())
images = np.load(job["images"])
flat = images.reshape(len(images), -1)[:, : job["embed_dim"]] / 255
for epoch in job["evaluate"]:
    if job["done"] is None or epoch > job["done"]:
        time.sleep(0.3)
        np.save(Path(job["output"], f"epoch-{epoch}.npy"), flat + epoch * job["settings"]["method"]["step"])
        Path(job["output"], f"epoch-{epoch}.json").write_text(json.dumps({"images": 12 if epoch else 0}))
"""


def outsiders(folder, kind: str) -> list:
    """Trials of a loss of one's own, or of a command."""
    file = folder / f"{kind}.py"
    if kind == "own_loss":
        file.write_text(LOSS)
        own = {"method": {"name": kind, "reach": 2.0}, "parts": [str(file)], "epochs": 100}
    else:
        file.write_text(COMMAND)
        trainer = {"command": f"python {file} {{job}}", "seconds": 120}
        every = {"evaluation": {"clustering": False, "every": 1}}
        own = {
            "method": {"name": kind, "step": 0.5},
            "trainer": trainer,
            "epochs": 8,
            "iterations": 1,
        } | every
    return [config.trial({**BASE, **own, "seed": seed}) for seed in range(2)]


@pytest.mark.parametrize("kind", ["own_loss", "own_command"])
def test_what_is_from_outside_is_killed_and_goes_on(tmp_path, cluster, monkeypatch, kind):
    """The runner dies in the middle, and the file is gone from its place: the nodes have the store's copy."""
    wanted = outsiders(tmp_path, kind)
    store, file = tmp_path / "ray", tmp_path / f"{kind}.py"

    def stop_when_one_runs(self):
        if any(job.epochs > 1 for job in self.running):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runner.Runner, "_show", stop_when_one_runs)
        runner.run(store, wanted, executors.create("ray", cluster.address), quiet=True)
    assert {record.status for record in records.load_store(store)} == {"interrupted"}
    file.rename(tmp_path / "elsewhere.py")
    runner.run(store, wanted, executors.create("ray", cluster.address), quiet=True)
    (tmp_path / "elsewhere.py").rename(file)
    assert len(numbers(store)) == 2
    runner.run(tmp_path / "local", wanted, local.Local(), quiet=True)
    assert numbers(store) == numbers(tmp_path / "local")


def test_an_evaluation_in_blocks_on_two_nodes(tmp_path, cluster):
    random = np.random.default_rng(0)
    points, labels = random.normal(size=(3000, 16)).astype(np.float32), random.integers(400, size=3000)
    on_nodes = metrics.on_ray(cluster.address)

    def told(work, block):
        """Each block waits until both nodes have one."""
        (tmp_path / ray.get_runtime_context().get_node_id()).touch()
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        return work(block)

    def run(work, blocks):
        return on_nodes(functools.partial(told, work), blocks)

    for distance in ("euclidean", "cosine"):
        chosen = {"distance": distance, "clustering": False, "intervals": "normal"}
        found = metrics.assess(points, labels, **chosen, blocks=6, run=run)
        assert found == metrics.assess(points, labels, **chosen)
    nodes = {node.node_id for node in cluster.nodes}
    assert {path.name for path in tmp_path.iterdir()} == nodes


@pytest.mark.parametrize("connect", [lambda address: executors.create("ray", address), metrics.on_ray])
def test_no_cluster_at_the_address(connect):
    with pytest.raises(UserError, match="no Ray cluster answers at 127.0.0.1:9"):
        connect("127.0.0.1:9")
