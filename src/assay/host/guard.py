"""Guard: a small process that restores all changes, however assay ends.

It waits at the read end of a pipe whose write end only assay holds. It shares the lock of the
journal, so that no other process changes the machine between the end of assay and its own end. It
has its own session, which no terminal interrupts. Run as ``python -m assay.host.guard OWNER
LOCK_FD``.
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

_END_TIMEOUT_S = 10.0
_DONE = b"."


class Guard:
    """Handle of the guard process of one owner.

    Args:
        journal: journal whose lock it shares.
        owner: owner of the changes to restore.
        module: module to run.
        variables: environment variables to pass on.

    Raises:
        NotPossibleError: the guard cannot be started; then no change is allowed.
    """

    def __init__(
        self,
        journal: Journal,
        owner: str,
        module: str = __name__,
        variables: Iterable[str] = (STATE_VARIABLE,),
    ) -> None:
        reading, self._fd = os.pipe()
        # It must load the modules of this installation, not modules that a variable names.
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
                f"The process that restores system settings cannot be started: {error.strerror}.",
                "Check the limits on processes and files (`ulimit -u`, `ulimit -n`).",
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
        """End the guard without a restoration: the operation is complete."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._fd, _DONE)
        self.close()

    def close(self) -> None:
        """Let the guard restore the remaining changes, and wait for its end."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT_S)


def undo_at_end(host: Host, owner: str, lock_fd: int) -> None:
    """Wait for the end of the pipe on standard input, then undo the changes of the owner.

    Raises:
        NotPossibleError: the journal cannot be written.
    """
    if await_dismissal():
        return
    with open_journal(lock_fd=lock_fd) as journal:
        undo(host, journal, [e for e in journal.entries if e.note.owner == owner])


def await_dismissal() -> bool:
    """Wait for the end of the pipe on standard input; return whether the owner had finished."""
    received = b""
    while part := os.read(0, 64):
        received += part
    return bool(received)


def ignore_ending_signals() -> None:
    """Ignore the signals by which terminals and batch systems end processes."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """Run the guard."""
    ignore_ending_signals()
    try:
        undo_at_end(LiveHost(), sys.argv[1], int(sys.argv[2]))
    except AssayError:
        return (
            1  # remaining changes are in the journal: the next change of the machine restores them
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
