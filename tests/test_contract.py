"""The names that other programs call, as the design has them: read off it, not off the code."""

import inspect
import json

import numpy as np
import pytest
from sweeps_fixture import SMALL

import dmlplayground as dml
from dmlplayground.base.errors import UserError

#: Constructor names of losses, in the design's order.
LOSSES = {
    "contrastive": ("pos_margin", "neg_margin"),
    "triplet": ("margin",),
    "nt_xent": ("temperature",),
    "cosface": ("margin", "scale"),
    "arcface": ("margin", "scale", "monotonic"),
    "fast_ap": ("bins",),
    "snr_contrastive": ("pos_margin", "neg_margin"),
    "snr_triplet": ("margin",),
    "multi_similarity": ("alpha", "beta", "base"),
    "soft_triple": ("centers", "scale", "gamma", "margin", "tau"),
    "proxy_nca": ("init_std",),
    "circle": ("margin", "scale", "form"),
    "sphereface": ("margin", "scale"),
    "large_margin_softmax": ("margin", "scale"),
    "tuplet_margin": ("margin", "scale"),
    "proxy_anchor": ("margin", "alpha"),
    "generalized_lifted": ("pos_margin", "neg_margin"),
    "supcon": ("temperature",),
    "smooth_ap": ("temperature",),
    "recall_at_k": ("ks", "temperature", "rank_temperature"),
    "histogram": ("nodes",),
    "quadruplet": ("margin", "second_margin"),
}
THIRTEEN = (
    "angular", "discriminative", "dreml", "lifted_structure", "margin", "npairs", "prototypical", "proxy_nca",
    "proxy_softmax", "proxy_triplet", "ranked_list", "structured_clustering", "triplet_semihard",
)  # fmt: skip
MINERS = {
    "all": (), "random": (), "semihard": (), "softhard": (), "hard": (), "easy_positive": (), "batch_hard": (),
    "distance_weighted": (), "multi_similarity": ("epsilon",), "pair_margin": (), "angular": (), "rho_distance": (),
}  # fmt: skip
REGULARIZERS = {
    "intra_pair_variance": ("pos_slack", "neg_slack"),
    "embedding_norm": ("power",),
    "zero_mean": (),
}
SAMPLERS = (
    "pairs", "random_pair", "per_class", "greedy_coreset", "coreset_d2", "distance_matching", "frechet_matching",
    "class_passes",
)  # fmt: skip
#: Whose loss owns ``proxies``, and their shape for 5 classes and 4 dimensions.
PROXIES = {
    "cosface": (5, 4), "arcface": (5, 4), "proxy_nca": (5, 4), "sphereface": (5, 4), "large_margin_softmax": (5, 4),
    "proxy_anchor": (5, 4), "proxy_softmax": (5, 4), "proxy_triplet": (5, 4), "soft_triple": (5, 10, 4),
}  # fmt: skip
ALSO = {"normalized softmax": "proxy_softmax", "InfoNCE": "nt_xent"}
#: What each function takes, in this order; the rest by name.
SIGNATURES = {
    "train": ("config",),
    "sweep": ("file",),
    "tune": ("search",),
    "report": ("path",),
    "compare": ("a", "b"),
    "evaluate": ("target", "labels"),
    "load": ("target",),
    "methods.loss": ("key",),
    "mining.create": ("name",),
    "samplers.create": ("name", "labels", "batch_size"),
    "samplers.greedy_coreset.pick": ("pool", "count", "first"),
    "samplers.distance_matching.cost": ("pool", "candidate"),
    "samplers.frechet_matching.cost": ("pool", "candidate"),
    "metrics.evaluate": ("embeddings", "labels", "ks", "clustering", "seed"),
    "metrics.rho_spectrum": ("embeddings", "k"),
    "metrics.density": ("embeddings", "labels"),
    "hyperparams.load": ("method",),
    "backbones.create": ("name",),
    "data.load": ("name", "split"),
}
EMBEDDINGS = np.random.default_rng(1).normal(size=(10, 4)).astype(np.float32)
LABELS = np.repeat(np.arange(5), 2)


def named(path: str):
    found = dml
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", SIGNATURES)
def test_signature(path):
    parameters = list(inspect.signature(named(path)).parameters.values())
    assert tuple(parameter.name for parameter in parameters[: len(SIGNATURES[path])]) == SIGNATURES[path]


def test_modules_of_values():
    assert dml.records.Record and dml.config.trial


@pytest.mark.parametrize("name", [*LOSSES, *THIRTEEN])
def test_loss(name):
    options = dml.methods.get(name).options
    assert set(LOSSES.get(name, ())) <= set(options)
    width = 5 if name == "discriminative" else 4  # an output a class
    embeddings = np.random.default_rng(1).normal(size=(10, width)).astype(np.float32)
    loss = dml.methods.loss(name, num_classes=5, embed_dim=width)
    value = loss(embeddings, LABELS + 0.0)  # NumPy arrays, and whole floats
    assert value.shape == (1,) and np.isfinite(value.asscalar())
    reads = dml.methods.get(name).build.reads
    if reads == "triplets":
        assert loss.on_triplets(EMBEDDINGS, LABELS, [0, 2], [1, 3], [4, 6]).shape == (1,)
    if reads == "pairs":
        assert loss.on_pairs(EMBEDDINGS, LABELS, [0, 2], [1, 3], [0, 2], [4, 6]).shape == (1,)


def test_any_labels_that_are_whole():
    loss = dml.methods.loss("contrastive", num_classes=5, embed_dim=4, mining=None, regularizers=())
    named_otherwise = loss(EMBEDDINGS, LABELS * 7 - 3)
    assert named_otherwise.asscalar() == loss(EMBEDDINGS, LABELS).asscalar()


