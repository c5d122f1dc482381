"""What every loss costs alone, and with a miner: forward and backward, time and memory, beside pytorch-metric-learning's of the
same name.

    python benchmarks/losses.py [--peer-python PATH] [--methods npairs margin] [--rows 32 128] [--rounds 3]

The peer runs in an interpreter of its own, any that has torch and pytorch-metric-learning, and takes turns
with us case by case: what counts is the ratio within one run. One thread each, on one core: MXNet's engine has a
thread of its own beside Python's, and where the two share no core, small cases take a third more or less by chance.
Every case is measured in a fresh process. Its time is the best of many calls over all rounds, its CPU time the best
round's median, its memory what the process grew by from before the loss was made to the peak of its calls. Unit
embeddings, four rows a class (two for pairs).
``distances`` and ``product`` are what nothing can do without: all pairwise distances, and all products of
embeddings and proxies.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from datetime import date
from functools import partial
from pathlib import Path

THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PROXIES = ("proxy_nca", "proxy_softmax", "proxy_triplet", "discriminative")
PAIRS = ("npairs", "angular")
FLOORS = ("distances", "product")
FIRST = (*PAIRS, *PROXIES[:2], "triplet_semihard", "lifted_structure", "margin", "ranked_list")
PEERS = (
    *FIRST,
    *("arcface", "circle", "contrastive", "cosface", "fast_ap", "generalized_lifted", "histogram"),
    *("large_margin_softmax", "multi_similarity", "nt_xent", "proxy_anchor", "smooth_ap", "snr_contrastive"),
    *("snr_triplet", "soft_triple", "sphereface", "supcon", "triplet", "tuplet_margin"),
)
#: Miners that the peer has too, each measured with the loss that a peer's user would give it.
MINERS = {
    "angular": "triplet",
    "batch_hard": "triplet",
    "distance_weighted": "triplet",
    "multi_similarity": "multi_similarity",
    "pair_margin": "contrastive",
    "semihard": "triplet",
}
MANY = 11_318  # the training classes of SOP
NAMES = {"ours": "ours", "theirs": "peers"}  # a record's words for the two sides


# --- measuring, in a process of its own --------------------------------------------------------------------


def memory(key: str) -> int:
    """VmRSS (now) or VmHWM (the peak), in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def measured(make, case: dict, seconds: float) -> dict:
    """``make(case)`` returns a step, which runs forward and backward and waits for the gradient."""
    make({**case, "rows": 16})()  # what a library sets up at its first call is not the loss's
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    step = make(case)
    for _ in range(3):
        step()
    grown = memory("VmHWM") - before
    wall, cpu, until = [], [], time.perf_counter() + seconds
    while time.perf_counter() < until or len(wall) < 3:
        start, spent = time.perf_counter(), time.process_time()
        step()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - spent)
    # The clock of CPU time falls far short now and then: of its readings not the least, but the middle one.
    return {"ms": min(wall) * 1e3, "cpu": statistics.median(cpu) * 1e3, "bytes": grown}


def batch(case: dict):
    import numpy as np

    rows, each = case["rows"], case.get("per_class") or (2 if case["method"] in PAIRS else 4)
    x = np.random.default_rng(0).normal(size=(rows, case["width"])).astype("float32")
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.arange(rows) // each % case["classes"]


def ours():
    from dmlplayground import methods  # before mxnet
    from dmlplayground.parts.graph import pairwise

    # isort: split
    from mxnet import autograd, gluon, init, nd

    class Distances(gluon.HybridBlock):
        def hybrid_forward(self, F, x, labels):
            return F.sum(pairwise.distances(F, x))

    class Product(gluon.HybridBlock):
        def __init__(self, classes, width):
            super().__init__()
            self.classes = classes
            self.proxies = self.params.get("proxies", shape=(classes, width), init=init.Normal(0.01))
            self.initialize()

        def hybrid_forward(self, F, x, labels, proxies):
            return F.FullyConnected(x, proxies, num_hidden=self.classes, no_bias=True)

    def make(case):
        classes, width = case["classes"], case["width"]
        x, labels = batch(case)
        x, labels = nd.array(x), nd.array(labels, dtype="int32")
        x.attach_grad()
        if case["method"] in FLOORS:
            loss = Distances() if case["method"] == "distances" else Product(classes, width)
        else:
            loss = methods.loss(
                case["method"], num_classes=classes, embed_dim=width, mining=case.get("mining")
            )
        loss.hybridize(static_alloc=True, static_shape=True)

        def step():
            with autograd.record():
                value = loss(x, labels)
            value.backward()
            nd.waitall()

        return step

    return make


