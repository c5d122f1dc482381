"""Protocols: how classes are divided, when a training ends, what is reported."""

import pytest

from dmlplayground import config, protocols
from dmlplayground.base.errors import UserError
from dmlplayground.parts.protocols.shared import base


@pytest.mark.parametrize(
    "classes, trained, kept",
    [
        # As the Reality Check's sheet has them.
        (100, 75, [(75, 99), (0, 24), (25, 49), (50, 74)]),
        (98, 74, [(74, 97), (0, 23), (25, 48), (49, 72)]),
        (11317, 8488, None),
    ],
    ids=["cub200", "cars196", "sop"],
)
def test_folds_are_those_of_the_reality_check(classes, trained, kept):
    folds = protocols.create("validated").folds(classes)
    assert [len(fold.train) for fold in folds] == [trained] * 4
    assert [len(fold.kept) for fold in folds] == [classes - trained] * 4
    for fold in folds:
        assert sorted([*fold.train, *fold.kept]) == list(range(classes))
        assert fold.number * classes // 4 in fold.train  # where its classes begin
    if kept:
        assert [(min(fold.kept), max(fold.kept)) for fold in folds] == kept
    everything = [position for fold in folds for position in fold.kept]
    assert len(everything) == len(set(everything))  # no class is kept back twice


def test_a_protocol_without_folds_trains_on_all_classes():
    for name in ("paper", "per_metric"):
        (fold,) = protocols.create(name).folds(7)
        assert (list(fold.train), list(fold.kept)) == (list(range(7)), [])


def entries(*values, every=1):
    return [(every * number, value) for number, value in enumerate(values)]


def first_stop(values, every, **options):
    """The epoch after which training ends."""
    protocol = protocols.create("validated", **options)
    for count in range(1, len(values) + 1):
        if protocol.stops(entries(*values[:count], every=every), every, higher=True):
            return every * (count - 1)
    return None


def test_every_protocol_with_patience_stops_early_and_no_other():
    class KeptBack(base.Protocol):
        patience = 1

    assert KeptBack().stops([(1, 0.5), (2, 0.4)], 1, higher=True)
    assert not KeptBack().stops([(1, 0.5), (2, 0.6)], 1, higher=True)
    assert not base.Protocol().stops([(1, 0.5), (2, 0.4)], 1, higher=True)


def test_patience_is_the_sheets_rule():
    """CUB evaluates every 2 epochs and stops when epoch - best > 9: at the fifth evaluation without a gain."""
    values = [0.5, 0.6, 0.7, 0.6, 0.7, 0.6, 0.6, 0.6, 0.9]
    stopped = next(e for e in range(2, 20, 2) if e - 4 > 9)
    assert first_stop(values, 2, patience=5) == stopped == 14
    assert first_stop([0.1, 0.9] + [0.5] * 9, 20, patience=2) == 60  # SOP: epoch - best > 39
    assert first_stop([0.1, 0.9] + [0.5] * 9, 5, patience=3) == 20  # Cars: epoch - best > 14


def test_the_untrained_network_may_count_for_stopping():
    values = [0.9, 0.1, 0.2, 0.3, 0.4]
    assert first_stop(values, 1, patience=2) is None
    assert first_stop(values, 1, patience=2, untrained_counts=True) == 2
    assert first_stop(values, 1) is None


def test_the_first_of_equals_is_the_best_and_lower_may_be_better():
    protocol = protocols.create("validated", patience=2)
    assert protocol.stops(entries(0.0, 0.5, 0.5, 0.5), 1, higher=True)
    assert protocol.stops(entries(0.0, 0.1, 0.5, 0.5), 1, higher=False)
    assert not protocol.stops(entries(0.9, 0.5, 0.4, 0.3), 1, higher=False)


class Told:
    """What training tells a protocol, made up: models are known by their weights."""

    def __init__(self, *folds):
        self.folds = folds

    def entries(self, fold):
        return self.folds[fold]

    def last(self, fold):
        return {**self.folds[fold][-1], "weights": [f"last{fold}"]}

    def best(self, fold):
        best = max(self.folds[fold][1:], key=lambda entry: entry["metrics"]["R@1"] or 0)
        return {**best, "weights": [f"best{fold}"]}

    def untrained(self):
        return {"epoch": 0, "metrics": {"R@1": 0.1}}

    def tested(self, weights):
        return {"measured_on": "test", "metrics": {"R@1": len(weights) / 10}, "weights": list(weights)}


