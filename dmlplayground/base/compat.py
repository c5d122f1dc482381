"""Everything that a retired MXNet needs on a present-day Python, in one place, with a reason for each.

``import dmlplayground`` only puts a finder in front of ``sys.meta_path``. At the first ``import mxnet`` (or ``gluoncv``)
that lends NumPy and Python the names that MXNet 1.9.1 expects, repairs what the import brought, and turns a failure into
a sentence that says what is wrong and what to install.
"""

import contextlib
import importlib
import re
import sys
import types
import warnings
from collections.abc import Iterator
from importlib import util
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

from . import threads
from .errors import UserError

CPU_BUILD = "mxnet"
CUDA_BUILDS = tuple(f"mxnet-cu{version}" for version in (101, 102, 110, 112, 113, 114, 115, 116, 117))
INSTALL_CPU = (
    "pip install 'dmlplayground[cpu]' (mxnet==1.9.1)"
    if sys.version_info < (3, 13)
    else "pip install --no-deps mxnet==1.9.1 (its metadata asks for a NumPy that Python 3.13 no longer has)"
)
INSTALL_CUDA = "pip install 'dmlplayground[cu112]' (mxnet-cu112==1.9.1 and the CUDA libraries it links)"

# What the CUDA builds link, each after those it needs itself, as NVIDIA's own cu11 wheels carry it.
CUDA_LIBRARIES = (
    "cuda_runtime/lib/libcudart.so.11.0", "cublas/lib/libcublasLt.so.11", "cublas/lib/libcublas.so.11",
    "cufft/lib/libcufft.so.10", "curand/lib/libcurand.so.10", "cusolver/lib/libcusolver.so.11",
    "cuda_nvrtc/lib/libnvrtc.so.11.2", "nvtx/lib/libnvToolsExt.so.1", "nccl/lib/libnccl.so.2", "cudnn/lib/libcudnn.so.8",
)  # fmt: skip
# What every build links and its wheel does not carry; a machine with a compiler has them, a slim one may not.
SYSTEM_PACKAGES = {"libgomp.so.1": "libgomp1", "libquadmath.so.0": "libquadmath0"}


class MissingMXNet(UserError, ImportError):
    """MXNet cannot be used here. Also an ImportError, for code that tries the import and continues without it."""


def install() -> None:
    """Make importing MXNet work from now on; repair it at once where it has been imported already."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    if "mxnet" in sys.modules:
        _repair(sys.modules["mxnet"])


def builds() -> dict[str, str]:
    """The MXNet distributions in this environment with their versions; more than one is a fault."""
    from importlib import metadata  # here, as it takes as long as the rest of this file

    found = {}
    for name in (CPU_BUILD, *CUDA_BUILDS):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


# --- the hook -----------------------------------------------------------------------------------------------


class _Finder:
    """Finds ``mxnet`` and ``gluoncv`` as Python itself would, and gives them a loader that helps."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in _LOADERS:
            return None
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin is None:  # no origin: an empty folder that an uninstall left behind
            if name == "mxnet":
                raise MissingMXNet(
                    f"MXNet is not installed in {sys.prefix}. Install it with {INSTALL_CPU}, "
                    f"or, for an NVIDIA GPU, {INSTALL_CUDA}."
                )
            return None
        spec.loader = _LOADERS[name](name, spec.origin)
        return spec


