"""Hook runner: commands of the user before, between and after the launches of a session."""

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
"""Shortest time limit of a hook, in seconds, independent of the remaining budget: a hook is not
part of the measurement."""
DEFAULT_TIMEOUT_S = 600.0
"""Time limit of a hook, in seconds, with a budget of launches only."""


def no_time_budget() -> float | None:
    """Return ``None``, the remaining time of a budget without a time limit."""
    return None


class HookStartError(WorkloadFailedError):
    """Failure to start a hook: the command is wrong, not its result."""

    exit_status = 2


class HookRunner:
    """Runs the hooks of a workload, each in its folder and in the environment of its launches.

    Processes that hooks start continue: a server from ``setup`` runs until ``cleanup`` ends it.
    Hooks have the settings of assay itself, not those of an arm.

    The time limit of a hook is the remaining budget. For ``prepare`` it is the time limit of a
    launch, if set. It is at least ``min_timeout_s``. At the limit the hook and its processes are
    killed.

    Args:
        workload: source of the hooks.
        env: base environment of the launches.
        left_s: returns the remaining budget in seconds; ``None`` for a budget of launches.
        min_timeout_s: shortest time limit of a hook, in seconds.

    Attributes:
        processes: processes that the hooks have left running.
    """

    def __init__(
        self,
        workload: Workload,
        env: Mapping[str, str],
        left_s: Callable[[], float | None] = no_time_budget,
        min_timeout_s: float = MIN_TIMEOUT_S,
    ) -> None:
        self._hooks = workload.hooks
        self._timeout_s = workload.timeout_s
        self._cwd = workload.cwd
        self._env = dict(env)
        self._left_s = left_s
        self._min_timeout_s = min_timeout_s
        self._set_up = False
        self._mark = new_mark()
        self.processes = HookProcesses()

    def before_launch(self, more: Mapping[str, str] | None = None) -> None:
        """Run ``setup`` before the first launch, and ``prepare`` before each launch.

        Args:
            more: additional variables of ``prepare``.

        Raises:
            WorkloadFailedError: a hook cannot be run, exceeds its time limit or fails.
        """
        if not self._set_up:
            self._set_up = True
            self._run("--setup", self._hooks.setup, self._left_s())
        limit_s = self._left_s() if self._timeout_s is None else self._timeout_s
        self._run("--prepare", self._hooks.prepare, limit_s, more)

    def after_last(self) -> None:
        """Run ``cleanup`` if any launch was started.

        Raises:
            WorkloadFailedError: the hook cannot be run, exceeds its time limit, fails, or leaves
                processes of other hooks running.
        """
        if not self._set_up:
            return
        self._set_up = False
        self._run("--cleanup", self._hooks.cleanup, self._left_s())
        begun = self._hooks.setup or self._hooks.prepare
        if begun and (left := left_running(self._mark, self.processes.pids)):
            raise WorkloadFailedError(
                f"A process of --setup or --prepare still runs: {', '.join(map(clean, left))}.",
                "End it in --cleanup: a later study that starts it again may measure this one.",
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
        since_ticks = self.processes.begin()
        limit_s = max(self._min_timeout_s, DEFAULT_TIMEOUT_S if limit_s is None else limit_s)
        with tempfile.TemporaryFile() as output:
            try:
                env = {**self._env, HOOK_VARIABLE: self._mark, **(more or {})}
                status = self._status(argv, output, limit_s, env)
            except OSError as error:
                raise HookStartError(
                    f"The command of {option} cannot be run: {error.strerror}: {argv[0]}.",
                    "Give its path, or make sure that it is in PATH and executable.",
                ) from error
            except subprocess.TimeoutExpired as error:
                raise WorkloadFailedError(
                    f"The command of {option} took longer than {show_duration(limit_s)} and was "
                    f"ended with its processes.{failure_excerpt(output)}",
                    "Run it by hand: it must end by itself, and start processes for the launches "
                    "in the background. Extend the limit with --budget (for --prepare also with "
                    "--timeout).",
                ) from error
            if status != 0:
                raise WorkloadFailedError(
                    f"The command of {option} ended with status {status}.{failure_excerpt(output)}",
                    "Run it by hand; it must end with status 0.",
                )
        self.processes.end(since_ticks)

    def _status(
        self, argv: tuple[str, ...], output: IO[bytes], limit_s: float, env: Mapping[str, str]
    ) -> int:
        """Return the exit status of a hook; see ``run_command``."""
        return run_command(argv, output, cwd=self._cwd, env=env, limit_s=limit_s)
