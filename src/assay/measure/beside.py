"""Commands that run beside the launches: hooks and builds."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from assay.measure.descent import end_descent


def run_beside(
    argv: Sequence[str],
    output: IO[bytes],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    limit_s: float,
    keep_open: Sequence[int] = (),
) -> int:
    """Run a command to its end; whatever interrupts the waiting ends it with all it started.

    It stays in the process group of assay: sudo(8) asks a terminal for a password, which only the
    foreground group may read.

    Args:
        argv: its words.
        output: takes all that it writes.
        cwd: its folder.
        env: its environment.
        limit_s: longest that it may take, in seconds.
        keep_open: descriptors that it inherits.

    Returns:
        Its exit status; the number of the signal that ended it, below zero.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer than ``limit_s``.
    """
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=env,
        pass_fds=keep_open,
    )
    try:
        return process.wait(limit_s)
    except BaseException:
        end_descent(process.pid)
        process.wait()
        raise
