"""Device names become contexts, and every GPU that cannot be used is refused with its reason."""

import os
import shutil
import subprocess
import sys

import pytest

from dmlplayground.base import devices
from dmlplayground.base.errors import UserError

# A driver with two GPUs of compute capability 8.6 and 9.0.
DRIVER = """
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 8 + device : attribute == 76 ? 6 - 6 * device : -1;
    return 0;
}
"""


@pytest.mark.parametrize("name", ["", "tpu", "gpu:", "gpu:x", "gpu:-1", "cpu(0)", "GPU"])
def test_unknown_device(name):
    with pytest.raises(UserError, match="unknown device .* Known: cpu, gpu"):
        devices.context(name)


def test_cpu_devices():
    assert str(devices.context("cpu")) == "cpu(0)"
    assert str(devices.context("cpu:1")) == "cpu(1)"


@pytest.mark.parametrize(
    "cuda, capabilities, expected",
    [
        (False, [], "needs the CUDA build of MXNet; this is the CPU build"),
        (True, [], "shows here: 0."),
        (True, [(8, 6)], "shows here: 1."),
        (True, [(8, 6), (9, 0)], "'gpu:1' is too new for MXNet 1.9.1: it has compute capability 9.0"),
        (True, [(8, 6), (12, 0)], "'gpu:1' is too new for MXNet 1.9.1: it has compute capability 12.0"),
    ],
)
def test_gpu_that_cannot_be_used(cuda, capabilities, expected, monkeypatch):
    monkeypatch.setattr(devices, "built_for_cuda", lambda: cuda)
    monkeypatch.setattr(devices, "gpu_capabilities", lambda: capabilities)
    with pytest.raises(UserError) as error:
        devices.context("gpu:1")
    assert expected in str(error.value)


def test_gpu_that_can(monkeypatch):
    monkeypatch.setattr(devices, "built_for_cuda", lambda: True)
    monkeypatch.setattr(devices, "gpu_capabilities", lambda: [(8, 9)])
    assert str(devices.context("gpu")) == "gpu(0)"


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler for the stand-in of the driver")
def test_capabilities_are_asked_of_the_driver(tmp_path):
    (tmp_path / "driver.c").write_text(DRIVER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libcuda.so.1", "driver.c"], cwd=tmp_path, check=True)
    result = subprocess.run(
        [sys.executable, "-c", "from dmlplayground.base import devices; print(devices.gpu_capabilities())"],
        capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
    )  # fmt: skip
    assert result.stdout.strip() == "[(8, 6), (9, 0)]", result.stderr
