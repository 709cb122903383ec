"""Hooking: the commands around the launches of a sitting."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from typing import IO

from assay.errors import WorkloadFailedError
from assay.executors.evidence.failure_output import failure_excerpt
from assay.executors.hooks.command import run_command
from assay.executors.hooks.hook_processes import HookProcesses
from assay.executors.hooks.left_running import HOOK_VARIABLE, left_running, new_mark
from assay.records import Workload
from assay.units import show_duration
from assay.untrusted import clean

MIN_TIMEOUT_S = 60.0
"""What each may take, however little of a budget is left: a hook is no part of what is measured."""
DEFAULT_TIMEOUT_S = 600.0
"""What it may take where a budget counts launches only."""


def no_time_budget() -> float | None:
    """Time left of a budget that has no time."""
    return None


class HookStartError(WorkloadFailedError):
    """A hook that cannot be started: what was asked for is wrong, not what it does."""

    exit_status = 2


class HookRunner:
    """Runs the hooks of a workload, each in its folder and in the environment of its launches.

    What they start stays: a server that ``setup`` begins is there until ``cleanup`` ends it. Their
    settings are those of assay itself, not those of an arm.

    Each may take as long as a budget has left, ``prepare`` no longer than a launch where that has a
    time limit; but always ``least_s``. Then it is ended with all that it started.

    Args:
        workload: names them.
        env: what launches start from.
        left_s: tells the seconds that are left of the budget; ``None`` where it counts launches.
        least_s: what each may take in any case.

    Attributes:
        left: what they have left running.
    """

    def __init__(
        self,
        workload: Workload,
        env: Mapping[str, str],
        left_s: Callable[[], float | None] = no_time_budget,
        least_s: float = MIN_TIMEOUT_S,
    ) -> None:
        self._hooks = workload.hooks
        self._timeout_s = workload.timeout_s
        self._cwd = workload.cwd
        self._env = dict(env)
        self._left_s = left_s
        self._least_s = least_s
        self._set_up = False
        self._mark = new_mark()
        self.left = HookProcesses()

    def before_launch(self, more: Mapping[str, str] | None = None) -> None:
        """``setup`` before the first launch, ``prepare`` before each.

        Args:
            more: variables for ``prepare``.

        Raises:
            WorkloadFailedError: one cannot be run, takes too long, or does not end with status 0.
        """
        if not self._set_up:
            self._set_up = True
            self._run("--setup", self._hooks.setup, self._left_s())
        limit_s = self._left_s() if self._timeout_s is None else self._timeout_s
        self._run("--prepare", self._hooks.prepare, limit_s, more)

    def after_last(self) -> None:
        """``cleanup``, where anything was begun.

        Raises:
            WorkloadFailedError: it cannot be run, takes too long, does not end with status 0, or leaves
                processes of another hook running.
        """
        if not self._set_up:
            return
        self._set_up = False
        self._run("--cleanup", self._hooks.cleanup, self._left_s())
        begun = self._hooks.setup or self._hooks.prepare
        if begun and (left := left_running(self._mark, self.left.pids)):
            raise WorkloadFailedError(
                f"A process of --setup or --prepare still runs: {', '.join(map(clean, left))}.",
                "End it in --cleanup: a later study that starts it anew may measure this one.",
            )

    def _run(
        self,
        option: str,
        argv: tuple[str, ...],
        limit_s: float | None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        if not argv:
            return
        since_ticks = self.left.begin()
        limit_s = max(self._least_s, DEFAULT_TIMEOUT_S if limit_s is None else limit_s)
        with tempfile.TemporaryFile() as output:
            try:
                env = {**self._env, HOOK_VARIABLE: self._mark, **(more or {})}
                status = self._status(argv, output, limit_s, env)
            except OSError as error:
                raise HookStartError(
                    f"The command of {option} cannot be run: {error.strerror}: {argv[0]}.",
                    "Give its path, or see that it lies in PATH and may be executed.",
                ) from error
            except subprocess.TimeoutExpired as error:
                raise WorkloadFailedError(
                    f"The command of {option} took longer than {show_duration(limit_s)} and was "
                    f"ended, with all that it had started.{failure_excerpt(output)}",
                    "Run it by hand first: it must end by itself, and what is to go on beside the "
                    "launches goes into the background. --budget (and --timeout for --prepare) "
                    "give it more time.",
                ) from error
            if status != 0:
                raise WorkloadFailedError(
                    f"The command of {option} ended with status {status}.{failure_excerpt(output)}",
                    "Run it by hand first; it must end with status 0.",
                )
        self.left.end(since_ticks)

    def _status(
        self, argv: tuple[str, ...], output: IO[bytes], limit_s: float, env: Mapping[str, str]
    ) -> int:
        """How it ended; see ``run_command``."""
        return run_command(argv, output, cwd=self._cwd, env=env, limit_s=limit_s)
