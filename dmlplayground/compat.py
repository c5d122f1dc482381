"""All that a retired MXNet needs on a present-day Python, in one place, with a reason a line.

``import dmlplayground`` calls :func:`install`, which costs nothing: it only puts a finder in front of
``sys.meta_path``. When somebody first writes ``import mxnet`` (or ``gluoncv``), that finder lends NumPy and
Python the names that MXNet 1.9.1 expects, repairs what the import brought, and turns a failure into a sentence
that says what is wrong and what to install.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import types
import warnings
from collections.abc import Iterator
from importlib import metadata, util
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path

from .errors import UserError

CPU_BUILD = "mxnet"
CUDA_BUILDS = tuple(f"mxnet-cu{version}" for version in (101, 102, 110, 112, 113, 114, 115, 116, 117))
INSTALL_CPU = "pip install 'dmlplayground[cpu]' (which is mxnet==1.9.1)"
INSTALL_CUDA = (
    "pip install 'dmlplayground[cu112]' (which is mxnet-cu112==1.9.1 and the CUDA libraries it links)"
)

# What the CUDA builds link, each after those it needs itself, as NVIDIA's own cu11 wheels carry it.
CUDA_LIBRARIES = (
    "cuda_runtime/lib/libcudart.so.11.0",
    "cublas/lib/libcublasLt.so.11",
    "cublas/lib/libcublas.so.11",
    "cufft/lib/libcufft.so.10",
    "curand/lib/libcurand.so.10",
    "cusolver/lib/libcusolver.so.11",
    "cuda_nvrtc/lib/libnvrtc.so.11.2",
    "nvtx/lib/libnvToolsExt.so.1",
    "nccl/lib/libnccl.so.2",
    "cudnn/lib/libcudnn.so.8",
)
# The wheels carry machine code for sm_50 to sm_86 and no PTX, which a later GPU could have compiled for itself.
FIRST_GPU_TOO_NEW = (9, 0)


class MissingMXNet(UserError, ImportError):
    """MXNet cannot be used here. It is an ImportError as well, for those who try ``import mxnet`` and do without."""


def install() -> None:
    """Arrange that importing MXNet works from now on; repair it at once where it has been imported already."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    if "mxnet" in sys.modules:
        _repair(sys.modules["mxnet"])


def builds() -> dict[str, str]:
    """The MXNet distributions in this environment with their versions; more than one is a fault."""
    found = {}
    for name in (CPU_BUILD, *CUDA_BUILDS):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def is_cuda_build() -> bool:
    return any(name in CUDA_BUILDS for name in builds())


# --- the hook ---------------------------------------------------------------------------------------------------


