"""Commands that run beside the launches: hooks and builds."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from assay.executors.hooks.process_tree import kill_process_tree
from assay.signal_handlers import deferred_signals


def run_command(
    argv: Sequence[str],
    output: IO[bytes],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    limit_s: float,
    keep_open: Sequence[int] = (),
    own_group: bool = False,
) -> int:
    """Run a command to its end; whatever interrupts the waiting ends it with all it started.

    Args:
        argv: its words.
        output: takes all that it writes.
        cwd: its folder.
        env: its environment.
        limit_s: longest that it may take, in seconds.
        keep_open: descriptors that it inherits.
        own_group: Ctrl-C on a terminal reaches assay alone, which then ends all of the group;
            without it the command may ask the terminal for a password, as sudo(8) does.

    Returns:
        Its exit status; the number of the signal that ended it, below zero.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer than ``limit_s``.
    """
    process: subprocess.Popen[bytes] | None = None
    try:
        with deferred_signals():  # an exception out of the start would lose what was started
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=env,
                pass_fds=keep_open,
                process_group=0 if own_group else None,
            )
        return process.wait(limit_s)
    except BaseException:
        if process is not None:
            kill_process_tree(process.pid)
            if own_group:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise
