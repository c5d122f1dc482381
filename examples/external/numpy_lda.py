"""Discriminant directions of the training classes, in NumPy. See docs/external.md."""

import json
import sys
from pathlib import Path

import numpy as np

job = json.loads(Path(sys.argv[1]).read_text())
width, shrink = job["embed_dim"], job["settings"]["method"]["shrink"]


def features(name):
    images = np.load(job[name]).astype(np.float32).mean(axis=3) / 255  # grey
    spectra = np.abs(np.fft.rfft2(images))  # where a character stands does not matter
    return np.log1p(spectra).reshape(len(images), -1)


def write(epoch, embeddings, images):
    output = Path(job["output"])
    np.save(output / f"epoch-{epoch}.npy", embeddings.astype(np.float32))
    (output / f"epoch-{epoch}.json").write_text(json.dumps({"images": images}))  # last: now it counts


train, labels, asked = features("train_images"), np.load(job["train_labels"]), features("images")
rng = np.random.default_rng(job["seed"])
write(0, asked @ rng.normal(size=(train.shape[1], width)), 0)

seen = rng.permutation(len(train))[: job["budget"]["images"]]  # no more than the budget, each once
train, (classes, labels) = train[seen], np.unique(labels[seen], return_inverse=True)
means = np.stack([train[labels == c].mean(axis=0) for c in range(len(classes))])
spread = np.cov((train - means[labels]).T)
spread += shrink * np.trace(spread) / len(spread) * np.eye(len(spread))
whiten = np.linalg.inv(np.linalg.cholesky(spread)).T
_, _, directions = np.linalg.svd((means - means.mean(axis=0)) @ whiten, full_matrices=False)
found = np.zeros((len(asked), width))  # there are no more directions than classes
found[:, : len(directions)] = asked @ whiten @ directions[:width].T
for place, epoch in enumerate(job["evaluate"][1:]):  # each has the same
    write(epoch, found, 0 if place else len(train))
