"""The doctor sees what is there and each trap that is set for it."""

import importlib
from types import SimpleNamespace

import pytest

from dmlplayground.base import compat, devices
from dmlplayground.cli import doctor


def only(part, name):
    (check,) = [check for check in part() if check.name == name]
    return check


def without(monkeypatch, module, error):
    """The doctor meets ``error`` when it imports ``module``."""
    real = importlib.import_module

    def import_module(name):
        if name == module:
            raise error
        return real(name)

    monkeypatch.setattr(doctor.importlib, "import_module", import_module)


def test_this_machine_is_usable(capsys):
    assert doctor.main() == 0
    printed = capsys.readouterr().out
    for part in ("python", "mxnet", "numpy", "threads", "blas", "memory", "cache", "usable (0 faults"):
        assert part in printed


def test_fault_makes_it_unusable_and_prints_the_remedy(monkeypatch, capsys):
    monkeypatch.setattr(
        doctor, "report", lambda: [doctor.Check("mxnet", "fault", "missing", "pip install it")]
    )
    assert doctor.main() == 1
    printed = capsys.readouterr().out
    assert (
        "X mxnet" in printed and "-> pip install it" in printed and "not usable (1 fault, 0 notes)" in printed
    )


def test_note_leaves_it_usable(monkeypatch):
    monkeypatch.setattr(doctor, "report", lambda: [doctor.Check("threads", "note", "2", "unset it")])
    assert doctor.main() == 0


def test_missing_mxnet(monkeypatch):
    without(monkeypatch, "mxnet", compat.MissingMXNet("MXNet is not installed"))
    check = only(doctor._mxnet, "mxnet")
    assert check.state == "fault" and check.remedy == "MXNet is not installed"


def test_two_builds_in_one_environment(monkeypatch):
    monkeypatch.setattr(compat, "builds", lambda: {"mxnet": "1.9.1", "mxnet-cu112": "1.9.1"})
    check = only(doctor._mxnet, "mxnet")
    assert check.state == "fault" and "mxnet 1.9.1, mxnet-cu112 1.9.1" in check.found


def test_missing_package_is_a_fault(monkeypatch):
    without(monkeypatch, "sklearn", ImportError("No module named 'sklearn'"))
    assert only(doctor._packages, "scikit-learn") == doctor.Check(
        "scikit-learn", "fault", "cannot be imported: No module named 'sklearn'", "pip install scikit-learn"
    )


@pytest.mark.parametrize(
    "name, module, remedy",
    [("gluoncv", "gluoncv", "portalocker"), ("opencv", "cv2", "apt install libgl1")],
)
def test_what_only_some_need_is_a_note(name, module, remedy, monkeypatch):
    without(monkeypatch, module, ImportError("libGL.so.1 or portalocker is not there"))
    check = only(doctor._packages, name)
    assert check.state == "note" and remedy in check.remedy


@pytest.mark.parametrize("cuda, capability, states", [
    (False, (8, 6), {"gpus": "note", "gpu:0": "ok"}),
    (True, (8, 6), {"gpu:0": "ok"}),
    (True, (9, 0), {"gpu:0": "note"}),
])  # fmt: skip
def test_gpus(cuda, capability, states, monkeypatch):
    monkeypatch.setattr(devices, "gpu_capabilities", lambda: [capability])
    monkeypatch.setattr(devices, "built_for_cuda", lambda: cuda)
    assert {check.name: check.state for check in doctor._gpus()} == states


@pytest.mark.parametrize("setting, state", [(None, "ok"), ("1", "ok"), ("2", "note"), ("2,1", "note")])
def test_threads(setting, state, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if setting:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert only(doctor._threads, "threads").state == state


def files(monkeypatch, contents):
    monkeypatch.setattr(doctor, "_read", lambda path: contents.get(path, ""))


VERSION_1 = "/sys/fs/cgroup/cpu/cpu.cfs_"


@pytest.mark.parametrize("contents, cores", [
    ({"/sys/fs/cgroup/cpu.max": "50000 100000"}, 0.5),
    ({"/sys/fs/cgroup/cpu.max": "max 100000"}, None),
    ({f"{VERSION_1}quota_us": "150000", f"{VERSION_1}period_us": "100000"}, 1.5),
    ({f"{VERSION_1}quota_us": "-1", f"{VERSION_1}period_us": "100000"}, None),
    ({}, None),
])  # fmt: skip
def test_cores_of_a_container(contents, cores, monkeypatch):
    files(monkeypatch, contents)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert doctor._cgroup_cores() == cores
    assert only(doctor._cores, "cores").state == ("note" if cores else "ok")


@pytest.mark.parametrize(
    "limit, state", [("2147483648", "note"), ("max", "ok"), ("9223372036854771712", "ok")]
)
def test_memory_of_a_container(limit, state, monkeypatch):
    files(monkeypatch, {"/sys/fs/cgroup/memory.max": limit})
    monkeypatch.setattr("os.sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else 2**22)
    check = only(doctor._memory, "memory")
    assert check.state == state and ("allows 2.0" in check.found) == (state == "note")


@pytest.mark.parametrize("architecture, flags, state", [
    ("Barcelona", "fpu avx2 sse", "note"), ("Haswell", "fpu avx2 sse", "ok"), ("Barcelona", "fpu sse", "ok"),
])  # fmt: skip
def test_blas_that_does_not_know_the_processor(architecture, flags, state, monkeypatch):
    files(monkeypatch, {"/proc/cpuinfo": f"flags\t\t: {flags}\n"})
    info = {
        "internal_api": "openblas",
        "filepath": "/x/numpy.libs/lib.so",
        "version": "0.3.20",
        "num_threads": 2,
    }
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [{**info, "architecture": architecture}])
    assert only(doctor._blas, "blas").state == state


def test_cache_without_room(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "not/yet/there"))
    assert only(doctor._cache, "cache").found.startswith(str(tmp_path / "not/yet/there"))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2**30))
    check = only(doctor._cache, "cache")
    assert check.state == "note" and "1.0 GiB free" in check.found