class _MXNetLoader(SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        _forget_parts("mxnet")
        threads.arithmetic()
        try:
            for name, version in builds().items():
                if not version.startswith("1."):
                    raise MissingMXNet(
                        f"{name} {version} has another interface than the MXNet 1.9.1 that dmlplayground is "
                        f"written for: pip uninstall {name}, then {INSTALL_CPU} or {INSTALL_CUDA}."
                    )
            _lend_system_libraries()
            _preload_cuda()
            with _lent_numpy_names(), _lent_distutils(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes, distutils, deprecated NumPy names
                super().exec_module(module)
        except Exception as error:
            _forget_parts("mxnet")
            raise _explain(error) from error
        _repair(module)


class _GluonCVLoader(SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        from unittest import mock  # here, as whoever imports dmlplayground loads this file

        try:
            from PIL import ImageFile

            # gluoncv tells Pillow, for the whole process, to accept truncated files.
            strict = mock.patch.object(ImageFile, "LOAD_TRUNCATED_IMAGES", ImageFile.LOAD_TRUNCATED_IMAGES)
            with strict, _lent_distutils(), _Hidden("torch"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # distutils
                super().exec_module(module)
        except ImportError as error:
            cause = _swallowed_error() or error
            _forget_parts("gluoncv")
            if isinstance(cause, MissingMXNet):
                raise cause from error
            raise MissingMXNet(f"gluoncv cannot be imported: {cause}. {_remedy(cause, 'gluoncv')}") from cause


class _Hidden:
    """An import of ``package`` fails meanwhile, as if it were not installed: gluoncv does not need torch, but refuses
    to be imported beside its version 2. (A None in ``sys.modules`` would do as much, and trips those who look there.)"""

    def __init__(self, package: str):
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.package:
            raise ModuleNotFoundError(f"{name} is hidden")

    def __enter__(self) -> None:
        self.loaded = sys.modules.pop(self.package, None)
        sys.meta_path.insert(0, self)

    def __exit__(self, *failure: object) -> None:
        sys.meta_path.remove(self)
        if self.loaded is not None:
            sys.modules[self.package] = self.loaded


_LOADERS = {"mxnet": _MXNetLoader, "gluoncv": _GluonCVLoader}


def _forget_parts(package: str) -> None:
    """Remove the submodules that a failed import leaves behind; otherwise the next attempt would fail on them."""
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        del sys.modules[name]


def _swallowed_error() -> ImportError | None:
    """The first ImportError of the parts of gluoncv, which says no more than "missing `mxnet` & `torch`"."""
    try:
        for part in ("mxnet", *(f"gluoncv.{name}" for name in ("data", "model_zoo", "nn", "utils", "loss"))):
            importlib.import_module(part)
    except ImportError as error:
        return error
    return None


# --- before MXNet is imported -------------------------------------------------------------------------------


def _lend_system_libraries() -> None:
    """Where the system lacks what MXNet links, load what the wheels of NumPy and scikit-learn carry under a name of their own:
    a copy with the plain name inside, which the linker goes by. If that fails, MXNet's import names what is missing."""
    import ctypes  # here, as whoever imports dmlplayground loads this file
    import tempfile  # likewise

    for library in SYSTEM_PACKAGES:
        with contextlib.suppress(OSError):
            ctypes.CDLL(library)
            continue
        stem = library.partition(".")[0]
        for path in (path for folder in sys.path for path in Path(folder).glob(f"*.libs/{stem}-*.so*")):
            own_name, plain_name = path.name.encode(), library.encode()
            with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(suffix=path.name) as copy:
                copy.write(path.read_bytes().replace(own_name, plain_name.ljust(len(own_name), b"\0")))
                copy.flush()
                ctypes.CDLL(copy.name, ctypes.RTLD_GLOBAL)
                break


def _preload_cuda() -> None:
    """Load the CUDA libraries that pip installed, for the linker does not look into site-packages."""
    spec = util.find_spec("nvidia")
    if spec is None or not any(name in CUDA_BUILDS for name in builds()):
        return
    import ctypes  # here, as whoever imports dmlplayground loads this file

    for library in CUDA_LIBRARIES:
        for folder in spec.submodule_search_locations or ():
            path = Path(folder, library)
            if path.is_file():
                ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


@contextlib.contextmanager
def _lent_numpy_names() -> Iterator[None]:
    """Give NumPy the names MXNet looks for; take back those needed only to import it."""
    import numpy as np

    def expired(*_: object, **__: object) -> None:
        raise NotImplementedError("NumPy gave up its financial functions in version 1.20")

    kept = {
        "bool": bool,  # gone in 1.24 (2.0 has another); mxnet.numpy reads it whenever it is indexed
        "int": int,  # gone in 1.24; mxnet.test_utils.chi_square_check
        "Inf": np.inf,  # gone in 2.0; gluon.contrib.estimator, imported when first wanted
        "compat": types.SimpleNamespace(basestring=str),  # gone in 2.0; mxnet.numpy.pad
    }
    for name, value in kept.items():
        vars(np).setdefault(name, value)
    borrowed = {  # mxnet.numpy only re-exports these, or registers its own under them, and never reads them again
        "PZERO": 0.0, "NZERO": -0.0, "PINF": np.inf, "NINF": -np.inf, "NAN": np.nan, "NaN": np.nan,  # gone in 2.0
        "alltrue": np.all, "sometrue": np.any, "product": np.prod, "round_": np.round,  # so are these
        "msort": lambda a: np.sort(a, axis=0),
        "in1d": np.isin, "trapz": vars(np).get("trapezoid"),  # gone in 2.4
        **dict.fromkeys(("mirr", "npv", "pmt", "ppmt", "pv", "rate"), expired),
    }  # fmt: skip
    borrowed = {name: value for name, value in borrowed.items() if name not in vars(np)}
    vars(np).update(borrowed)
    try:
        yield
    finally:
        for name in borrowed:
            del vars(np)[name]


@contextlib.contextmanager
def _lent_distutils() -> Iterator[None]:
    """A stand-in on Python 3.12 and later without setuptools, which would bring a distutils. MXNet and gluoncv only compare
    versions by it, NumPy's with 1.17 and MXNet's with 1.4, so the leading numbers are enough."""
    if "distutils.version" in sys.modules or util.find_spec("distutils") is not None:
        yield
        return

    class Version(tuple):
        def __new__(cls, text: str) -> "Version":
            return super().__new__(cls, map(int, re.findall(r"\d+", text)[:3]))

    version = types.ModuleType("distutils.version")
    vars(version).update(LooseVersion=Version, StrictVersion=Version)
    sys.modules.update({"distutils": types.ModuleType("distutils"), "distutils.version": version})
    try:
        yield
    finally:
        del sys.modules["distutils"], sys.modules["distutils.version"]


# --- after it is imported -----------------------------------------------------------------------------------


def _repair(mx: types.ModuleType) -> None:
    import numpy as np

    def as_numpy(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    # np.asarray(an NDArray) walks it element by element into nonsense (NumPy < 1.24) or gives up (later).
    if "__array__" not in vars(mx.nd.NDArray):
        mx.nd.NDArray.__array__ = as_numpy

    # Parameters and shapes travel to C as str(value), and NumPy 2 writes (np.int64(3),) where 1.x wrote (3,).
    if int(np.__version__.split(".")[0]) >= 2:
        for module in ("_ctypes.ndarray", "_ctypes.symbol", "symbol.symbol", "io.io"):
            vars(sys.modules[f"mxnet.{module}"])["str"] = _PlainStr


class _AnyStr(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, str)


class _PlainStr(metaclass=_AnyStr):
    """Stands for ``str`` in a module of MXNet, which calls it and asks ``isinstance(value, str)``."""

    def __new__(cls, value: object) -> str:  # type: ignore[misc]
        return str(_plain(value) if isinstance(value, (tuple, list)) else value)


def _plain(value: object) -> object:
    """``value`` with the NumPy scalars inside its tuples and lists turned into Python's own."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return value.item() if hasattr(value, "item") else value


# --- when it cannot be imported -----------------------------------------------------------------------------


def _explain(error: Exception) -> MissingMXNet:
    """What is wrong and what to install, for whatever ``import mxnet`` died of."""
    if isinstance(error, MissingMXNet):
        return error
    found = builds()
    names, what = " ".join(found), " and ".join(f"{name} {version}" for name, version in found.items())
    if len(found) > 1:
        return MissingMXNet(
            f"{what} are both installed and have overwritten each other's files: pip uninstall {names}, "
            f"then {INSTALL_CPU} or {INSTALL_CUDA}."
        )
    library = _missing_library(error)
    if library.startswith("libcuda.so"):
        return MissingMXNet(
            f"{what} needs NVIDIA's driver ({library}), which this machine does not have. "
            f"Install the driver, or pip uninstall {names} and {INSTALL_CPU}."
        )
    if library and names in CUDA_BUILDS:
        return MissingMXNet(
            f"{what} needs the CUDA library {library}, which is not here. Install it with "
            f"{INSTALL_CUDA}, or, without a GPU, pip uninstall {names} and {INSTALL_CPU}."
        )
    return MissingMXNet(
        f"{what or 'MXNet'} is installed but cannot be imported ({type(error).__name__}: {error}). "
        + _remedy(error, names or CPU_BUILD)
    )


def _missing_library(error: Exception) -> str:
    found = re.match(r"(\S+\.so[.\d]*): cannot open shared object file", str(error))
    return found[1] if found else ""


def _remedy(error: Exception, package: str) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"Install the missing part: pip install {error.name.split('.')[0]}."
    library = _missing_library(error)
    if library in SYSTEM_PACKAGES:
        return f"Install your system's packages, on Debian: apt install {' '.join(SYSTEM_PACKAGES.values())}."
    if library:
        return f"Install your system's package that has {library}."
    version = builds().get(package)
    exact = f"{package}=={version}" if version else package
    return f"Install it afresh: pip install --force-reinstall --no-deps {exact}."
