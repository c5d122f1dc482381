"""A real Ray cluster of several nodes on this machine: the same numbers as without it, also when a node is lost."""

from __future__ import annotations

import threading
import time

import pytest
from sweeps_fixture import SMALL, numbers

from dmlplayground import config
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


def test_no_cluster_at_the_address():
    with pytest.raises(UserError, match="no Ray cluster answers at 127.0.0.1:9"):
        executors.create("ray", "127.0.0.1:9")
