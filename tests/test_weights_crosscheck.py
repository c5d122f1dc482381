"""Networks and conversion against PyTorch's own, on random weights. Needs the extra ``crosscheck``; skips
without it."""

import warnings

import numpy as np
import pytest
from mxnet import autograd, nd

from dmlplayground import backbones

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'dmlplayground[crosscheck]'"
)
from reference import torch_networks  # noqa: E402  (it imports PyTorch)

NAMES = sorted(torch_networks.NETWORKS)


@pytest.fixture(scope="module", params=NAMES)
def pair(request, tmp_path_factory):
    """A network of PyTorch's with random weights, and ours with the same, read from the file that PyTorch
    wrote."""
    peer = torch_networks.randomise(torch_networks.NETWORKS[request.param](), seed=3)
    path = tmp_path_factory.mktemp("weights") / "peer.pth"
    torch.save(
        {"state_dict": {f"module.{name}": value for name, value in peer.state_dict().items()}, "epoch": 3},
        path,
    )
    return request.param, peer, backbones.create(request.param, pretrained=str(path))


def _images(size: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 1, (2, 3, size, size)).astype(np.float32)


@pytest.mark.parametrize("size", [224, 161])
def test_features_agree(pair, size):
    name, peer, ours = pair
    if size != 224 and name == "efficientnet_lite0":
        pytest.skip("TensorFlow's padding depends on the size being even; ours is for even sizes")
    images = _images(size)
    with torch.no_grad():
        expected = peer.features(torch.from_numpy(images)).numpy()
    features = ours(nd.array(images)).asnumpy()
    np.testing.assert_allclose(features, expected, rtol=0, atol=2e-4 * np.abs(expected).max())


def test_weights_for_other_poolings_and_channels_are_remarked_on(pair, tmp_path):
    name, peer, _ = pair
    torch.save(peer.state_dict(), tmp_path / "peer.pth")
    if name == "inception_bn_caffe":
        with pytest.warns(
            UserWarning, match="whose poolings and preprocessing are those of inception_bn_caffe"
        ):
            backbones.create("inception_bn", pretrained=str(tmp_path / "peer.pth"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        backbones.create(name, pretrained=str(tmp_path / "peer.pth"))


def test_training_mode_agrees(pair):
    """Batch statistics, and how the running ones move."""
    _, peer, ours = pair
    images = _images(96)
    with torch.no_grad():
        expected = peer.train().features(torch.from_numpy(images)).numpy()
    peer.eval()
    with autograd.train_mode():
        features = ours(nd.array(images)).asnumpy()
    np.testing.assert_allclose(features, expected, rtol=0, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("legacy", [False, True], ids=["archive", "stream"])
def test_both_formats_of_pytorch_are_read(tmp_path, legacy):
    from dmlplayground.parts.backbones.shared.weights import torch_files

    tensors = {
        "float": torch.arange(12.0).reshape(3, 4),
        "turned": torch.arange(12.0).reshape(3, 4).t(),
        "part": torch.arange(12.0)[5:9],
        "half": torch.tensor([0.5, -3.0]).half(),
        "bfloat16": torch.tensor([0.5, -3.0, 1e30]).bfloat16(),
        "whole": torch.tensor([[1, -2]]),
        "scalar": torch.tensor(7),
        "empty": torch.zeros(0, 3),
        "parameter": torch.nn.Parameter(torch.ones(2)),
    }
    path = tmp_path / "t.pt"
    torch.save(tensors, path, _use_new_zipfile_serialization=not legacy)
    found = torch_files.read(path)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        expected = tensor.detach().float() if name == "bfloat16" else tensor.detach()
        np.testing.assert_array_equal(found[name], expected.numpy(), err_msg=name)
