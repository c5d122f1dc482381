"""Where MXNet cannot be had, the message says why and what to install; stand-ins play the broken packages."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dmlplayground.base import compat

ROOT = Path(__file__).parents[1]
SWALLOWING = (
    "try:\n    from . import data\nexcept ImportError: raise ImportError('missing `mxnet` & `torch`')"
)
CPU, CUDA = {"mxnet": "1.9.1"}, {"mxnet-cu112": "1.9.1"}


def last_line(code, folder=ROOT, flags=()):
    """The last line on stderr of a Python that dies of ``code``, with ``folder`` first on its path."""
    path = os.pathsep.join(map(str, (folder, ROOT)))
    result = subprocess.run(
        [sys.executable, *flags, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stderr.splitlines()[-1]


def importing(tmp_path, source, builds, package="mxnet"):
    """The message of an ``import`` of a package whose whole text is ``source``."""
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(source)
    return last_line(
        f"from dmlplayground import compat; compat.builds = lambda: {builds}; import {package}", tmp_path
    )


def test_missing():
    message = last_line("import dmlplayground, mxnet", flags=["-S"])  # -S: no site-packages
    assert message.startswith("dmlplayground.base.compat.MissingMXNet: MXNet is not installed in ")
    assert compat.INSTALL_CPU in message and compat.INSTALL_CUDA in message


def test_missing_is_an_import_error_for_those_who_do_without():
    code = "import dmlplayground\ntry: import mxnet\nexcept ImportError: print('without')"
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.stdout == "without\n", result.stderr


def test_empty_folder_left_behind_counts_as_missing(tmp_path):
    (tmp_path / "mxnet").mkdir()
    assert "MXNet is not installed" in last_line("import dmlplayground, mxnet", tmp_path, flags=["-S"])


@pytest.mark.parametrize(
    "source, builds, expected",
    [
        ("raise OSError('libcudnn.so.8: cannot open shared object file: No such file')", CUDA,
         ["mxnet-cu112 1.9.1 needs the CUDA library libcudnn.so.8", compat.INSTALL_CUDA, compat.INSTALL_CPU]),
        ("raise OSError('libcuda.so.1: cannot open shared object file: No such file')", CUDA,
         ["NVIDIA's driver (libcuda.so.1)", "pip uninstall mxnet-cu112", compat.INSTALL_CPU]),
        ("raise OSError('libquadmath.so.0: cannot open shared object file: No such file')", CPU,
         ["mxnet 1.9.1 is installed but cannot be imported", "apt install libgomp1 libquadmath0"]),
        ("raise OSError('libother.so.5: cannot open shared object file: No such file')", CPU,
         ["Install your system's package that has libother.so.5"]),
        ("import no_such_part.inner", CPU, ["No module named 'no_such_part'", "pip install no_such_part."]),
        ("raise AttributeError('half a file')", CPU,
         ["AttributeError: half a file", "pip install --force-reinstall --no-deps mxnet==1.9.1"]),
        ("raise AttributeError('half a file')", CUDA, ["--force-reinstall --no-deps mxnet-cu112==1.9.1"]),
        ("raise AttributeError('half a file')", {**CPU, **CUDA},
         ["mxnet 1.9.1 and mxnet-cu112 1.9.1 are both installed", "pip uninstall mxnet mxnet-cu112"]),
        ("", {"mxnet": "2.0.0b1"}, ["mxnet 2.0.0b1 has another interface", "pip uninstall mxnet"]),
    ],
)  # fmt: skip
def test_broken(tmp_path, source, builds, expected):
    message = importing(tmp_path, source, builds)
    assert message.startswith("dmlplayground.base.compat.MissingMXNet: ")
    for part in expected:
        assert part in message


def test_second_attempt_says_the_same_as_the_first(tmp_path):
    (tmp_path / "mxnet").mkdir()
    (tmp_path / "mxnet/__init__.py").write_text("from . import part\nraise ValueError('later')")
    (tmp_path / "mxnet/part.py").write_text("import sys\nassert not hasattr(sys, 'met'), 'a stale part'\n")
    code = "import dmlplayground\ntry: import mxnet\nexcept ImportError: pass\nimport mxnet"
    assert "ValueError: later" in last_line(code, tmp_path)


def test_error_that_gluoncv_swallows_is_unpacked(tmp_path):
    (tmp_path / "mxnet").mkdir()
    (tmp_path / "mxnet/__init__.py").write_text(
        "raise OSError('libcudnn.so.8: cannot open shared object file')"
    )
    message = importing(tmp_path, SWALLOWING, CUDA, "gluoncv")
    assert "needs the CUDA library libcudnn.so.8" in message


def test_missing_part_of_gluoncv_is_named(tmp_path):
    (tmp_path / "mxnet.py").write_text("")
    (tmp_path / "gluoncv").mkdir()
    (tmp_path / "gluoncv/data.py").write_text("import no_such_lock")
    (tmp_path / "gluoncv/__init__.py").write_text(SWALLOWING)
    message = last_line("import sys, dmlplayground; sys.modules['mxnet'] = sys; import gluoncv", tmp_path)
    assert "gluoncv cannot be imported: No module named 'no_such_lock'. " in message
    assert "pip install no_such_lock" in message


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler for the stand-ins of the libraries")
def test_library_that_the_system_lacks_comes_from_a_wheel(tmp_path):
    """A wheel has libprobe under a name of its own; libuser was linked against the plain name."""
    (tmp_path / "some.libs").mkdir()
    (tmp_path / "probe.c").write_text("int probe(void) { return 42; }")
    (tmp_path / "user.c").write_text("int probe(void); int user(void) { return probe(); }")
    for command in (
        "cc -shared -fPIC -Wl,-soname,libprobe.so.1 -o libprobe.so.1 probe.c",
        "cc -shared -fPIC -o libuser.so user.c libprobe.so.1",
        "cc -shared -fPIC -Wl,-soname,libprobe-0a1b2c.so.1.0.0 -o some.libs/libprobe-0a1b2c.so.1.0.0 probe.c",
        "rm libprobe.so.1",
    ):
        subprocess.run(command.split(), cwd=tmp_path, check=True)
    code = (
        "import ctypes; from dmlplayground import compat; compat.SYSTEM_PACKAGES = {'libprobe.so.1': ''}\n"
        f"compat._lend_system_libraries(); print(ctypes.CDLL({str(tmp_path / 'libuser.so')!r}).user())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert result.stdout == "42\n", result.stderr


def test_installed_cuda_libraries_are_preloaded_in_the_order_of_their_needs(tmp_path, monkeypatch):
    for library in compat.CUDA_LIBRARIES:
        (tmp_path / "nvidia" / library).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nvidia" / library).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compat, "builds", lambda: CUDA)
    loaded = []
    monkeypatch.setattr(ctypes, "CDLL", lambda path, mode: loaded.append((Path(path), mode)))
    compat._preload_cuda()
    assert loaded == [
        (tmp_path / "nvidia" / library, ctypes.RTLD_GLOBAL) for library in compat.CUDA_LIBRARIES
    ]


def test_cpu_build_preloads_nothing(monkeypatch):
    monkeypatch.setattr(compat, "builds", lambda: CPU)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_: pytest.fail("a library was loaded"))
    compat._preload_cuda()
