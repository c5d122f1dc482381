"""The process of trials: it trains one after the other, and stops as if by Ctrl-C when its standard input ends.

That input is a pipe from the process that started it, with the folder of a trial in every line. It ends when that process
closes it or dies in any way. So a runner that is killed leaves nothing running, on any system and on any machine of a
cluster. After each trial its exit code goes back through a second pipe. The process goes on only after a trial that
finished: what went wrong with one trial cannot harm another.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..base import memory, signals
from ..base.errors import UserError
from ..base.files import CannotWrite
from ..trial.store.locks import Busy

TRIAL, LOG = "trial.json", "log.txt"
FAILED, REFUSED, UNWRITABLE, BUSY, STOPPED = 1, 2, 74, 75, 130  # exit codes besides 0
PATIENCE = 20  # seconds that a trial has to stop
# Bytes: MXNet keeps 1 to 20 MB of every trial, so that a process that has so much is replaced.
LARGE = 2 << 30


class Ending(NamedTuple):
    """How a trial's process ended: its exit code (None if unknown), and the same in words."""

    code: int | None
    words: str

    @classmethod
    def of(cls, code: int) -> "Ending":
        if code >= 0:
            return cls(code, f"ended with code {code}")
        hint = "; the machine may have run out of memory" if code == -signal.SIGKILL else ""
        return cls(code, f"was ended by signal {-code} ({signal.Signals(-code).name}){hint}")


class Worker:
    """A process for trials, and the one that it trains now."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], log: Iterable[str] = (), gpus: Sequence[str] = ()
    ):
        """Start it with the trial in ``folder``, which holds its configuration; its output goes there too."""
        self.gpus = gpus
        folder = folder.resolve()
        with (folder / LOG).open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, *log],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env={"OMP_NUM_THREADS": "1", **os.environ, **environment},
                start_new_session=True,  # a terminal's Ctrl-C is for the runner, which stops its trials one by one
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.folders, self.codes = self.process.stdin, self.process.stdout
        os.set_blocking(self.codes.fileno(), False)
        self.train(folder)

    def train(self, folder: Path) -> None:
        """Train this trial next."""
        self.ending: Ending | None = None
        with contextlib.suppress(OSError):  # it has died, which ``poll`` tells
            self.folders.write(os.fsencode(folder.resolve()) + b"\n")
            self.folders.flush()

    def poll(self) -> Ending | None:
        """How the trial ended, once it has, though the process may be there for another."""
        if self.ending is None:
            code = self.process.poll()  # first, so that what it said before it ended is heard
            said = (self.codes.read() or b"").split()
            code = int(said[-1]) if said else code
            self.ending = None if code is None else Ending.of(code)
        return self.ending

    @property
    def free(self) -> bool:
        """Whether it can train another trial: the last one finished, it is not too large, and it need not stop."""
        finished = self.ending is not None and self.ending.code == 0 and not self.folders.closed
        return finished and (memory.own(self.process.pid) or 0) < LARGE

    def stop(self) -> None:
        """Ask it to stop; the trial keeps its epochs."""
        with contextlib.suppress(OSError):  # it has died
            self.folders.close()

    def finish(self) -> None:
        """Ask it to stop, and kill it if it does not."""
        self.stop()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def main(*log: str) -> int:
    # In a shell's background jobs this signal is ignored, and in Ray's tasks it is blocked.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    back = os.dup(1)  # what trials print goes to their logs
    folders: queue.SimpleQueue[Path] = queue.SimpleQueue()
    try:
        with signals.heard():
            threading.Thread(target=_follow, args=[folders], daemon=True).start()
            while True:
                folder = folders.get()
                _log_to(folder / LOG)
                if code := _train(folder, log):
                    return code
                os.write(back, b"0\n")
    except KeyboardInterrupt as stop:
        return signals.exit_code(stop)


def _log_to(path: Path) -> None:
    with path.open("ab") as output:
        for number, stream in enumerate((sys.stdout, sys.stderr), 1):
            stream.flush()
            os.dup2(output.fileno(), number)


def _train(folder: Path, log: Iterable[str]) -> int:
    from ..trial.training import TrialFailed, train  # here, where a Ctrl-C is heard

    try:
        train(folder / TRIAL, folder.parent, log=log)
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


def _follow(folders: queue.SimpleQueue[Path]) -> None:
    rest = b""
    while said := os.read(0, 2**16):  # not sys.stdin, whose lock would be in the way when Python ends
        *lines, rest = (rest + said).split(b"\n")
        for line in lines:
            folders.put(Path(os.fsdecode(line)))
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGKILL)  # the runner may be gone


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
