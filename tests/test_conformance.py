"""The checks that ``dmlplayground check`` makes of parts: every part of ours passes, and what is wrong is found."""

import textwrap

import mxnet as mx
import pytest

from dmlplayground.base import registry
from dmlplayground.cli import main
from dmlplayground.trial import conformance
from dmlplayground.trial.conformance import Skip, kinds

# Methods are in test_methods. Data sets have to be fetched, networks are in test_backbones, and training takes its time.
CASES = [
    (plural, key, check)
    for plural in registry.HOMES
    if plural not in ("methods", "data", "backbones", "studies")
    for key in registry.kind(plural).names()
    for check in kinds.of(plural)
    if "training" not in check.__name__
]


@pytest.mark.parametrize(
    ("plural", "key", "check"), CASES, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_part(plural, key, check):
    try:
        check(key)
    except Skip as reason:
        pytest.skip(str(reason))


def faults(tmp_path, text: str) -> dict[str, str]:
    (tmp_path / "bad.py").write_text(textwrap.dedent(text))
    parts = conformance.named(tmp_path / "bad.py")
    checks = [(key, check) for plural, key in parts for check in conformance.checks_of(plural)]
    found = {}
    for key, check in checks:
        if "training" not in check.__name__:
            try:
                check(key)
            except Skip:
                pass
            except Exception as problem:
                found[check.__name__] = str(problem)
    return found


LOSS = """
    from dmlplayground.parts.graph import interleaved
    from dmlplayground.parts.methods.shared.base import KIND, Loss

    @KIND.register(title="Bad", year=2020, paper="Bad, 2020", sampler={"name": "pairs"}, head={"normalize": True})
    class Bad(Loss):
        '''L = mean of what is between anchors and positives.'''

        def hybrid_forward(self, F, embeddings, labels):
            anchors, positives, labels = interleaved.split_pairs(F, embeddings, labels)
            return %s
"""


def test_a_wrong_gradient_is_found_without_a_reference(tmp_path):
    found = faults(tmp_path, LOSS % "F.mean(F.sum((F.BlockGrad(anchors) - positives) ** 2, axis=1))")
    assert "gradients_are_the_slopes_of_the_reference" in found


def test_an_operator_without_gpu_kernel_is_found(tmp_path):
    found = faults(tmp_path, LOSS % "F.mean(F.khatri_rao(anchors, positives))")
    assert "khatri_rao" in found["every_operator_has_a_gpu_kernel"]


def test_a_loss_that_disagrees_with_the_reference_beside_it_is_found(tmp_path):
    (tmp_path / "bad_reference.py").write_text(
        "def value(embeddings, labels, parameters=None):\n"
        "    return 1 + ((embeddings[::2] - embeddings[1::2]) ** 2).sum(axis=1).mean()\n"
    )
    found = faults(tmp_path, LOSS % "F.mean(F.sum((anchors - positives) ** 2, axis=1))")
    assert "value_is_that_of_the_reference" in found


def test_a_sampler_that_remembers_is_found(tmp_path):
    found = faults(
        tmp_path,
        """
        import numpy as np
        from dmlplayground.parts.samplers.shared.base import KIND, BatchSampler

        @KIND.register(title="Bad")
        class Bad(BatchSampler):
            '''Rows in the order in which they were asked for.'''

            called = 0

            def draw(self, rng):
                type(self).called += 1
                return np.arange(self.batch_size) + self.called % 5
        """,
    )
    assert list(found) == ["an_epoch_has_the_same_batches_whenever_it_is_asked_for"]


def test_a_metric_that_points_the_wrong_way_is_found(tmp_path):
    found = faults(
        tmp_path,
        """
        from dmlplayground.parts.metrics.shared.table import KIND

        @KIND.register(title="Bad", higher_is_better=False)
        def bad(ranks):
            '''The share of queries whose nearest neighbour is of their class.'''
            return ranks.total(ranks.rank == 1)
        """,
    )
    assert "against its direction" in found["direction"]


def test_the_command_ends_with_a_table_and_its_code_says_whether_all_passed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(conformance, "checks_of", lambda plural: [only])

    def only(key):
        assert key == "semihard"

    assert main(["check", "semihard"]) == 0
    assert "1 passed, 0 failed, 0 left out." in capsys.readouterr().out
    assert main(["check", "hard"]) == 1
    assert "X hard: only: " in capsys.readouterr().out
    assert main(["check", "semihrad"]) == 2
    assert "Did you mean 'semihard'" in capsys.readouterr().err
    assert main(["check", "semihard", "--device", "tpu"]) == 2
    assert "unknown device 'tpu'. Known: cpu, gpu" in capsys.readouterr().err


def test_without_a_name_every_part_of_the_kind_is_meant():
    assert conformance.named(None, "miners") == [("miners", key) for key in registry.kind("miners").names()]
    assert {plural for plural, _ in conformance.named(None)} == set(registry.HOMES) - {"studies"}


def test_a_check_computes_on_the_device_that_is_named(monkeypatch):
    def where(key):
        raise AssertionError(f"{mx.nd.zeros(1).context}")

    monkeypatch.setattr(conformance, "checks_of", lambda plural: [where])
    assert [one.fault for one in conformance.made([("miners", "semihard")], "cpu:1")] == ["cpu(1)"]
    assert mx.current_context() == mx.cpu()
