"""Commands that run outside the launches: hooks and builds."""

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
    """Run a command to its end; an interrupt kills it and its descendants.

    Args:
        argv: command.
        output: file for its output.
        cwd: working folder.
        env: environment.
        limit_s: time limit in seconds.
        keep_open: descriptors to inherit.
        own_group: whether the command gets its own process group. Then Ctrl-C reaches only assay,
            which ends the group. Otherwise the command may ask for a password on the terminal, as
            sudo(8) does.

    Returns:
        The exit status; the negative number of the signal that ended it.

    Raises:
        OSError: the command cannot be started.
        subprocess.TimeoutExpired: the command exceeds ``limit_s``.
    """
    process: subprocess.Popen[bytes] | None = None
    try:
        with deferred_signals():  # an exception during the start would lose the process
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
