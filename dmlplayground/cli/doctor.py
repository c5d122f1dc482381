"""``dmlplayground doctor``: what is installed, what the machine has, and each known trap with its remedy."""

import importlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from typing import NamedTuple

from .. import __version__
from ..base import compat, devices, layout, optional, threads

NEEDED = ("numpy", "scipy", "sklearn", "numba", "matplotlib", "PIL", "yaml", "simplejpeg", "tqdm")
# Under other names for pip.
DISTRIBUTED = {"sklearn": "scikit-learn", "PIL": "Pillow", "yaml": "PyYAML", "cv2": "opencv"}
GL = "apt install libgl1 libglib2.0-0, or opencv-python-headless in place of opencv-python."
NOT_NEEDED = {
    "gluoncv": ("only the networks of its zoo need it", "{error}"),
    "cv2": ("nothing here needs it", GL),
}
# What an old OpenBLAS takes an unknown processor for: one without AVX.
SLOW_KERNELS = {"Athlon", "Barcelona", "Core2", "Dunnington", "Nehalem", "Opteron", "Penryn", "Prescott"}
GIB = 2**30
MARKS = {"ok": " ", "note": "!", "fault": "X"}


class Check(NamedTuple):
    """One finding. With a "note" things work, but it is worth reading; with a "fault" nothing will work."""

    name: str
    state: str
    found: str
    remedy: str = ""


def ok(name: str, found: str, note: str = "") -> Check:
    """All is well, but for what the ``note`` says."""
    return Check(name, "note" if note else "ok", found, note)


def main() -> int:
    """Print the report; 0 when training can start here, 1 when it cannot."""
    checks = report()
    for check in checks:
        print(f"{MARKS[check.state]} {check.name:<12} {check.found}")
        if check.remedy:
            print(f"{'':15}-> {check.remedy}")
    states = [check.state for check in checks]
    faults, notes = (layout.plural(states.count(state), state) for state in ("fault", "note"))
    print(f"\n{'not usable' if 'fault' in states else 'usable'} ({faults}, {notes})")
    print("whether all parts work on a device: dmlplayground check --device gpu:0")
    return 1 if "fault" in states else 0


def report() -> list[Check]:
    """Every check, with MXNet before those that depend on what it has loaded."""
    python = f"{platform.python_version()} ({sys.executable}) on {platform.platform()}"
    installed, machine = (_mxnet, _packages), (_gpus, _cores, _threads, _blas, _memory, _cache)
    found = [check for part in (*installed, *machine, _optional) for check in part()]
    return [ok("version", f"dmlplayground {__version__}"), ok("python", python), *found]


# --- what is installed --------------------------------------------------------------------------------------


def _mxnet() -> Iterator[Check]:
    builds = compat.builds()
    found = ", ".join(f"{name} {version}" for name, version in builds.items()) or "not installed by pip"
    afresh = f"in a new environment, {compat.INSTALL_CPU} or {compat.INSTALL_CUDA}."
    try:
        mx = importlib.import_module("mxnet")
        total = (mx.nd.ones((2, 3)) * 2).sum().asscalar()
    except Exception as error:
        remedy = str(error) if isinstance(error, compat.MissingMXNet) else f"{error}. Install it {afresh}"
        yield Check("mxnet", "fault", found, remedy)
        return
    if len(builds) > 1:
        yield Check("mxnet", "fault", f"{found}: they overwrite each other's files", f"Install one {afresh}")
    elif total != 12:
        yield Check("mxnet", "fault", f"{found} adds up wrongly", f"Install it {afresh}")
    else:
        yield ok("mxnet", found, "" if mx.__version__ == "1.9.1" else f"Only 1.9.1 is tested; {afresh}")


def _packages() -> Iterator[Check]:
    versions = []
    for module in (*NEEDED, *NOT_NEEDED):
        name = DISTRIBUTED.get(module, module)
        try:
            version = getattr(importlib.import_module(module), "__version__", "") or metadata.version(name)
            versions.append(f"{name} {version}")
        except ImportError as error:
            found = f"cannot be imported: {error}"
            if module in NEEDED:
                yield Check(name, "fault", found, f"pip install {name}")
            else:
                use, remedy = NOT_NEEDED[module]
                yield ok(name, f"{found}; {use}", remedy.format(error=error))
    yield ok("packages", ", ".join(versions))


