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


def foreign() -> set[tuple[str, str]]:
    """The home of the kind and the key of every part that is not ours, of the kinds that are loaded."""
    loaded = [(home, sys.modules[home].KIND) for home in registry.HOMES.values() if home in sys.modules]
    return {
        (home, key)
        for home, kind in loaded
        for key, part in kind._parts.items()
        if outside.source_of(part.build) is not None
    }


@pytest.fixture(autouse=True)
def no_parts_stay():
    """What a test registers of parts from outside the package is gone after it."""
    before, loaded = foreign(), dict(outside._loaded)
    yield
    for home, key in foreign() - before:
        del sys.modules[home].KIND._parts[key]
    outside._loaded.clear()
    outside._loaded.update(loaded)