class _Finder:
    """Finds ``mxnet`` and ``gluoncv`` as Python itself would, then hands them to a loader that helps them along."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in _LOADERS:
            return None
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin is None:  # no origin: an empty folder that an uninstall left behind
            if name == "mxnet":
                raise MissingMXNet(
                    f"MXNet is not installed in {sys.prefix}. Install it with {INSTALL_CPU}, or, for an "
                    f"NVIDIA GPU, {INSTALL_CUDA}."
                )
            return None
        spec.loader = _LOADERS[name](name, spec.origin)
        return spec


class _MXNetLoader(SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        _forget_half_imported("mxnet")
        try:
            _refuse_version_2()
            _preload_cuda()
            with _lent_names(), warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # MXNet's own: invalid escapes, distutils, deprecated NumPy names
                super().exec_module(module)
        except Exception as error:
            _forget_half_imported("mxnet")
            raise _explain(error) from error
        _repair(module)


class _GluonCVLoader(SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        try:
            super().exec_module(module)
        except ImportError as error:
            cause = _swallowed_error() or error
            _forget_half_imported("gluoncv")
            if isinstance(cause, UserError):
                raise cause from error
            raise MissingMXNet(f"gluoncv cannot be imported: {cause}.{_remedy(cause)}") from cause


_LOADERS = {"mxnet": _MXNetLoader, "gluoncv": _GluonCVLoader}


def _forget_half_imported(package: str) -> None:
    """A failed import leaves submodules behind, and the next attempt would stumble over them with another message."""
    for name in [name for name in sys.modules if name.startswith(package + ".")]:
        del sys.modules[name]


def _swallowed_error() -> ImportError | None:
    """gluoncv hides the ImportErrors of its own parts behind "missing `mxnet` & `torch`": meet the first one again."""
    try:
        for part in (
            "mxnet",
            "gluoncv.data",
            "gluoncv.model_zoo",
            "gluoncv.nn",
            "gluoncv.utils",
            "gluoncv.loss",
        ):
            importlib.import_module(part)
    except ImportError as error:
        return error
    return None


# --- before MXNet is imported -----------------------------------------------------------------------------------


def _refuse_version_2() -> None:
    for name, version in builds().items():
        if not version.startswith("1."):
            raise MissingMXNet(
                f"{name} {version} is another interface than the MXNet 1.9.1 that dmlplayground is "
                f"written for: pip uninstall {name}, then {INSTALL_CPU} or {INSTALL_CUDA}."
            )


def _preload_cuda() -> None:
    """Load the CUDA libraries that pip installed: the loader of shared objects does not look into site-packages."""
    if not is_cuda_build():
        return
    import ctypes

    spec = util.find_spec("nvidia")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []
    for library in CUDA_LIBRARIES:
        for folder in folders:
            if (folder / library).is_file():
                ctypes.CDLL(str(folder / library), ctypes.RTLD_GLOBAL)


@contextlib.contextmanager
def _lent_names() -> Iterator[None]:
    """Give NumPy and Python what MXNet looks for; take back afterwards what it needs only while it is imported."""
    import numpy as np

    for name, value in {
        "bool": bool,  # gone in NumPy 1.24, back as another thing in 2.0; read again whenever mx.np is indexed
        "int": int,  # gone in 1.24; mxnet.test_utils.chi_square_check
        "Inf": np.inf,  # gone in 2.0; gluon.contrib.estimator, which is imported later
    }.items():
        vars(np).setdefault(name, value)

    def expired(*_: object, **__: object) -> None:
        raise NotImplementedError("NumPy gave its financial functions up in 1.20")

    borrowed = {
        # Re-exported by mxnet.numpy.utils; gone in NumPy 2.0.
        **{"PZERO": 0.0, "NZERO": -0.0, "PINF": np.inf, "NINF": -np.inf, "NAN": np.nan, "NaN": np.nan},
        # Re-exported by mxnet.numpy.fallback; the first two gone in 2.0, the next two in 2.4.
        **{"alltrue": np.all, "msort": lambda a: np.sort(a, axis=0)},
        **{"in1d": np.isin, "trapz": vars(np).get("trapezoid")},
        # Re-exported by the same; since 1.20 they only raise, since 2.0 they are not there at all.
        **dict.fromkeys(("mirr", "npv", "pmt", "ppmt", "pv", "rate"), expired),
    }
    borrowed = {name: value for name, value in borrowed.items() if name not in vars(np)}
    vars(np).update(borrowed)
    modules = _distutils_stand_in()
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in borrowed:
            delattr(np, name)
        for name in modules:
            del sys.modules[name]


def _distutils_stand_in() -> dict[str, types.ModuleType]:
    """Python 3.12 has no distutils, and nothing says that setuptools, which brings one, is installed.

    MXNet asks it only whether NumPy is older than 1.17, so comparing the leading numbers is enough.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "distutils.version" in sys.modules or util.find_spec("distutils") is not None:
            return {}

    class Version(tuple):
        def __new__(cls, text: str) -> Version:
            return super().__new__(cls, map(int, re.findall(r"\d+", text)[:3]))

    package, module = types.ModuleType("distutils"), types.ModuleType("distutils.version")
    package.version = module
    module.LooseVersion = module.StrictVersion = Version
    return {"distutils": package, "distutils.version": module}


# --- after it is imported ---------------------------------------------------------------------------------------


def _repair(mx: types.ModuleType) -> None:
    import numpy as np

    # np.asarray(an NDArray) walks it element by element into nonsense (NumPy < 1.24) or gives up (later).
    if "__array__" not in vars(mx.nd.NDArray):
        mx.nd.NDArray.__array__ = _as_numpy

    # Operator parameters travel to C as str(value), and NumPy 2 writes (np.int64(3),) where 1.x wrote (3,).
    if int(np.__version__.split(".")[0]) >= 2:
        for module in ("mxnet._ctypes.ndarray", "mxnet._ctypes.symbol", "mxnet.io.io"):
            sys.modules[module].str = _plain_str  # type: ignore[attr-defined]

    # recordio.pack with a vector for a label, and pack_img, call ndarray.tostring, which NumPy 2.3 removed.
    if not hasattr(np.ndarray, "tostring"):
        mx.recordio.pack, mx.recordio.pack_img = _packers(mx.recordio)


def _as_numpy(self, dtype=None, copy=None):  # type: ignore[no-untyped-def]
    array = self.asnumpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _plain_str(value: object) -> str:
    return str(_plain(value) if isinstance(value, (tuple, list)) else value)