def epochs(*pairs):
    return [
        {"epoch": number, "metrics": {"R@1": one, "NMI": other}} for number, (one, other) in enumerate(pairs)
    ]


def test_the_maximum_of_each_metric_stands_beside_the_epochs_that_had_it():
    told = Told(epochs((0.9, 0.9), (0.3, 0.7), (0.5, 0.6), (0.5, 0.7)))
    results = protocols.create("per_metric").results(told)
    assert set(results) == set(protocols.get("per_metric").results)
    assert results["maximum"]["metrics"] == {
        "R@1": 0.5,
        "NMI": 0.7,
    }  # training's epochs, not the untrained network
    assert results["maximum"]["epochs"] == {"R@1": 2, "NMI": 1}
    assert results["best"]["weights"] == ["best0"]


def test_what_is_no_finite_number_is_nobodys_maximum():
    told = Told(epochs((0.1, 0.1), (None, 0.2), (0.3, 0.1)))
    assert protocols.create("per_metric").results(told)["maximum"]["epochs"] == {"R@1": 2, "NMI": 1}


def test_paper_reports_the_best_epoch_and_the_last():
    told = Told(epochs((0.9, 0.9), (0.5, 0.7), (0.3, 0.6)))
    results = protocols.create("paper").results(told)
    assert [results[key]["epoch"] for key in ("untrained", "best", "last")] == [0, 1, 2]


def test_validated_scores_each_folds_model_and_all_of_them_together():
    told = Told(epochs((0, 0), (0.5, 0.7)), epochs((0, 0), (0.3, 0.6), (0.7, 0.1)))
    protocol = protocols.create("validated", folds=2, criterion="R@1")
    results = protocol.results(told)
    assert [entry["validation"]["R@1"] for entry in results["separate"]] == [0.5, 0.7]
    assert [entry["metrics"]["R@1"] for entry in results["separate"]] == [0.1, 0.1]  # on test classes
    assert results["joined"]["weights"] == ["best0", "best1"]
    assert protocol.judged(results) == pytest.approx(0.6)
    with pytest.raises(UserError, match="has no validation classes"):
        protocols.create("paper").judged(results)


def test_units_are_counted_once_for_everybody():
    given = {"method": "npairs", "protocol": {"name": "validated", "folds": 3}, "ensemble": {"members": 2}}
    found = [(unit.fold, list(unit.members)) for unit in config.units(config.trial(given))]
    assert found == [(0, [0]), (0, [1]), (1, [0]), (1, [1]), (2, [0]), (2, [1])]
    found = config.units(config.trial(given, ["ensemble.order=parallel"]))
    assert [(unit.fold, list(unit.members)) for unit in found] == [(0, [0, 1]), (1, [0, 1]), (2, [0, 1])]


@pytest.mark.parametrize(
    "changes, words",
    [
        (["protocol=paper", "protocol.folds=2"], "unknown option of protocol paper: 'folds'"),
        (["protocol=paper", "protocol.patience=2"], "unknown option of protocol paper: 'patience'"),
        (["protocol=validated", "protocol.folds=1"], "folds must be from 2"),
        (["protocol=validated", "protocol.patience=0"], "patience must be at least 1"),
        (["protocol=musgrave2020"], "Did you mean 'validated'"),
        (["protocol.criterion=R@3"], "protocol.criterion is R@3, which is not computed"),
        (
            ["evaluation.ks=[10]", "protocol.criterion=R@1"],
            "protocol.criterion is R@1, which is not computed",
        ),
        (["protocol.criterion=best"], "unknown metric 'best'"),
    ],
)
def test_impossible_protocols_are_refused(changes, words):
    with pytest.raises(UserError, match=words):
        config.trial({"method": "npairs"}, changes)


def test_folds_leave_a_batch_its_classes():
    trial = config.trial({"method": "npairs", "batch_size": 150, "protocol": "validated"})
    config.check_data(trial, 100)
    with pytest.raises(UserError, match="needs 75 classes, but the training split has 74"):
        config.check_data(trial, 98)
