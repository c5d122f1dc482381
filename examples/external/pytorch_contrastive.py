"""A small network and the contrastive loss of pytorch-metric-learning, in a plain PyTorch loop that continues where it was
stopped. See docs/external.md."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from pytorch_metric_learning import losses
from torch import nn

job = json.loads(Path(sys.argv[1]).read_text())
settings, output, saved = job["settings"], Path(job["output"]), Path(job["work"]) / "state.pt"
epochs, batch, per_class = settings["epochs"], settings["batch_size"], settings["sampler"]["per_class"]
steps = settings["iterations"] or len(np.load(job["train_labels"])) // batch
torch.manual_seed(job["seed"])
torch.set_num_threads(1)


def block(inputs, outputs, **convolution):
    return (
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False, **convolution),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def tensor(images):
    return (torch.from_numpy(np.array(images)).permute(0, 3, 1, 2).float() - 127.5) / 64


images, labels = np.load(job["train_images"], mmap_mode="r"), np.load(job["train_labels"])
asked = np.load(job["images"], mmap_mode="r")
network = nn.Sequential(
    *block(3, 32, stride=2), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2), *block(64, 128),
    nn.MaxPool2d(2), *block(128, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, job["embed_dim"]),
)  # fmt: skip
for layer in network:
    if isinstance(layer, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(layer.weight)
method = {key: value for key, value in settings["method"].items() if key in ("pos_margin", "neg_margin")}
loss = losses.ContrastiveLoss(**method)  # normalizes by itself
rule = settings["optimizer"]
optimizer = torch.optim.Adam(network.parameters(), lr=rule["lr"], weight_decay=rule["weight_decay"])


def write(epoch, seen, value=None):
    network.eval()
    with torch.no_grad():
        parts = [network(tensor(asked[start : start + 256])) for start in range(0, len(asked), 256)]
    torch.save([network.state_dict(), optimizer.state_dict()], saved)
    np.save(output / f"epoch-{epoch}.npy", nn.functional.normalize(torch.cat(parts)).numpy())
    said = {"images": seen, **({} if value is None else {"loss": value})}
    (output / f"epoch-{epoch}.json").write_text(json.dumps(said))  # last: now it counts


first = 1
if job["done"] is None:
    write(0, 0)
else:
    first = job["done"] + 1
    for part, state in zip((network, optimizer), torch.load(saved)):
        part.load_state_dict(state)
seen, values = 0, []
for epoch in range(first, epochs + 1):
    rng = np.random.default_rng([job["seed"], epoch])  # each epoch's own, so that a stop changes nothing
    network.train()
    for _ in range(steps):
        classes = rng.permutation(job["classes"])[: batch // per_class]
        rows = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:per_class] for c in classes])
        value = loss(network(tensor(images[np.sort(rows)])), torch.from_numpy(labels[np.sort(rows)]))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        seen, values = seen + len(rows), [*values, value.item()]
    if epoch in job["evaluate"]:
        write(epoch, seen, float(np.mean(values)))
        seen, values = 0, []
