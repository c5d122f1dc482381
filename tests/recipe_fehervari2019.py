"""The settings of the study of 2019, written down from its logs, its scripts and its text: never copied from our own files.

A trial is SHARED, then its method's row of METHODS, then what its network and its data set change.
"""

SHARED = {
    "backbone.name": "inception_bn", "backbone.pretrained": "imagenet",
    "embed_dim": 64,
    "head.bias": True, "head.normalize": False, "head.bottleneck": [], "head.bottleneck_dropout": 0.0,
    "head.layer_norm": False, "head.weight_norm": False, "head.dropout": 0.0, "head.to_classes": False,
    "head.pooling": "average", "head.init": "xavier", "head.init_scale": 0.2,
    "transform.name": "paper", "transform.resize": 256, "transform.crop": 0.875, "transform.flip": True,
    "batch_size": 128, "iterations": None, "accumulate": 1, "epochs": 60, "frozen_epochs": 0,
    "optimizer.name": "adam", "optimizer.lr": 1e-4, "optimizer.weight_decay": 1e-5, "optimizer.beta1": 0.9,
    "optimizer.beta2": 0.999, "optimizer.epsilon": 1e-7, "optimizer.clip": None,
    "schedule.factor": 0.5, "schedule.steps": [12, 14, 16, 18], "schedule.every": None,
    "groups.backbone.lr_mult": 1.0, "groups.head.lr_mult": 1.0, "groups.loss.lr_mult": 1.0,
    "groups.backbone.lr_mult_by_name": {}, "groups.head.lr_mult_by_name": {}, "groups.loss.lr_mult_by_name": {},
    "freeze_batchnorm": False,
    "ensemble.members": 1, "protocol.name": "paper",
    "evaluation.ks": [1, 2, 4, 8, 16], "evaluation.distance": "euclidean", "evaluation.clustering": True,
}  # fmt: skip

SHUFFLED = {"sampler.name": "shuffled"}
LATE = {"epochs": 60, "schedule.steps": [20, 30, 40]}
UNIT_BIAS = {"head.bias": True, "head.normalize": True}
UNIT = {"head.bias": False, "head.normalize": True}
SMALL_HEAD = {"head.init": "truncnorm", "head.init_scale": 0.001}
PROXIES = {
    "batch_size": 32, "epochs": 20, "optimizer.lr": 1e-3, "optimizer.weight_decay": 5e-4, "optimizer.epsilon": 1e-2,
    "optimizer.clip": 10.0, "schedule.factor": 0.1, "schedule.steps": [3, 10, 16],
    "groups.head.lr_mult": 0.01,  # 1e-5 for the head, 1e-3 for the backbone and the proxies
}  # fmt: skip