def peers():
    import torch
    from pytorch_metric_learning import distances, losses, miners

    torch.set_num_threads(1)
    raw = {"normalize_embeddings": False}
    build = {
        "triplet_semihard": lambda *_: losses.TripletMarginLoss(
            margin=1.0, distance=distances.LpDistance(power=2, **raw)
        ),
        "lifted_structure": lambda *_: losses.GeneralizedLiftedStructureLoss(
            distance=distances.LpDistance(**raw)
        ),
        "npairs": lambda *_: losses.NPairsLoss(),
        "margin": lambda classes, _: losses.MarginLoss(
            margin=0.2, beta=1.2, learn_beta=True, num_classes=classes
        ),
        "angular": lambda *_: losses.AngularLoss(alpha=45),
        "proxy_nca": lambda *sizes: losses.ProxyNCALoss(*sizes, softmax_scale=9),
        "proxy_softmax": lambda *sizes: losses.NormalizedSoftmaxLoss(*sizes, temperature=0.05),
        "ranked_list": lambda *_: losses.RankedListLoss(margin=0.4, Tn=10, alpha=1.2),
        "arcface": lambda *sizes: losses.ArcFaceLoss(*sizes, margin=28.6, scale=64),
        "circle": lambda *_: losses.CircleLoss(m=0.4, gamma=80),
        "contrastive": lambda *_: losses.ContrastiveLoss(pos_margin=0, neg_margin=1),
        "cosface": lambda *sizes: losses.CosFaceLoss(*sizes, margin=0.35, scale=64),
        "fast_ap": lambda *_: losses.FastAPLoss(num_bins=10),
        "generalized_lifted": lambda *_: losses.GeneralizedLiftedStructureLoss(pos_margin=0, neg_margin=1),
        "histogram": lambda *_: losses.HistogramLoss(n_bins=64),
        "large_margin_softmax": lambda *sizes: losses.LargeMarginSoftmaxLoss(*sizes, margin=4),
        "multi_similarity": lambda *_: losses.MultiSimilarityLoss(alpha=2, beta=40, base=0.5),
        "nt_xent": lambda *_: losses.NTXentLoss(temperature=0.07),
        "proxy_anchor": lambda *sizes: losses.ProxyAnchorLoss(*sizes, margin=0.1, alpha=32),
        "smooth_ap": lambda *_: losses.SmoothAPLoss(temperature=0.01),
        "snr_contrastive": lambda *_: losses.ContrastiveLoss(
            pos_margin=0, neg_margin=1, distance=distances.SNRDistance()
        ),
        "snr_triplet": lambda *_: losses.TripletMarginLoss(margin=0.2, distance=distances.SNRDistance()),
        "soft_triple": lambda *sizes: losses.SoftTripleLoss(*sizes, centers_per_class=10),
        "sphereface": lambda *sizes: losses.SphereFaceLoss(*sizes, margin=4),
        "supcon": lambda *_: losses.SupConLoss(temperature=0.1),
        "triplet": lambda *_: losses.TripletMarginLoss(margin=0.2),
        "tuplet_margin": lambda *_: losses.TupletMarginLoss(margin=5.73, scale=64),
    }
    distance_weighted = partial(miners.DistanceWeightedMiner, cutoff=0.5, nonzero_loss_cutoff=1.4)
    mine = {
        ("triplet_semihard", None): lambda: miners.TripletMarginMiner(
            margin=1.0, type_of_triplets="semihard", distance=distances.LpDistance(power=2, **raw)
        ),
        ("margin", None): distance_weighted,
        ("triplet", "angular"): lambda: miners.AngularMiner(angle=20),
        ("triplet", "batch_hard"): miners.BatchHardMiner,
        ("triplet", "distance_weighted"): distance_weighted,
        ("multi_similarity", "multi_similarity"): lambda: miners.MultiSimilarityMiner(epsilon=0.1),
        ("contrastive", "pair_margin"): lambda: miners.PairMarginMiner(pos_margin=0.2, neg_margin=0.8),
        ("triplet", "semihard"): lambda: miners.TripletMarginMiner(margin=0.2, type_of_triplets="semihard"),
    }

    def make(case):
        x, labels = (torch.from_numpy(array) for array in batch(case))
        x.requires_grad_()
        loss = build[case["method"]](case["classes"], case["width"])
        miner = mine.get((case["method"], case.get("mining")), lambda: None)()

        def step():
            x.grad = None
            loss.zero_grad()
            loss(x, labels, miner(x, labels) if miner else None).backward()

        return step

    return make


