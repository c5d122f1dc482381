"""The settings of A Metric Learning Reality Check, written down from its published searches: never copied from our files.

TUNED holds, for each loss and data set, the values that won (names as the study has them) and their mean MAP@R on validation
classes; BOUNDS what was searched; the rest is what all trials share.
"""

TUNED = {
    "contrastive": {
        "cub200": ({"pos_margin": -0.19999999999999726, "neg_margin": 0.3841191369511769}, 0.4368),
        "cars196": ({"pos_margin": 0.26523381895861114, "neg_margin": 0.5409405918690342}, 0.2208),
        "sop": ({"pos_margin": 0.2850258234628094, "neg_margin": 0.5130146609636679}, 0.4107),
        "cub200_batch256": ({"pos_margin": 0.22274159160289408, "neg_margin": 0.7694681322593107}, 0.4332),
    },
    "triplet": {
        "cub200": ({"margin": 0.09610074859813894}, 0.4244),
        "cars196": ({"margin": 0.11902737154413517}, 0.2221),
        "sop": ({"margin": 0.04519248868248313}, 0.3846),
        "cub200_batch256": ({"margin": 0.13683567244710115}, 0.4264),
    },
    "nt_xent": {
        "cub200": ({"temperature": 0.009103293472234443}, 0.4326),
        "cars196": ({"temperature": 0.021926078981238835}, 0.2287),
        "sop": ({"temperature": 0.00024011856920638322}, 0.4062),
        "cub200_batch256": ({"temperature": 0.04153385922331847}, 0.446),
    },
    "proxy_nca": {
        "cub200": ({"loss_lr": 0.00604165660972788, "softmax_scale": 13.984289168473772}, 0.4298),
        "cars196": ({"loss_lr": 0.004434315704710762, "softmax_scale": 7.970526800311791}, 0.2265),
        "sop": ({"loss_lr": 0.0005288960472656574, "softmax_scale": 10.733628921647782}, 0.4168),
        "cub200_batch256": ({"loss_lr": 0.21622580489106408, "softmax_scale": 10.031200472656638}, 0.4348),
    },
    "margin": {
        "cub200": (
            {"loss_lr": 0.0013149455388326019, "margin": 0.08780730856882307, "beta": 0.7838655471893237},
            0.4184,
        ),
        "cars196": (
            {"loss_lr": 0.00011114005894862011, "margin": 0.07817191774601229, "beta": 1.3164399965498457},
            0.2143,
        ),
        "sop": (
            {"loss_lr": 0.0018279587458308565, "margin": 0.09157768911860359, "beta": 1.1072349396332635},
            0.3725,
        ),
        "cub200_batch256": (
            {"loss_lr": 1.000000000000002e-06, "margin": 0.06749183093182898, "beta": 0.9762317783891354},
            0.4205,
        ),
    },
    "margin_per_class": {
        "cub200": (
            {"loss_lr": 0.0002655887291100615, "margin": 0.07791179285964983, "beta": 0.9796727354635435},
            0.4278,
        ),
        "cars196": (
            {"loss_lr": 4.7679427753164685e-05, "margin": 0.07760736041282862, "beta": 0.9598870342493178},
            0.2179,
        ),
        "sop": (
            {"loss_lr": 7.10753582252704e-05, "margin": 0.05186435523810318, "beta": 0.8424587060982769},
            0.3909,
        ),
        "cub200_batch256": (
            {"loss_lr": 0.01328266476518381, "margin": -0.020490008861290293, "beta": 0.10978365428751874},
            0.4253,
        ),
    },
    "normalized_softmax": {
        "cub200": ({"loss_lr": 0.004468915155818225, "temperature": 0.10874714987070239}, 0.4399),
        "cars196": ({"loss_lr": 0.011046164985524668, "temperature": 0.08863250090946041}, 0.2361),
        "sop": ({"loss_lr": 0.0005468337161961759, "temperature": 0.06306243924788482}, 0.4229),
        "cub200_batch256": ({"loss_lr": 0.0720269808251637, "temperature": 0.07077487175272634}, 0.4346),
    },
    "cosface": {
        "cub200": ({"loss_lr": 0.002534656552818513, "margin": 0.6182274964043883, "scale": 100.0}, 0.4349),
        "cars196": (
            {"loss_lr": 0.007412989546153142, "margin": 0.4324395938515616, "scale": 161.59659966544234},
            0.2232,
        ),
        "sop": (
            {"loss_lr": 0.002160669660440832, "margin": 0.33641251795254073, "scale": 99.9999999999995},
            0.4132,
        ),
        "cub200_batch256": (
            {"loss_lr": 0.003998195661426562, "margin": 0.41446362660802355, "scale": 88.23371721804443},
            0.4412,
        ),
    },
    "arcface": {
        "cub200": (
            {"loss_lr": 0.0051384088179694, "margin": 23.225935497468093, "scale": 99.99999999999999},
            0.4476,
        ),
        "cars196": (
            {"loss_lr": 7.398518179078544e-06, "margin": 20.52230893710211, "scale": 49.501652066223656},
            0.2161,
        ),
        "sop": (
            {"loss_lr": 0.0020186601854510562, "margin": 18.63185573324141, "scale": 220.36285192573413},
            0.4193,
        ),
        "cub200_batch256": (
            {"loss_lr": 0.039577693613117096, "margin": 23.148015731563405, "scale": 78.86617186973587},
            0.4539,
        ),
    },
    "fast_ap": {
        "cub200": ({"num_bins": 17}, 0.423),
        "cars196": ({"num_bins": 27}, 0.22),
        "sop": ({"num_bins": 16}, 0.397),
        "cub200_batch256": ({"num_bins": 86}, 0.447),
    },
    "snr_contrastive": {
        "cub200": (
            {
                "pos_margin": 0.3264961701130519,
                "neg_margin": 0.844647202091156,
                "regularizer_weight": 0.13826002840338533,
            },
            0.4346,
        ),
        "cars196": (
            {"pos_margin": 0.16705097744495656, "neg_margin": 0.9337555876831508, "regularizer_weight": 0.0},
            0.2179,
        ),
        "sop": (
            {"pos_margin": 0.3759348459680073, "neg_margin": 1.083163248707391, "regularizer_weight": 0.0},
            0.4099,
        ),
        "cub200_batch256": (
            {
                "pos_margin": 0.11825107035256685,
                "neg_margin": 0.6822151282351671,
                "regularizer_weight": 0.47442474065768236,
            },
            0.4394,
        ),
    },
    "multi_similarity": {
        "cub200": (
            {"alpha": 0.010000000000000505, "beta": 50.601773762279336, "base": 0.5624815816186126},
            0.4364,
        ),
        "cars196": (
            {"alpha": 14.358760978642266, "beta": 75.83486384086837, "base": 0.6615555839124118},
            0.2325,
        ),
        "sop": ({"alpha": 8.492496310524517, "beta": 57.38862611417401, "base": 0.41673621630849955}, 0.4159),
        "cub200_batch256": (
            {"alpha": 0.010000000000000585, "beta": 46.852371463580546, "base": 0.8253064017397882},
            0.4401,
        ),
    },
    "multi_similarity_with_miner": {
        "cub200": (
            {
                "alpha": 17.97011813706367,
                "beta": 75.66279449949963,
                "base": 0.7762566994955177,
                "epsilon": 0.39400693859104396,
            },
            0.4381,
        ),
        "cars196": (
            {
                "alpha": 7.497874826011234,
                "beta": 47.9931946883341,
                "base": 0.6314801283407147,
                "epsilon": 0.7257457451083537,
            },
            0.2329,
        ),
        "sop": (
            {
                "alpha": 15.947169638068313,
                "beta": 156.61727081296493,
                "base": 0.7250382906952161,
                "epsilon": 0.3482762417107795,
            },
            0.4202,
        ),
        "cub200_batch256": (
            {
                "alpha": 11.637470609479376,
                "beta": 55.201527421037326,
                "base": 0.8581046388952108,
                "epsilon": 0.42314703265280135,
            },
            0.4429,
        ),
    },
    "soft_triple": {
        "cub200": (
            {
                "loss_lr": 5.375997284184975e-05,
                "la": 78.02122301658311,
                "gamma": 58.95101191808811,
                "reg_weight": 0.3754789742722862,
                "margin": 0.43079562741416144,
            },
            0.4411,
        ),
        "cars196": (
            {
                "loss_lr": 0.000140341491054875,
                "la": 17.69779917985891,
                "gamma": 19.187330313213565,
                "reg_weight": 0.06698175543954712,
                "margin": 0.3588232210887034,
            },
            0.2279,
        ),
        "sop": (
            {
                "loss_lr": 8.688452729008734e-05,
                "la": 100.0,
                "gamma": 47.90868652317084,
                "reg_weight": None,
                "margin": 0.314526365586971,
            },
            0.4166,
        ),
        "cub200_batch256": (
            {
                "loss_lr": 0.00010637443322960908,
                "la": 72.12531278228346,
                "gamma": 51.07941844874178,
                "reg_weight": 0.44305737773570525,
                "margin": 0.6959044320603398,
            },
            0.4397,
        ),
    },
}
BOUNDS = {
    "contrastive": {
        "cub200": {"pos_margin": (-0.2, 2.0, "linear"), "neg_margin": (-0.2, 2.0, "linear")},
        "cars196": {"pos_margin": (-0.2, 2.0, "linear"), "neg_margin": (-0.2, 2.0, "linear")},
        "sop": {"pos_margin": (-0.2, 2.0, "linear"), "neg_margin": (-0.2, 2.0, "linear")},
        "cub200_batch256": {"pos_margin": (-0.2, 2.0, "linear"), "neg_margin": (-0.2, 2.0, "linear")},
    },
    "triplet": {
        "cub200": {"margin": (-0.2, 2.0, "linear")},
        "cars196": {"margin": (-0.2, 2.0, "linear")},
        "sop": {"margin": (-0.2, 2.0, "linear")},
        "cub200_batch256": {"margin": (-0.2, 2.0, "linear")},
    },
    "nt_xent": {
        "cub200": {"temperature": (0.0001, 100.0, "log")},
        "cars196": {"temperature": (1e-05, 100.0, "log")},
        "sop": {"temperature": (1e-05, 100.0, "log")},
        "cub200_batch256": {"temperature": (0.01, 100.0, "log")},
    },
    "proxy_nca": {
        "cub200": {"loss_lr": (1e-06, 1.0, "log"), "softmax_scale": (0.01, 100.0, "linear")},
        "cars196": {"loss_lr": (1e-06, 1.0, "log"), "softmax_scale": (0.01, 100.0, "linear")},
        "sop": {"loss_lr": (1e-06, 1.0, "log"), "softmax_scale": (0.01, 100.0, "linear")},
        "cub200_batch256": {"loss_lr": (1e-06, 1.0, "log"), "softmax_scale": (0.01, 100.0, "linear")},
    },
    "margin": {
        "cub200": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "cars196": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "sop": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "cub200_batch256": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
    },
    "margin_per_class": {
        "cub200": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "cars196": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "sop": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
        "cub200_batch256": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (-0.2, 2.0, "linear"),
            "beta": (-0.2, 2.0, "linear"),
        },
    },
    "normalized_softmax": {
        "cub200": {"loss_lr": (1e-06, 1.0, "log"), "temperature": (0.01, 100.0, "log")},
        "cars196": {"loss_lr": (1e-06, 1.0, "log"), "temperature": (0.01, 100.0, "log")},
        "sop": {"loss_lr": (1e-06, 1.0, "log"), "temperature": (0.01, 100.0, "log")},
        "cub200_batch256": {"loss_lr": (1e-06, 1.0, "log"), "temperature": (0.01, 100.0, "log")},
    },
    "cosface": {
        "cub200": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 1.0, "linear"),
            "scale": (0.01, 200.0, "linear"),
        },
        "cars196": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 1.0, "linear"),
            "scale": (0.01, 200.0, "linear"),
        },
        "sop": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 1.0, "linear"),
            "scale": (0.01, 200.0, "linear"),
        },
        "cub200_batch256": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 1.0, "linear"),
            "scale": (0.01, 100.0, "linear"),
        },
    },
    "arcface": {
        "cub200": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 90.0, "linear"),
            "scale": (0.01, 200.0, "linear"),
        },
        "cars196": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 90.0, "linear"),
            "scale": (0.01, 200.0, "linear"),
        },
        "sop": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 90.0, "linear"),
            "scale": (0.01, 300.0, "linear"),
        },
        "cub200_batch256": {
            "loss_lr": (1e-06, 1.0, "log"),
            "margin": (0.0, 90.0, "linear"),
            "scale": (0.01, 100.0, "linear"),
        },
    },
    "fast_ap": {
        "cub200": {"num_bins": (2, 32, "integer")},
        "cars196": {"num_bins": (2, 32, "integer")},
        "sop": {"num_bins": (3, 32, "integer")},
        "cub200_batch256": {"num_bins": (2.0, 250.0, "integer")},
    },
    "snr_contrastive": {
        "cub200": {
            "pos_margin": (0.0, 2.0, "linear"),
            "neg_margin": (0.0, 2.0, "linear"),
            "regularizer_weight": (0.0, 1.0, "linear"),
        },
        "cars196": {
            "pos_margin": (0.0, 2.0, "linear"),
            "neg_margin": (0.0, 2.0, "linear"),
            "regularizer_weight": (0.0, 1.0, "linear"),
        },
        "sop": {
            "pos_margin": (0.0, 2.0, "linear"),
            "neg_margin": (0.0, 2.0, "linear"),
            "regularizer_weight": (0.0, 1.0, "linear"),
        },
        "cub200_batch256": {
            "pos_margin": (0.0, 2.0, "linear"),
            "neg_margin": (0.0, 2.0, "linear"),
            "regularizer_weight": (0.0, 1.0, "linear"),
        },
    },
    "multi_similarity": {
        "cub200": {
            "alpha": (0.001, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
        },
        "cars196": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
        },
        "sop": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
        },
        "cub200_batch256": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
        },
    },
    "multi_similarity_with_miner": {
        "cub200": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
            "epsilon": (0.0, 1.0, "linear"),
        },
        "cars196": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
            "epsilon": (0.0, 1.0, "linear"),
        },
        "sop": {
            "alpha": (0.01, 100.0, "linear"),
            "beta": (0.01, 200.0, "linear"),
            "base": (0.0, 1.0, "linear"),
            "epsilon": (0.0, 1.0, "linear"),
        },
        "cub200_batch256": {
            "alpha": (1e-05, 100.0, "linear"),
            "beta": (0.01, 100.0, "linear"),
            "base": (0.0, 1.0, "linear"),
            "epsilon": (0.0, 1.0, "linear"),
        },
    },
    "soft_triple": {
        "cub200": {
            "loss_lr": (1e-06, 1.0, "log"),
            "la": (0.01, 100.0, "linear"),
            "gamma": (0.0001, 100.0, "linear"),
            "reg_weight": (0.0, 1.0, "linear"),
            "margin": (0.0, 1.0, "linear"),
        },
        "cars196": {
            "loss_lr": (1e-06, 1.0, "log"),
            "la": (0.01, 100.0, "linear"),
            "gamma": (0.01, 100.0, "linear"),
            "reg_weight": (0.0, 1.0, "linear"),
            "margin": (0.0, 1.0, "linear"),
        },
        "sop": {
            "loss_lr": (1e-06, 1.0, "log"),
            "la": (0.01, 200.0, "linear"),
            "gamma": (0.01, 100.0, "linear"),
            "margin": (0.0, 1.0, "linear"),
        },
        "cub200_batch256": {
            "loss_lr": (1e-06, 1.0, "log"),
            "la": (0.01, 100.0, "linear"),
            "gamma": (1e-05, 100.0, "linear"),
            "reg_weight": (0.0, 1.0, "linear"),
            "margin": (0.0, 1.0, "linear"),
        },
    },
}