@pytest.mark.parametrize("name", PROXIES)
def test_proxies(name):
    loss = dml.methods.loss(name, num_classes=5, embed_dim=4)
    [proxies] = [value for key, value in loss.collect_params().items() if key.endswith("proxies")]
    assert proxies.shape == PROXIES[name]


def test_beta():
    for per_class, shape in ((True, (5,)), (False, (1,))):
        loss = dml.methods.loss("margin", num_classes=5, embed_dim=4, per_class=per_class)
        [beta] = [value for key, value in loss.collect_params().items() if key.endswith("beta")]
        assert beta.shape == shape
    assert dml.methods.get("margin").build.reads == "triplets"
    assert dml.mining.miner_for(dml.methods.create("margin", 5, 4), None).key == "distance_weighted"


@pytest.mark.parametrize("name", MINERS)
def test_miner(name):
    assert set(MINERS[name]) <= set(dml.mining.get(name).options)
    mined = dml.mining.create(name).mine(EMBEDDINGS, LABELS)
    assert len(mined) in (3, 4)
    assert all(isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in mined)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_regularizer(name):
    assert {*REGULARIZERS[name], "weight"} <= set(dml.regularizers.get(name).options)
    loss = dml.methods.loss(
        "triplet", num_classes=5, embed_dim=4, regularizers=[{"name": name, "weight": 0.1}]
    )
    assert loss(EMBEDDINGS, LABELS).shape == (1,)


def test_samplers():
    assert set(SAMPLERS) <= set(dml.samplers.names())
    batches = [list(batch) for batch in dml.samplers.create("pairs", LABELS, 4, seed=1).batches(epoch=0)]
    assert batches == [
        list(batch) for batch in dml.samplers.create("pairs", LABELS, 4, seed=1).batches(epoch=0)
    ]
    assert dml.samplers.greedy_coreset.pick(EMBEDDINGS, 3, 4)[0] == 4


def test_the_cost_of_a_matched_batch():
    """By hand. Gaps of means and spreads are 2/3 and sqrt(14/9) - sqrt(2/9). The pool's distances are 1, 2 and 3, in the
    first, the 26th and the last of 50 bins; of the candidate's 1, 1 and 0 the last is dropped. So two thirds of the mass
    move over 25 bins of width 2/50, and then a third over 24."""
    pool, candidate = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [1.0]])
    moved = (25 * 2 / 3 + 24 / 3) * 2 / 50
    by_hand = 2 / 3 + np.sqrt(14 / 9) - np.sqrt(2 / 9) + 150 * moved
    assert dml.samplers.distance_matching.cost(pool, candidate) == pytest.approx(by_hand)
    assert dml.samplers.frechet_matching.cost(EMBEDDINGS, EMBEDDINGS + 2) == pytest.approx(4 * 2**2, abs=1e-4)


def test_metrics():
    scores = dml.metrics.evaluate(EMBEDDINGS, LABELS, ks=(1, 2), clustering=False, seed=0)
    assert {"R@1", "R@2"} <= set(scores) and all(0 <= score <= 1 for score in scores.values())
    assert isinstance(dml.metrics.rho_spectrum(EMBEDDINGS, k=2), float)
    assert set(dml.metrics.density(EMBEDDINGS, LABELS)) == {"intra", "inter", "ratio"}


def test_the_same_scores_of_arrays():
    assert dml.evaluate(EMBEDDINGS, LABELS, ks=(1, 2), clustering=False) == dml.metrics.evaluate(
        EMBEDDINGS, LABELS, ks=(1, 2), clustering=False
    )


def test_recipes_networks_and_data():
    given = dml.hyperparams.load("npairs", dataset="cub200", backbone="inception_bn", study="fehervari2019")
    assert given["backbone"]["name"] == "inception_bn"
    assert {"inception_bn", "resnet50_v2"} <= set(dml.backbones.names())
    assert {"cub200", "cars196", "sop", "inshop", "glyphs"} <= set(dml.data.names())


@pytest.mark.parametrize("also", ALSO)
def test_other_names_lead_to_the_part(also):
    with pytest.raises(UserError, match=f"Did you mean '{ALSO[also]}'"):
        dml.methods.get(also)
    with pytest.raises(UserError, match="Did you mean 'per_class'"):
        dml.samplers.get("SPC-2")


def test_a_sweep_of_a_part_keeps_the_plan_of_its_store(tmp_path):
    """As the command does: trials are already there, so nothing is trained."""
    experiment = {"title": "Two", "base": TINY, "grid": {"method": ["npairs"], "seed": [0, 1]}}
    (tmp_path / "two.yaml").write_text(json.dumps(experiment))
    for seed in (0, 1):
        trial = dml.config.trial({**TINY, "method": "npairs", "seed": seed})
        results = {"best": {"metrics": {"R@1": 0.5}}, "last": {"metrics": {"R@1": 0.5}}}
        record = dml.records.Record(trial.id, trial.mapping(), status="finished", results=results)
        record.save(tmp_path / "store" / trial.id)
    assert len(dml.sweep(tmp_path / "two.yaml", tmp_path / "store")) == 2
    assert len(dml.sweep(tmp_path / "two.yaml", tmp_path / "store", where=["seed=1"])) == 1
    assert len(json.loads((tmp_path / "store" / "experiment.json").read_text())["trials"]) == 2


TINY = {**SMALL, "batch_size": 4, "iterations": 2, "epochs": 1}
