"""Requests to stop are heard at any moment, and each ends the program as shells count."""

import signal
import subprocess
import sys

import pytest

from dmlplayground import cli
from dmlplayground.base import signals

DROPPED = """
import ctypes, os, sys, time
from dmlplayground.base import signals

def be_asked(_):
    for _ in range(100000):  # the moment at which the request comes
        if not asked:
            asked.append(os.kill(os.getpid(), int(sys.argv[1])))

class Array:
    __del__ = be_asked

asked = []
try:
    with signals.heard():
        Array() if sys.argv[2] == "finalizer" else ctypes.CFUNCTYPE(None, ctypes.c_void_p)(be_asked)(None)
        time.sleep(10)
except KeyboardInterrupt as stop:
    sys.exit(signals.exit_code(stop))
"""


@pytest.mark.parametrize("place", ["finalizer", "callback"])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_request_is_not_lost_where_python_drops_exceptions(number, code, place):
    command = [sys.executable, "-c", DROPPED, str(int(number)), place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, "")


def test_a_command_leaves_the_handlers_of_a_program_that_calls_it(capsys):
    before = [signal.getsignal(number) for number in signals.ASKING]
    assert cli.main(["methods"]) == 0 and cli.main(["methods", "nonsense"]) == 2
    assert [signal.getsignal(number) for number in signals.ASKING] == before