# Ours for theirs. The softmax scale of ProxyNCA multiplies squared distances, and so is the square of our scale.
NAMES = {
    "loss_lr": "groups.loss.lr",
    "softmax_scale": "method.scale",
    "num_bins": "method.bins",
    "la": "method.scale",
    "reg_weight": "method.tau",
    "epsilon": "mining.epsilon",
}
METHODS = {
    "margin_per_class": "margin",
    "normalized_softmax": "proxy_softmax",
    "multi_similarity_with_miner": "multi_similarity",
}
CLASSIFICATION = ("proxy_nca", "normalized_softmax", "cosface", "arcface", "soft_triple")

SHARED = {
    "backbone.name": "inception_bn_caffe", "embed_dim": 128, "head.bias": True, "head.normalize": True,
    "head.init": "fan_in",  # weights and biases uniform between -1/32 and 1/32 for 1024 -> 128
    "head.layer_norm": False, "head.weight_norm": False, "head.dropout": 0.0,
    "freeze_batchnorm": "statistics", "frozen_epochs": 0,
    "sampler.name": "class_passes", "iterations": 100, "epochs": 1000,
    "optimizer.name": "rmsprop", "optimizer.lr": 1e-6, "optimizer.weight_decay": 1e-4, "optimizer.momentum": 0.9,
    "optimizer.rho": 0.99, "optimizer.epsilon": 1e-8, "optimizer.clip": None,
    "groups.head.lr_mult": 1.0, "schedule.name": "constant",
    "transform.name": "reality_check", "protocol.name": "validated", "protocol.folds": 4, "protocol.criterion": "MAP@R",
    "protocol.untrained_counts": True, "evaluation.distance": "euclidean",
}  # fmt: skip
WATCHED = {  # epochs between evaluations, and evaluations without a gain that end a fold
    "cub200": {"evaluation.every": 2, "protocol.patience": 5},
    "cars196": {"evaluation.every": 5, "protocol.patience": 3},
    "sop": {"data.division": "halves", "evaluation.every": 20, "protocol.patience": 2},
    "cub200_batch256": {"evaluation.every": 2, "protocol.patience": 5},
}
NO_DECAY = {
    "mining.name": "all", "groups.loss.name": "rmsprop", "groups.loss.weight_decay": 0.0,
}  # fmt: skip
OWN_WEIGHTS = {"groups.loss.lr_mult": 1.0, "groups.loss.weight_decay": 1e-4}
FIXED = {  # of the library that it used: what our defaults do otherwise
    "nt_xent": {"method.floor": 1e-20},
    "proxy_nca": {"method.exclude_positive": False, "method.temperature": 1.0, "method.init_std": 1.0},
    "margin": {**NO_DECAY, "method.per_class": False},
    "margin_per_class": {**NO_DECAY, "method.per_class": True},
    "normalized_softmax": {"method.label_smoothing": 0.0, "method.init_std": 1.0},
    "arcface": {"method.monotonic": False},
    "multi_similarity_with_miner": {"mining.name": "multi_similarity", "mining.self_pairs": True},
    "soft_triple": {"method.centers": 10, "method.average_pairs": True},
}


def expected(row: str, data: str) -> dict:
    """What the recipe of this row says, by dotted keys."""
    said = {**SHARED, **WATCHED[data], "batch_size": 256 if data.endswith("256") else 32}
    said["sampler.per_class"] = 1 if row in CLASSIFICATION else 4
    said.update(OWN_WEIGHTS if row in CLASSIFICATION else {})
    said.update(FIXED.get(row, {}))
    for name, value in TUNED[row][data][0].items():
        said.update(ours(name, value))
    return said


def ours(name: str, value) -> dict:
    if name == "regularizer_weight":
        return {"regularizers": [{"name": "zero_mean", "weight": value}] if value else []}
    if name == "softmax_scale":
        value = value**0.5
    return {NAMES.get(name, f"method.{name}"): 0.0 if value is None else value}
