"""The folds of a Reality Check trial, trained again by a program of PyTorch's alone on the same batches from the same weights:
its network, its losses written from the study's formulas, its own RMSprop. Needs the extra ``crosscheck``."""

import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground.trial.store import trained_weights
from dmlplayground.trial.training.learner import Learner

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'dmlplayground[crosscheck]'"
)

TRIAL = {
    "data": {"name": "glyphs", "size": 24, "classes": 32, "images_per_class": 5},
    "backbone": "conv4",
    "embed_dim": 16,
    "transform": "plain",
    "iterations": 3,
    "epochs": 1,
    "protocol": {"patience": None},
    "evaluation": {"clustering": False},
    "optimizer": {"lr": 1e-4},  # so that three steps move the weights
}
CLASSES = 12  # of a fold: three quarters of the training half


# --- the other program --------------------------------------------------------------------------------------


def features(images, w):
    """Four convolutions with batch-norm, whose statistics stay; pooling between them, an average at the end."""
    x = (torch.tensor(images, dtype=torch.float64).permute(0, 3, 1, 2) - 127.5) / 64
    for place, (convolution, norm) in enumerate(((0, 1), (4, 5), (8, 9), (12, 13))):
        if place:
            x = torch.nn.functional.max_pool2d(x, 2)
        stride = 1 if place else 2
        x = torch.nn.functional.conv2d(x, w[f"backbone.{convolution}.weight"], stride=stride, padding=1)
        mean, var, gamma, beta = (
            w[f"backbone.{norm}.{name}"] for name in ("running_mean", "running_var", "gamma", "beta")
        )
        x = torch.nn.functional.batch_norm(x, mean, var, gamma, beta, training=False, eps=1e-5).relu()
    return x.mean(dim=(2, 3))


def embeddings(images, w):
    x = features(images, w) @ w["head.0.weight"].T + w["head.0.bias"]
    return x / x.norm(dim=1, keepdim=True)


def margin(u, labels, w):
    """Margin, a boundary for each class, over all triplets: both hinges over the number of those that are active."""
    boundary, slack = w["beta"], 0.07791179285964983
    distance, numbers = torch.cdist(u, u), range(len(u))
    triplets = [
        (a, p, n)
        for a in numbers
        for p in numbers
        for n in numbers
        if a != p and labels[a] == labels[p] != labels[n]
    ]
    a, p, n = torch.tensor(triplets).T
    own = boundary[torch.tensor(labels.astype(int))][a]
    terms = torch.cat([distance[a, p] - own + slack, own - distance[a, n] + slack]).clamp(min=0)
    return terms.sum() / (terms > 0).sum()


def arcface(u, labels, w):
    """Cross-entropy of s cos(theta + m of the own class), also beyond 180 degrees."""
    degrees, scale = 23.225935497468093, 100.0
    classes = w["proxies"] / w["proxies"].norm(dim=1, keepdim=True)
    cosines = (u @ classes.T).clamp(-1 + 1e-7, 1 - 1e-7)
    own = torch.nn.functional.one_hot(torch.tensor(labels.astype(int)), CLASSES).bool()
    turned = torch.cos(torch.arccos(cosines) + np.radians(degrees))
    return torch.nn.functional.cross_entropy(scale * torch.where(own, turned, cosines), own.double())


LOSSES = {  # with the rate of the loss's own weights, and their weight decay
    "margin": (margin, "margin_per_class", 0.0002655887291100615, 0.0),
    "arcface": (arcface, "arcface", 0.0051384088179694, 1e-4),
}


def replayed(key, begun, batches):
    loss, _, rate, decay = LOSSES[key]
    w = {
        name.removeprefix("network.").removeprefix("loss."): torch.tensor(array.astype(np.float64))
        for name, array in begun.items()
    }
    learned = [name for name in w if "running" not in name and name not in ("mean", "scale")]
    for name in learned:
        w[name].requires_grad_()
    own = [name for name in learned if name in ("beta", "proxies")]
    network = [w[name] for name in learned if name not in own]
    shared = {"alpha": 0.99, "eps": 1e-8, "momentum": 0.9}
    groups = [
        {"params": network, "lr": 1e-4, "weight_decay": 1e-4},
        {"params": [w[name] for name in own], "lr": rate, "weight_decay": decay},
    ]
    optimizer = torch.optim.RMSprop(groups, **shared)
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        value = loss(embeddings(images, w), labels, w)
        value.backward()
        optimizer.step()
        losses.append(float(value.detach()))
    return {name: array.detach().numpy() for name, array in w.items()}, losses


# --- ours, watched ------------------------------------------------------------------------------------------


def watched(monkeypatch):
    """Of each fold the weights it began with, given statistics as after a training, its batches and its losses."""
    told = {}
    step = Learner.step

    def noting(learner, batches):
        if learner.fold not in told:
            random = np.random.default_rng(learner.fold)
            arrays = learner.weights()
            for name, array in arrays.items():
                if name.endswith(("running_mean", "running_var")):
                    arrays[name] = random.uniform(0.2, 0.6, array.shape).astype(np.float32)
            learner.load_weights(arrays)
            told[learner.fold] = arrays, [], []
        ((images, labels),) = batches
        told[learner.fold][1].append((np.array(images), np.array(labels)))
        done = step(learner, batches)
        told[learner.fold][2].append(done.loss.asscalar())
        return done

    monkeypatch.setattr(Learner, "step", noting)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("key", ["arcface", "margin"])
def test_folds_replayed(tmp_path, monkeypatch, key):
    told = watched(monkeypatch)
    row = LOSSES[key][1]
    record = dml.train({**TRIAL, "method": key, "hyperparams": f"musgrave2020/cub200/{row}"}, store=tmp_path)
    assert sorted(told) == [0, 1, 2, 3]
    for fold, (begun, batches, losses) in told.items():
        assert [len(labels) for _, labels in batches] == [32] * 3
        path = tmp_path / record.id / trained_weights.name(fold, 0, "last")
        ours = trained_weights.read(path, record.id).arrays
        theirs, values = replayed(key, begun, batches)
        assert losses == pytest.approx(values, rel=1e-4)
        for name, array in ours.items():
            other = theirs[name.removeprefix("network.").removeprefix("loss.")]
            moved = np.abs(array - begun[name]).mean()
            assert np.abs(array - other).mean() <= 1e-2 * moved, name
            assert moved > 0 or "running" in name or name in ("network.mean", "network.scale"), name