def _optional() -> Iterator[Check]:
    for module, package in optional.PACKAGES.items():
        missing = f"{module} is not installed; {package.needed_by} need it: {package.install}"
        yield ok("extra", missing if util.find_spec(module) is None else f"{module} is installed")


# --- what the machine has -----------------------------------------------------------------------------------


def _gpus() -> Iterator[Check]:
    capabilities = devices.gpu_capabilities()
    if not capabilities:
        yield ok("gpus", "none that NVIDIA's driver shows; training runs on the CPU")
    elif "mxnet" not in sys.modules or not devices.built_for_cuda():
        remedy = f"pip uninstall {compat.CPU_BUILD}, then {compat.INSTALL_CUDA}."
        yield ok("gpus", f"{len(capabilities)}, which this build of MXNet cannot use", remedy)
    old = "There is code for 5.0 to 8.9 only: use an older GPU, or train on the CPU with --set device=cpu."
    for index, capability in enumerate(capabilities):
        found, new = devices.capability_text(capability), capability >= devices.FIRST_TOO_NEW
        too_new = " is too new for MXNet 1.9.1" if new else ""
        yield ok(f"gpu:{index}", f"compute capability {found}{too_new}", old if new else "")


def _cores() -> Iterator[Check]:
    usable, quota = threads.cores(), _cgroup_cores()
    found = f"{usable} usable of {os.cpu_count()}, load {os.getloadavg()[0]:.1f}"
    if quota is None or quota >= usable:
        yield ok("cores", found)
    else:
        most = max(1, int(quota))
        remedy = f"Run no more than {most} trials at a time: sweep --workers {most}."
        yield ok("cores", f"{found}, of which the control group allows {quota:g}", remedy)


def _threads() -> Iterator[Check]:
    setting = os.environ.get("OMP_NUM_THREADS", "")
    if setting in ("", "1"):
        yield ok("threads", f"OMP_NUM_THREADS is {setting or 'not set'}: MXNet uses one thread per process")
    else:
        remedy = (
            "Good for one training alone on the machine (with OMP_WAIT_POLICY=passive); 8 to 30 times slower "
            "as soon as anything else runs, even our own loader threads. Otherwise: unset OMP_NUM_THREADS."
        )
        yield ok("threads", f"OMP_NUM_THREADS={setting}", remedy)


def _blas() -> Iterator[Check]:
    try:
        from threadpoolctl import threadpool_info  # comes with scikit-learn, which may be what is missing
    except ImportError:
        return
    chosen = os.environ.get("OPENBLAS_CORETYPE")
    slow = "It does not know this processor and does not use AVX: export OPENBLAS_CORETYPE=Haswell."
    for info in threadpool_info():
        if info["internal_api"] == "openblas":
            owner = Path(info["filepath"]).parent.name.split(".")[0]
            found = f"{owner}: OpenBLAS {info['version'] or ''} for {info['architecture']}"
            found += f" (OPENBLAS_CORETYPE={chosen})" if chosen else ""
            unknown = info["architecture"] in SLOW_KERNELS and "avx2" in _read("/proc/cpuinfo").split()
            yield ok("blas", found, slow if unknown else "")


def _memory() -> Iterator[Check]:
    # What the control group (version 2, then 1) grants may be less.
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB
    limit = _read("/sys/fs/cgroup/memory.max") or _read("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    usable = min(total, int(limit) / GIB if limit.isdigit() else total)
    allowed = f", of which the control group allows {usable:.1f}" if usable < total else ""
    little = "A trial takes 1 to 2 GiB: run one at a time, with --workers 1."
    yield ok("memory", f"{total:.1f} GiB{allowed}", little if usable < 4 else "")


def _cache() -> Iterator[Check]:
    from ..parts.data.shared import cache

    folder = cache.folder()
    existing = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(existing).free / GIB
    elsewhere = "export DMLPLAYGROUND_CACHE=/a/folder/with/room"
    if not os.access(existing, os.W_OK):
        yield ok("cache", f"{folder} cannot be written: images are prepared again in each run", elsewhere)
    else:
        little = f"The largest data set takes about 5 GiB: {elsewhere}" if free < 5 else ""
        yield ok("cache", f"{folder}, {free:.1f} GiB free", little)


def _cgroup_cores() -> float | None:
    """The share of the processors that the control group (version 2, then 1) grants, in cores."""
    quota, _, period = _read("/sys/fs/cgroup/cpu.max").partition(" ")
    if not period:
        quota = _read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        period = _read("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
