"""From the name of a device to MXNet's context; devices that would fail later are refused at once."""

import ctypes
import re
from typing import Any

from .compat import CPU_BUILD, INSTALL_CUDA
from .errors import UserError

# The last builds of MXNet carry machine code for 5.0 to 8.6, and no PTX for a later GPU to compile.
FIRST_TOO_NEW = (9, 0)


def context(name: str) -> Any:
    """The ``mxnet.Context`` called ``cpu``, ``gpu`` or ``gpu:1``; a UserError if it cannot be used."""
    found = re.fullmatch(r"(cpu|gpu)(?::(\d+))?", name)
    if not found:
        raise UserError(f"unknown device {name!r}. Known: cpu, gpu, gpu:1 and so on.")
    import mxnet as mx

    index = int(found[2] or 0)
    if found[1] == "cpu":
        return mx.cpu(index)
    if not built_for_cuda():
        raise UserError(
            f"device {name!r} needs the CUDA build of MXNet; this is the CPU build. "
            f"pip uninstall {CPU_BUILD}, then {INSTALL_CUDA}."
        )
    capabilities = gpu_capabilities()
    if index >= len(capabilities):
        raise _no_device(name, len(capabilities))
    if capabilities[index] >= FIRST_TOO_NEW:
        raise UserError(
            f"device {name!r} is too new for MXNet 1.9.1: it has compute capability "
            f"{capability_text(capabilities[index])}, and there is code for 5.0 to 8.9 only. "
            "Use an older GPU or device cpu."
        )
    return mx.gpu(index)


def _no_device(name: str, gpus: int) -> UserError:
    return UserError(f"there is no device {name!r}: GPUs that NVIDIA's driver shows here: {gpus}.")


def require(device: str, count: int, amp: bool | str) -> None:
    """A UserError if a trial's devices do not exist, as far as that is known without loading MXNet."""
    if device != "gpu" and not amp:
        return
    gpus = 0 if device == "cpu" else len(gpu_capabilities())
    if device == "gpu" and gpus < count:
        raise _no_device(f"gpu:{count - 1}", gpus)
    check_amp(amp, count, gpus, "gpu" if gpus >= count else "cpu")


def check_amp(amp: bool | str, count: int, gpus: int, kind: str) -> None:
    """A UserError if ``amp`` does not fit the kind of device."""
    if amp is True and kind == "cpu":
        raise UserError(
            f"amp true computes in float16 on GPUs: the trial asks for {count}, and this machine offers MXNet {gpus}. "
            "On the CPU leave it false, or set it to bfloat16."
        )
    if amp == "bfloat16" and kind == "gpu":
        raise UserError(
            "amp bfloat16 is for CPUs, and this trial computes on a GPU: set amp to true, or device to cpu."
        )


def built_for_cuda() -> bool:
    import mxnet as mx

    return bool(mx.runtime.Features().is_enabled("CUDA"))


def gpu_capabilities() -> list[tuple[int, int]]:
    """The compute capability of each GPU, asked of NVIDIA's driver: MXNet itself does not tell."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    number = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(number)):
        return []
    count = number.value

    def ask(attribute: int, device: int) -> int:
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
        return number.value

    major, minor = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    return [(ask(major, device), ask(minor, device)) for device in range(count)]


def capability_text(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))
