"""Miners and regularizers in a configuration: which go with which loss, and what is refused before training."""

import numpy as np
import pytest

from dmlplayground import config, methods, mining
from dmlplayground.base.errors import UserError
from dmlplayground.cli.commands import miners

COMBINATIONS = methods.combinations()
CELLS = [(method, miner) for method in methods.names() for miner in mining.names()]


@pytest.mark.parametrize(("method", "miner"), CELLS)
def test_every_loss_takes_every_miner_or_refuses_it_in_one_line(method, miner):
    given = {"method": method, "mining": miner}
    if miner not in COMBINATIONS[method].miners:
        assert methods.get(method).reads == "batch"
        with pytest.raises(UserError, match=f"^method {method}: .*a miner cannot be set"):
            config.trial(given)
        return
    assert config.trial(given).mining["name"] == miner
    width = 6
    loss = methods.loss(method, num_classes=width, embed_dim=width, mining=miner)
    loss.hybridize(static_alloc=True, static_shape=True)
    x = np.random.default_rng(0).normal(size=(12, width)).astype("float32")
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    value = loss(x, np.arange(12) % 4)
    assert value.shape == (1,) and np.isfinite(value.asscalar())


def test_the_list_of_miners_says_which_goes_with_which():
    told = {
        words[0]: words[1:] for words in map(str.split, "\n".join(miners.about_all()).splitlines()) if words
    }
    for method, found in COMBINATIONS.items():
        assert told[method][:2] == [found.own, "all" if found.miners else "none"]
        assert told[method][2] == ("all" if found.with_memory else "none")
    story = "\n".join(miners.about_one("intra_random"))
    takers, remembering = story.split("Losses that accept it:")[1].split("With a memory")
    assert "contrastive" in takers and "npairs" not in takers
    assert "none" in remembering


def test_a_trial_that_says_nothing_of_them_keeps_its_name():
    plain = config.trial({"method": "margin"})
    assert plain.mining is None and plain.regularizers == []
    assert config.trial({"method": "margin", "mining": None, "regularizers": []}).id == plain.id
    assert config.trial({"method": "margin", "mining": "all"}).id != plain.id


def test_options_are_completed_and_overridden():
    trial = config.trial({"method": "margin", "mining": "semihard"}, ["mining.margin=0.5"])
    assert trial.mining == {"name": "semihard", "margin": 0.5, "each": "anchor"}
    trial = config.trial({"method": "margin", "regularizers": [{"name": "zero_mean"}]})
    assert trial.regularizers == [{"name": "zero_mean", "weight": 0.005}]
    assert config.trial(trial.mapping()) == trial
    assert config.trial({"method": "margin", "regularizers": ["zero_mean"]}) == trial
    assert config.trial({"method": "margin"}, ["regularizers=[zero_mean]"]) == trial


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mining": "semi hard"}, "Did you mean 'semihard'"),
        ({"mining": {"name": "semihard", "margin": -1}}, "semihard: margin must be above 0"),
        ({"mining": {"name": "semihard", "width": 1}}, "width"),
        ({"regularizers": [{"name": "zero_mean", "weight": -1}]}, "zero_mean: weight must not be negative"),
        ({"regularizers": [{"weight": 1}]}, "name"),
        ({"regularizers": "zero_mean"}, "regularizers must be a list, each entry being a name, or a mapping"),
        ({"regularizers": ["zero_men"]}, "Did you mean 'zero_mean'"),
        (
            {"regularizers": [3]},
            r"regularizers\[0\] must be a name, or a mapping with a name and options, not 3",
        ),
        ({"mining": 3}, "mining must be a name, or a mapping with a name and options, not 3"),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(UserError, match=said):
        config.trial({"method": "margin", **given})


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            {"method": "npairs", "sampler": "shuffled"},
            "npairs cannot use the sampler shuffled: npairs reads pairs",
        ),
        ({"method": "angular", "sampler": "blocks", "batch_size": 125}, "an even number of rows, not 125"),
        ({"method": "prototypical", "sampler": "shuffled"}, ""),  # few classes have many rows in a batch
        ({"method": "prototypical", "sampler": "pairs", "batch_size": 64}, "has more than 5 rows"),
        (
            {"method": {"name": "prototypical", "supports": 10}},
            "has more than 10 rows .supports., so none is left",
        ),
        ({"method": "npairs", "sampler": "distance_matching", "batch_size": 60}, ""),
        ({"method": "npairs", "sampler": {"name": "blocks", "per_class": 4}}, ""),
        ({"method": "lifted_structure", "sampler": "uniform"}, ""),
    ],
)
def test_a_loss_of_the_whole_batch_reads_how_the_sampler_lays_it_out(method, said):
    if not said:
        config.trial(method)
        return
    with pytest.raises(UserError, match=said):
        config.trial(method)


@pytest.mark.parametrize(("batch_size", "refused"), [(16, False), (12, True)])
def test_a_miner_that_cannot_read_the_batches_is_told_before_training(batch_size, refused, monkeypatch):
    def check(self, rows, width):
        self.require(rows >= 8 and width == 5, f"wants 8 rows of 5, not {rows} of {width}.")

    monkeypatch.setattr(type(mining.create("semihard")), "check", check)
    given = {"method": "triplet", "mining": "semihard", "sampler": "shuffled", "embed_dim": 5}
    given = {**given, "batch_size": batch_size, "devices": 2}
    if not refused:
        config.trial(given)
        return
    with pytest.raises(UserError, match="semihard: wants 8 rows of 5, not 6 of 5"):
        config.trial(given)


def test_regularizers_are_added_with_their_weights():
    x, labels = np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.repeat(np.arange(4), 2)
    terms = [
        {"name": "embedding_norm", "weight": 0.5, "power": 1.0},
        {"name": "zero_mean", "weight": 0.25},
        {"name": "intra_pair_variance", "weight": 2.0, "pos_slack": 0.1, "neg_slack": 0.2},
    ]
    plain = methods.loss("npairs", num_classes=4, embed_dim=4)(x, labels).asscalar()
    whole = methods.loss("npairs", num_classes=4, embed_dim=4, regularizers=terms)(x, labels).asscalar()
    pairs = [(i, j) for i in range(8) for j in range(8) if i != j]
    near = np.array([x[i] @ x[j] for i, j in pairs if labels[i] == labels[j]])
    far = np.array([x[i] @ x[j] for i, j in pairs if labels[i] != labels[j]])
    variance = (np.maximum(0.9 * near.mean() - near, 0) ** 2).mean()
    variance += (np.maximum(far - 1.2 * far.mean(), 0) ** 2).mean()
    expected = 0.5 * np.linalg.norm(x, axis=1).mean() + 0.25 * np.abs(x.sum(axis=1)).mean() + 2 * variance
    assert whole - plain == pytest.approx(expected, rel=1e-4)