def _plain(value: object) -> object:
    """``value`` with the NumPy scalars inside its tuples and lists turned into Python's own."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


def _packers(recordio: types.ModuleType):  # type: ignore[no-untyped-def]
    import struct
    from numbers import Number

    import numpy as np

    pack_number = recordio.pack

    def pack(header, data):  # type: ignore[no-untyped-def]
        header = recordio.IRHeader(*header)
        if isinstance(header.label, Number):
            return pack_number(header, data)
        label = np.asarray(header.label, dtype=np.float32)
        header = header._replace(flag=label.size, label=0)
        return struct.pack(recordio._IR_FORMAT, *header) + label.tobytes() + data

    def pack_img(header, img, quality=95, img_fmt=".jpg"):  # type: ignore[no-untyped-def]
        import cv2

        option = cv2.IMWRITE_PNG_COMPRESSION if img_fmt.lower() == ".png" else cv2.IMWRITE_JPEG_QUALITY
        encoded, data = cv2.imencode(img_fmt, img, [option, quality])
        if not encoded:
            raise ValueError(f"OpenCV could not write the image as {img_fmt}")
        return pack(header, data.tobytes())

    return pack, pack_img


# --- when it cannot be ------------------------------------------------------------------------------------------


def _explain(error: Exception) -> MissingMXNet:
    """What is wrong and what to install, for whatever ``import mxnet`` died of."""
    if isinstance(error, MissingMXNet):
        return error
    what = " and ".join(f"{name} {version}" for name, version in builds().items()) or "MXNet"
    if len(builds()) > 1:
        return MissingMXNet(
            f"{what} are both installed and have overwritten each other's files: pip uninstall both, "
            f"then {INSTALL_CPU} or {INSTALL_CUDA}."
        )
    library = re.match(r"(\S+\.so[.\d]*): cannot open shared object file", str(error))
    if library and library[1].startswith("libcuda.so"):
        return MissingMXNet(
            f"{what} needs NVIDIA's driver ({library[1]}), which this machine does not have. "
            f"Install the driver, or pip uninstall {what.split()[0]} and {INSTALL_CPU}."
        )
    if library and is_cuda_build():
        return MissingMXNet(
            f"{what} needs the CUDA library {library[1]}, which is not here. Install it with "
            f"{INSTALL_CUDA}, or without a GPU pip uninstall {what.split()[0]} and {INSTALL_CPU}."
        )
    return MissingMXNet(
        f"{what} is installed but cannot be imported ({type(error).__name__}: {error}).{_remedy(error)}"
    )


def _remedy(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f" Install the missing part: pip install {error.name.split('.')[0]}."
    library = re.match(r"(lib\S+\.so[.\d]*): cannot open shared object file", str(error))
    if library:
        return f" Install the system's package that has {library[1]}."
    return " Install it afresh: pip install --force-reinstall --no-deps mxnet==1.9.1."


# --- devices ----------------------------------------------------------------------------------------------------


def context(name: str):  # type: ignore[no-untyped-def]
    """The ``mxnet.Context`` called ``cpu``, ``cpu:1``, ``gpu`` or ``gpu:1``; a UserError where it cannot be used."""
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "gpu") or not (number or "0").isdecimal():
        raise UserError(
            f"unknown device {name!r}. Known: cpu, gpu, and gpu:1 and so on where there are several."
        )
    import mxnet as mx

    index = int(number or 0)
    if kind == "cpu":
        return mx.cpu(index)
    if not is_cuda_build() and not mx.runtime.Features().is_enabled("CUDA"):
        raise UserError(
            f"device {name!r} needs the CUDA build of MXNet; this is the CPU build. "
            f"pip uninstall {CPU_BUILD}, then {INSTALL_CUDA}."
        )
    capabilities = gpu_capabilities()
    if index >= len(capabilities):
        raise UserError(f"there is no device {name!r}: NVIDIA's driver shows {len(capabilities)} GPUs here.")
    if capabilities[index] >= FIRST_GPU_TOO_NEW:
        raise UserError(
            f"device {name!r} is too new for MXNet 1.9.1: it has compute capability "
            f"{_dotted(capabilities[index])}, and the last builds hold code for 5.0 to 8.9. Use an older GPU "
            "or device cpu."
        )
    return mx.gpu(index)


def gpu_capabilities() -> list[tuple[int, int]]:
    """The compute capability of each GPU, asked of NVIDIA's driver: MXNet itself does not tell."""
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    major_attribute, minor_attribute = 75, 76
    count, value = ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []

    def ask(attribute: int, device: int) -> int:
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        return value.value

    return [(ask(major_attribute, device), ask(minor_attribute, device)) for device in range(count.value)]


def _dotted(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))