# --- the run -----------------------------------------------------------------------------------------------


def run(python: str, who: str, case: dict, seconds: float, memory: int = 0):
    """One case in a fresh process, of so many bytes; nothing, and the reason on the error stream, if it fails."""

    def limit():
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    command = [python, __file__, "--measure", json.dumps({"who": who, "case": case, "seconds": seconds})]
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **THREADS, "PYTHONPATH": root},
        preexec_fn=limit,
    )
    if done.returncode:
        sys.stderr.write(f"{who} {case}: {done.stderr.strip().splitlines()[-1:]}\n")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def compared(case: dict, options) -> dict:
    """The case with the best of all rounds of either side, in turns."""
    sides = {"ours": sys.executable}
    if options.peer_python and case["method"] in PEERS:
        sides["peers"] = options.peer_python
    rounds = [
        {
            who: run(python, who, case, options.seconds, options.memory * 2**30)
            for who, python in sides.items()
        }
        for _ in range(options.rounds)
    ]
    row = dict(case)
    for who in sides:
        figures = [each[who] for each in rounds if each[who]]
        if figures:
            row[who] = {key: min(figure[key] for figure in figures) for key in ("ms", "cpu", "bytes")}
    return row


def cases(options) -> list[dict]:
    from dmlplayground import methods

    chosen = [*FLOORS, *(options.methods or methods.names())]
    table = []
    for method in chosen:
        many = (MANY,) if method in (*PROXIES[:3], "product") else ()
        for width in options.widths:
            for rows in options.rows:
                for classes in (100 if method not in PAIRS else max(100, rows // 2), *many):
                    if method == "discriminative" and width != options.widths[0]:
                        continue
                    table.append({"method": method, "rows": rows, "width": width, "classes": classes})
    for case in table:
        if case["method"] == "discriminative":
            case["width"] = case["classes"]
    clusterings = [(24, 5), (64, 2)] if "structured_clustering" in chosen else []
    for classes, each in clusterings:
        shape = {"rows": classes * each, "width": 64, "classes": classes, "per_class": each}
        table.append({"method": "structured_clustering", **shape})
    return table + mined(options)


def mined(options) -> list[dict]:
    """Cases of a loss with a miner."""
    wanted = {name: MINERS[name] for name in MINERS if options.miners is None or name in options.miners}
    return [
        {"method": method, "mining": name, "rows": rows, "width": options.widths[0], "classes": 100}
        for name, method in wanted.items()
        for rows in options.rows
    ]


def named(row: dict) -> str:
    return row["method"] + (f" + {row['mining']}" if row.get("mining") else "")


def line(row: dict) -> str:
    squares = 4 * row["rows"] ** 2
    text = f"{named(row):34}{row['rows']:6}{row['width']:6}{row['classes']:7}"
    for who in ("ours", "peers"):
        figure = row.get(who)
        memory = f"{figure['bytes'] / 2**20:8.1f}{figure['bytes'] / squares:7.1f}" if figure else ""
        text += f"{figure['ms']:10.2f}{figure['cpu']:9.2f}{memory}" if figure else " " * 34
    return text + (
        f"{row['ours']['cpu'] / row['peers']['cpu']:7.2f}" if "peers" in row and "ours" in row else ""
    )


def record(rows: list[dict]) -> dict:
    """What the documentation's page of figures reads; null where the peer could not run a case."""
    machine = f"{os.cpu_count()} cores, with {os.getloadavg()[0]:.0f} programs running"
    about = (
        "Forward and backward of every loss that pytorch-metric-learning has too, and of miners, beside the library: the same "
        f"unit embeddings in float32, one thread each, in turns, on a machine of {machine}. Four rows a class (npairs and "
        "angular: two); null where the library refused the batch or did not fit into the memory."
    )
    found = []
    for row in (row for row in rows if row["method"] in PEERS and "ours" in row):
        case = f"{named(row)}, B {row['rows']}, E {row['width']}, C {row['classes']}"
        for unit, key, size in (("CPU ms", "cpu", 1), ("MB", "bytes", 2**20)):
            sides = {name: row[who][key] / size if who in row else None for name, who in NAMES.items()}
            sides = {name: value if value is None else round(value, 2) for name, value in sides.items()}
            found.append({"case": case, **sides, "unit": unit, "peer": "pytorch-metric-learning 2.9.0"})
    return {"about": about, "when": date.today().isoformat()[:7], "rows": found}


def aims(rows: list[dict]) -> list[str]:
    """How the figures stand to what is asked of them, as far as they were measured; times are CPU times."""
    at = {(named(r), r["rows"], r["width"], r["classes"]): r for r in rows if "ours" in r}

    def times(above, below):
        return at[above]["ours"]["cpu"] / at[below]["ours"]["cpu"]

    lines = []
    for size in (128, 512):
        both = [
            r
            for r in at.values()
            if "peers" in r and (r["rows"], r["width"]) == (size, 512) and r["classes"] != MANY
        ]
        both = [r for r in both if r["method"] in FIRST]
        ratios = {r["method"]: r["ours"]["cpu"] / r["peers"]["cpu"] for r in both}
        if len(both) == len(FIRST):
            total = sum(r["ours"]["cpu"] for r in both) / sum(r["peers"]["cpu"] for r in both)
            worst = max(ratios, key=ratios.get)
            lines.append(
                f"eight losses, B {size}: {total:.2f} of the peer (aim 1), {worst} {ratios[worst]:.2f} (1.5)"
            )
    for size, asked in ((32, None), (128, 0.8), (512, 0.5)):
        ratios = {
            named(r): r["ours"]["cpu"] / r["peers"]["cpu"]
            for r in at.values()
            if "peers" in r and (r["rows"], r["width"]) == (size, 128) and r["classes"] != MANY
        }
        if ratios:
            worst = max(ratios, key=ratios.get)
            aim = f" (aim {asked})" if asked else ""
            lines.append(
                f"{len(ratios)} losses and miners, B {size}, E 128: median {statistics.median(ratios.values()):.2f} "
                f"of the peer{aim}, {worst} {ratios[worst]:.2f} (1.25)"
            )
    for key, row in at.items():
        method, size, width, classes = key
        if method in ("triplet_semihard", "lifted_structure") and size == 1024:
            alone = "distances", size, width, classes
            ratio = times(key, alone)
            matrices, floor = (at[each]["ours"]["bytes"] / (4 * size**2) for each in (key, alone))
            lines.append(
                f"{method}, B {size}, E {width}: {ratio:.1f} x distances (aim 5), "
                f"{matrices:.1f} matrices (6; distances {floor:.1f})"
            )
        if method in PROXIES and classes == MANY:
            ratio = times(key, ("product", size, width, classes))
            lines.append(f"{method}, C {MANY}, B {size}, E {width}: {ratio:.2f} x the product (aim 2)")
        if method == "structured_clustering" and (size, classes) in ((120, 24), (128, 64)):
            lines.append(
                f"{method}, {classes} classes: {row['ours']['ms']:.1f} ms (aim {25 if size == 120 else 60})"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="an interpreter with torch and pytorch-metric-learning")
    parser.add_argument("--methods", nargs="*", help="these alone (and the floors)")
    parser.add_argument("--miners", nargs="*", help="these alone, of those that the peer has too")
    parser.add_argument("--rows", nargs="*", type=int, default=[32, 128, 512, 1024])
    parser.add_argument("--widths", nargs="*", type=int, default=[64, 512])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="of calls a case and round")
    parser.add_argument("--memory", type=int, default=0, help="GB that a process may take; 0: as there are")
    parser.add_argument("--record", type=Path, help="a file for the figures, as the documentation reads them")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        task = json.loads(options.measure)
        make = {"ours": ours, "peers": peers}[task["who"]]()
        print(json.dumps(measured(make, task["case"], task["seconds"])))
        return
    print(f"{'':53}{'ours: ms   cpu ms      MB  BxBs':>34}{'peer: ms   cpu ms      MB  BxBs':>34}  ratio")
    rows = []
    for case in cases(options):
        rows.append(compared(case, options))
        print(line(rows[-1]), flush=True)
        if options.record:
            options.record.write_text(json.dumps(record(rows), indent=1) + "\n")
    print("\n".join(["", *aims(rows)]))


if __name__ == "__main__":
    main()
