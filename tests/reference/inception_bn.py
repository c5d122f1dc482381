"""Inception-BN as one symbolic graph, written from the published table, with the names of MXNet's
checkpoint."""

import mxnet as mx
import numpy as np

TABLE = """
3a  1x1 64   3x3 64 64    double 64 96    avg 32
3b  1x1 64   3x3 64 96    double 64 96    avg 64
3c  half     3x3 128 160  double 64 96    max
4a  1x1 224  3x3 64 96    double 96 128   avg 128
4b  1x1 192  3x3 96 128   double 96 128   avg 128
4c  1x1 160  3x3 128 160  double 128 160  avg 128
4d  1x1 96   3x3 128 192  double 160 192  avg 128
4e  half     3x3 128 192  double 192 256  max
5a  1x1 352  3x3 192 320  double 160 224  avg 128
5b  1x1 352  3x3 192 320  double 192 224  max 128
"""


def _unit(data, name, channels, kernel, stride=(1, 1), pad=(0, 0)):
    data = mx.sym.Convolution(
        data, num_filter=channels, kernel=kernel, stride=stride, pad=pad, name=f"conv_{name}"
    )
    data = mx.sym.BatchNorm(data, eps=1e-5 + 1e-10, momentum=0.9, fix_gamma=False, name=f"bn_{name}")
    return mx.sym.Activation(data, act_type="relu", name=f"relu_{name}")


def _pool(data, kind, stride=(1, 1), pad=(1, 1)):
    return mx.sym.Pooling(data, kernel=(3, 3), stride=stride, pad=pad, pool_type=kind)


def graph(classes: int = 10):
    x = _unit(mx.sym.Variable("data"), "1", 64, (7, 7), (2, 2), (3, 3))
    x = _pool(x, "max", (2, 2), (0, 0))
    x = _unit(_unit(x, "2_red", 64, (1, 1)), "2", 192, (3, 3), pad=(1, 1))
    x = _pool(x, "max", (2, 2), (0, 0))
    for line in TABLE.strip().splitlines():
        words = line.split()
        name, half = words[0], words[1] == "half"
        triple, double, last = (
            words.index("3x3"),
            words.index("double"),
            words.index("max" if "max" in words else "avg"),
        )
        stride = (2, 2) if half else (1, 1)
        a = _unit(x, f"{name}_3x3_reduce", int(words[triple + 1]), (1, 1))
        a = _unit(a, f"{name}_3x3", int(words[triple + 2]), (3, 3), stride, (1, 1))
        b = _unit(x, f"{name}_double_3x3_reduce", int(words[double + 1]), (1, 1))
        b = _unit(b, f"{name}_double_3x3_0", int(words[double + 2]), (3, 3), pad=(1, 1))
        b = _unit(b, f"{name}_double_3x3_1", int(words[double + 2]), (3, 3), stride, (1, 1))
        c = _pool(x, words[last], stride)
        if half:
            x = mx.sym.Concat(a, b, c)
        else:
            c = _unit(c, f"{name}_proj", int(words[last + 1]), (1, 1))
            x = mx.sym.Concat(_unit(x, f"{name}_1x1", int(words[2]), (1, 1)), a, b, c)
    x = mx.sym.Pooling(x, kernel=(7, 7), stride=(1, 1), pool_type="avg", name="global_pool")
    x = mx.sym.Flatten(x, name="flatten")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=classes, name="fc1"), name="softmax")


def parameters(seed: int = 0) -> dict[str, np.ndarray]:
    """Random ones, as the checkpoint stores them: ``arg:`` and ``aux:`` before the name."""
    symbol = graph()
    rng = np.random.default_rng(seed)
    shapes, _, statistics = symbol.infer_shape(data=(1, 3, 224, 224))
    named = {f"arg:{name}": shape for name, shape in zip(symbol.list_arguments(), shapes)}
    named.update({f"aux:{name}": shape for name, shape in zip(symbol.list_auxiliary_states(), statistics)})
    del named["arg:data"], named["arg:softmax_label"]
    made = {}
    for name, shape in named.items():
        if name.endswith("weight"):
            made[name] = rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        elif name.endswith(("gamma", "var")):
            made[name] = rng.uniform(0.5, 1.5, shape)
        else:
            made[name] = rng.normal(0, 0.1, shape)
    return {name: array.astype(np.float32) for name, array in made.items()}