METHODS = {
    "triplet_semihard": {**SHUFFLED, **LATE, "optimizer.clip": 10.0, "method.margin": 1.0},
    "lifted_structure": {**SHUFFLED, **LATE, "optimizer.clip": 10.0, "method.margin": 1.0},
    "npairs": {
        "sampler.name": "pairs", "sampler.same_image": 0.1, "iterations": 200, "epochs": 25,
        "method.l2_reg": 5e-4, "method.symmetric": False,
    },
    "structured_clustering": {
        **UNIT, "sampler.name": "blocks", "sampler.per_class": 5, "batch_size": 120, "iterations": 200, "epochs": 25,
        "method.gamma": 1.0, "method.refine": 5,
        "optimizer.name": "rmsprop", "optimizer.rho": 0.94, "optimizer.rho_decay": 0.94, "optimizer.momentum": 0.0,
        "optimizer.root": "of both",  # MXNet's plain form
    },
    "margin": {
        **UNIT_BIAS, "sampler.name": "blocks", "sampler.per_class": 5, "batch_size": 125, "iterations": 200, "epochs": 20,
        "method.margin": 0.2, "method.beta": 1.2, "method.nu": 0.0, "method.learn_beta": True, "method.per_class": True,
        "method.beta_by": "class",
        "groups.loss.name": "sgd", "groups.loss.lr": 0.1, "groups.loss.momentum": 0.9, "groups.loss.weight_decay": 0.0,
    },
    "angular": {
        "sampler.name": "pairs", "sampler.same_image": 0.1, "iterations": 200, "epochs": 30, "optimizer.lr": 1e-5,
        "schedule.steps": [10, 20], "optimizer.clip": 10.0,
        "method.alpha": 45.0, "method.l2_reg": 5e-4, "method.symmetric": False, "method.npairs_weight": 0.0,
    },
    "prototypical": {
        "sampler.name": "episodes", "sampler.supports": 5, "sampler.queries": 5, "method.supports": 5,
        "batch_size": 120, "iterations": 100, "epochs": 30,
    },
    "proxy_triplet": {**SHUFFLED, **UNIT_BIAS, **PROXIES, "method.margin": 1.0, "method.scale": 1.0},
    "proxy_nca": {
        **SHUFFLED, **UNIT_BIAS, **PROXIES, **SMALL_HEAD,
        "method.scale": 3.0, "method.temperature": 1.0, "method.exclude_positive": True, "method.label_smoothing": 0.0,
        "method.released_sign": False,
    },
    "proxy_softmax": {
        **SHUFFLED, **UNIT, **SMALL_HEAD, "head.layer_norm": True, "head.weight_norm": True, "head.dropout": 0.5,
        "embed_dim": 2048, "batch_size": 75, "epochs": 30, "frozen_epochs": 1,
        "optimizer.lr": 1e-3, "optimizer.weight_decay": 1e-4, "optimizer.epsilon": 1e-2, "optimizer.clip": 10.0,
        "schedule.factor": 0.1, "schedule.steps": [15],
        "method.temperature": 0.05, "method.label_smoothing": 0.1, "method.released_sign": False,
        "evaluation.distance": "hamming",  # thresholded at 0, as the text says
    },
    "ranked_list": {
        **UNIT, **LATE, "sampler.name": "blocks", "sampler.per_class": 3, "batch_size": 180, "iterations": 200,
        "method.alpha": 1.2, "method.margin": 0.4, "method.temperature": 10.0, "method.detach_weights": True,
        "method.negative_weight": 1.0,
        "groups.head.lr_mult": 10.0,
    },
    "dreml": {
        **SHUFFLED, **UNIT_BIAS, **SMALL_HEAD, "embed_dim": 12, "ensemble.members": 12, "ensemble.order": "sequential",
        "epochs": 12, "optimizer.lr": 1e-2, "optimizer.weight_decay": 5e-4, "optimizer.epsilon": 1e-2,
        "schedule.factor": 0.1, "schedule.steps": [4, 8], "evaluation.distance": "cosine",
        "method.scale": 3.0, "method.temperature": 1.0, "method.static_proxies": False, "method.class_map": "balanced",
    },
    "discriminative": {
        **SHUFFLED, **UNIT, **LATE, "head.to_classes": True, "head.bottleneck_dropout": 0.5, "optimizer.clip": 10.0,
    },
}  # fmt: skip

# What ResNet changes. Of most scripts the rate for convolutions has no effect: it is set on a network thrown away.
SLOW_CONVOLUTIONS = {"groups.backbone.lr_mult_by_name": {"conv": 0.01}}
RESNET = {
    "angular": SLOW_CONVOLUTIONS,
    "proxy_triplet": SLOW_CONVOLUTIONS,
    "proxy_nca": SLOW_CONVOLUTIONS,
    "proxy_softmax": {**SLOW_CONVOLUTIONS, "head.init": "xavier", "head.init_scale": 2.0},
    "margin": {"head.init_scale": 2.0},
    "ranked_list": {"groups.head.lr_mult": 1.0},  # ten times faster with Inception only
}

