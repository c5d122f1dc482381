"""What all tests share: one thread a process, NumPy prepared before anyone imports MXNet, and a Ctrl-C that is heard."""

import contextlib
import os
import signal
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when libmxnet loads, hence above the imports

os.environ.pop(
    "COLUMNS", None
)  # pytest's workers have it: tables are as wide as they like unless a test says otherwise

import pytest
from trained_fixture import TRIAL

import dmlplayground as dml
from dmlplayground.base import outside, registry

# A busy machine takes its time over an example: that is no fault of what is tested. The environments in which MXNet is
# tried under other Pythons do without Hypothesis.
with contextlib.suppress(ImportError):
    import hypothesis

    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")

# A shell's background jobs ignore Ctrl-C, and nohup ignores SIGHUP; what the tests start would inherit that.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The folder of a trial that has been trained; nothing may be written into it."""
    store = tmp_path_factory.mktemp("trained")
    return store / dml.train(TRIAL, store=store).id


def registered() -> dict[str, dict[str, object]]:
    """The parts of the kinds that are loaded and whose files have been looked through, by the home of the kind."""
    loaded = {home: sys.modules[home].KIND for home in registry.HOMES.values() if home in sys.modules}
    return {home: dict(kind._parts) for home, kind in loaded.items() if kind._complete}


@pytest.fixture(autouse=True)
def no_parts_stay():
    """What a test registers of parts from outside the package, or of a command, is gone after it."""
    if "yaml" in sys.modules:  # else MXNet is tried alone
        for plural in registry.HOMES:
            registry.kind(plural).names()
    before, loaded = registered(), dict(outside._loaded)
    yield
    for home, parts in before.items():
        sys.modules[home].KIND._parts = parts
    outside._loaded.clear()
    outside._loaded.update(loaded)
