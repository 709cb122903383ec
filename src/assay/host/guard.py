"""The guard: a small process that puts back what assay changed, however assay ended.

It waits at the end of a pipe whose other end only assay holds, and shares the lock of the journal,
so that nobody changes the machine between assay's end and its own. It is of a session of its own,
which no terminal interrupts. Run as ``python -m assay.host.guard OWNER LOCK_FD``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from assay.errors import AssayError, NotPossibleError
from assay.host.host import Host, LiveHost
from assay.host.journal import STATE_VARIABLE, Journal, open_journal
from assay.host.undo import undo
from assay.signals import ENDING_SIGNALS

_ENDS_S = 10.0
_DONE = b"."


class Guard:
    """The guard of one owner, from assay's side.

    Args:
        journal: whose lock it shares.
        owner: whose changes it puts back.
        module: what it runs.
        variables: of the environment that it is to have.

    Raises:
        NotPossibleError: it cannot be started; nothing must be changed without it.
    """

    def __init__(
        self,
        journal: Journal,
        owner: str,
        module: str = __name__,
        variables: Iterable[str] = (STATE_VARIABLE,),
    ) -> None:
        reading, self._fd = os.pipe()
        # What it loads must be what runs here, and nothing that a variable names.
        home = str(Path(__file__).parents[3])
        kept = {name: os.environ[name] for name in variables if os.environ.get(name)}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "utf8", "-sP", "-m", module, owner, str(journal.lock_fd)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": home, **kept},
                pass_fds=(journal.lock_fd,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._fd)
            raise NotPossibleError(
                f"The process that puts system settings back cannot be started: {error.strerror}.",
                "`ulimit -u` and `ulimit -n` limit how many there may be.",
            ) from error
        finally:
            os.close(reading)

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def dismiss(self) -> None:
        """Let it end without putting anything back: what was begun is done."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._fd, _DONE)
        self.close()

    def close(self) -> None:
        """Let it put back what is left, and wait for its end."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_S)


def undo_at_end(host: Host, owner: str, lock_fd: int) -> None:
    """Wait for the end of the pipe on standard input, then put back what the owner left.

    Raises:
        NotPossibleError: the journal cannot be written.
    """
    if await_dismissal():
        return
    with open_journal(lock_fd=lock_fd) as journal:
        undo(host, journal, [e for e in journal.entries if e.note.owner == owner])


def await_dismissal() -> bool:
    """Wait for the end of the pipe on standard input; whether its owner was done then."""
    told = b""
    while part := os.read(0, 64):
        told += part
    return bool(told)


def ignore_ending_signals() -> None:
    """Let no signal of a terminal or a batch system end this process."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """Be the guard."""
    ignore_ending_signals()
    try:
        undo_at_end(LiveHost(), sys.argv[1], int(sys.argv[2]))
    except AssayError:
        return 1  # what is left is written down: whoever changes the machine next puts it back
    return 0


if __name__ == "__main__":
    sys.exit(main())