# What a data set changes. Products have classes of two images: too few for five supports and five queries, and a shuffled
# batch of them holds hardly any pair. What replaces these is our choice; the study has no row of the two triplet methods.
PAIRED = {"sampler.name": "blocks", "sampler.per_class": 2}
DATA = {
    "cub200": {},
    "cars196": {},
    "sop": {
        "prototypical": {"method.supports": 1, "sampler.supports": 1, "sampler.queries": 1},
        "triplet_semihard": PAIRED,
        "lifted_structure": PAIRED,
    },
}
NETWORK = {"dreml": "resnet18_v2"}  # of the second column of table 2; resnet50_v2 for all others

# What the released code did instead. Of methods that draw batches by class, images are squashed to 256 x 256 first.
RELEASED_SHARED = {
    "transform.name": "released", "transform.squash": 256, "transform.squash_test": False, "transform.size": 224,
}  # fmt: skip
WHOLE = {"transform.squash": 0}
RELEASED = {
    "triplet_semihard": WHOLE,
    "lifted_structure": WHOLE,
    "npairs": {},
    # the gradient of a mean is divided by the 120 rows again
    "structured_clustering": {"optimizer.name": "adam", "optimizer.weight_decay": 1.2e-3, "optimizer.epsilon": 1.2e-5},
    # the gradient of a mean is divided by the 125 rows again
    "margin": {
        "method.beta_by": "position", "groups.loss.lr": 8e-4, "optimizer.weight_decay": 1.25e-3, "optimizer.epsilon": 1.25e-5,
    },
    # the sum over 64 pairs is divided by 128 rows
    "angular": {"optimizer.weight_decay": 2e-5, "optimizer.epsilon": 2e-7, "optimizer.clip": 20.0},
    # the sum over 60 queries is divided by 120 rows
    "prototypical": {"optimizer.weight_decay": 2e-5, "optimizer.epsilon": 2e-7},
    "proxy_triplet": WHOLE,
    "proxy_nca": WHOLE,
    "proxy_softmax": {**WHOLE, "method.released_sign": True, "evaluation.distance": "euclidean"},
    "ranked_list": {"method.detach_weights": False},
    "dreml": {
        "transform.squash": 246, "transform.squash_test": True, "method.class_map": "independent", "ensemble.members": 48,
    },
    "discriminative": WHOLE,
}  # fmt: skip
# Discriminative: a sum over B = 128 rows times g = 3 (C - 1) (B / C - 1) (B / C), with C = 100 and 98 classes.
RELEASED_DISCRIMINATIVE = {
    "cub200": {"optimizer.clip": 7.34e-4, "optimizer.weight_decay": 7.34e-10, "optimizer.epsilon": 7.34e-12},
    "cars196": {"optimizer.clip": 6.71e-4, "optimizer.weight_decay": 6.71e-10, "optimizer.epsilon": 6.71e-12},
    "sop": {},  # g is negative
}

MEAN = (123.68, 116.779, 103.939)
PREPROCESSING = {  # RGB, minus the mean; divided for residual networks alone
    "inception_bn": (224, MEAN, (1.0, 1.0, 1.0), "rgb"),
    "resnet50_v2": (224, MEAN, (58.393, 57.12, 57.375), "rgb"),
    "resnet18_v2": (224, MEAN, (58.393, 57.12, 57.375), "rgb"),
}
FEATURES = {"inception_bn": 1024, "resnet50_v2": 2048, "resnet18_v2": 512}


def expected(method: str, data: str = "cub200", backbone: str = "inception_bn") -> dict:
    """A trial with the study's settings, by dotted keys."""
    resnet50 = RESNET.get(method, {}) if backbone == "resnet50_v2" else {}
    own = {**SHARED, **METHODS[method], **resnet50, **DATA[data].get(method, {})}
    return {**own, "method.name": method, "data.name": data, "backbone.name": backbone}


def released(method: str, data: str = "cub200") -> dict:
    """The same as the released code ran it."""
    own = {key: value for key, value in expected(method, data).items() if not key.startswith("transform.")}
    further = RELEASED_DISCRIMINATIVE[data] if method == "discriminative" else {}
    division = {"data.division": "directory"} if data == "sop" else {}
    return {**own, **RELEASED_SHARED, **RELEASED[method], **further, **division}
