"""The process of one trial: it trains, and stops as if by Ctrl-C when its standard input ends.

That input is a pipe from the process that started it. It ends when that process closes it or dies in any way. So a
runner that is killed leaves nothing running, on any system and on any machine of a cluster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..base import signals
from ..base.errors import UserError
from ..base.files import CannotWrite
from ..trial.store.locks import Busy

TRIAL, LOG = "trial.json", "log.txt"
FAILED, REFUSED, UNWRITABLE, BUSY, STOPPED = 1, 2, 74, 75, 130  # exit codes besides 0
PATIENCE = 20  # seconds that a trial has to stop


def launch(
    folder: Path, environment: Mapping[str, str] | None = None, log: Iterable[str] = ()
) -> subprocess.Popen:
    """Start the process of the trial in ``folder``, which holds its configuration; its output goes there too."""
    command = [sys.executable, "-m", __name__, str(folder / TRIAL), str(folder.parent), *log]
    with (folder / LOG).open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={"OMP_NUM_THREADS": "1", **os.environ, **(environment or {})},
            start_new_session=True,  # a terminal's Ctrl-C is for the runner, which stops its trials one by one
        )


def stop(process: subprocess.Popen) -> None:
    """Ask it to stop; it keeps its epochs."""
    if process.stdin:
        process.stdin.close()


def finish(process: subprocess.Popen) -> None:
    """Ask it to stop, and kill it if it does not."""
    stop(process)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def words(code: int) -> str:
    """How a process with this exit code ended, in words."""
    if code >= 0:
        return f"ended with code {code}"
    hint = "; the machine may have run out of memory" if code == -signal.SIGKILL else ""
    return f"was ended by signal {-code} ({signal.Signals(-code).name}){hint}"


def main(trial: str, store: str, *log: str) -> int:
    # In a shell's background jobs this signal is ignored, and in Ray's tasks it is blocked.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        with signals.heard():
            threading.Thread(target=_follow, daemon=True).start()
            return _train(trial, store, log)
    except KeyboardInterrupt as stop:
        return signals.exit_code(stop)


def _train(trial: str, store: str, log: Iterable[str]) -> int:
    from ..trial.training import train  # here, where a Ctrl-C is heard
    from ..trial.training.run import TrialFailed

    try:
        train(trial, store, log=log)
    except Busy as problem:
        print(problem, file=sys.stderr)
        return BUSY
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return UNWRITABLE if isinstance(problem, CannotWrite) else REFUSED
    except TrialFailed as failure:
        print(failure, file=sys.stderr)
        return FAILED
    return 0


def _follow() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock would be in the way when Python ends
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGKILL)  # the runner may be gone


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
