"""State of the host before a launch, and evidence of its changes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.executors.evidence.drift import changed_since, drift_evidence
from assay.executors.evidence.quota import quota_evidence
from assay.executors.evidence.shares import read_share, share_evidence
from assay.executors.hooks.hook_processes import HookProcesses
from assay.executors.metrics.metric_files import FileState, read_file_states
from assay.launch.driver import Driver
from assay.machine.boot_state import read_files
from assay.machine.quota import Periods, quota_stat, read_periods
from assay.machine.root import LIVE
from assay.records import Evidence, Plan, RunFacts, Workload
from assay.root_helper.client import SystemHolder


class HostState(msgspec.Struct, frozen=True):
    """State of the host before a launch, for comparison with the state after it."""

    system: dict[str, str]
    """Contents of the files that system settings write or that show boot parameters."""
    share: dict[str, str]
    """Control-group files of the share."""
    files: dict[Path, FileState]
    """State of the files that metrics are read from."""
    periods: Periods | None
    """Periods of the CPU-time quota."""
    hooks_s: float
    """CPU time of the processes that hooks left running."""


class HostObserver:
    """Reads the state of the host before a launch, and its changes after it.

    Args:
        driver: source of the share.
        system: reads the files of system settings.
        hook_processes: processes that hooks left running.
    """

    def __init__(self, driver: Driver, system: SystemHolder, hook_processes: HookProcesses) -> None:
        self._driver = driver
        self._system = system
        self._hook_processes = hook_processes
        self._quota_stat = quota_stat(LIVE)

    def state(self, plan: Plan, workload: Workload) -> HostState:
        """Return the current state.

        Raises:
            NotPossibleError: the share was lost.
        """
        return HostState(
            system=self._system_files(plan),
            share=read_share(self._driver),
            files=read_file_states(workload),
            periods=read_periods(LIVE, self._quota_stat),
            hooks_s=self._hook_processes.cpu_s(),
        )

    def changed_system_files(self, before: HostState, plan: Plan) -> dict[str, str]:
        """Return the files of system settings that have changed since."""
        return changed_since(before.system, self._system_files(plan))

    def hooks_s(self, before: HostState) -> float:
        """Return the CPU time since then of the processes that hooks left running, in seconds."""
        return max(0.0, self._hook_processes.cpu_s() - before.hooks_s)

    def evidence(self, before: HostState, facts: RunFacts) -> tuple[Evidence, ...]:
        """Return evidence of changes during a launch.

        Args:
            before: state before the launch.
            facts: record of the launch, with the changes of system files.
        """
        return (
            *drift_evidence(before.system, facts.changed_system_files),
            *share_evidence(self._driver, before.share, facts),
            *quota_evidence(before.periods, read_periods(LIVE, self._quota_stat)),
        )

    def _system_files(self, plan: Plan) -> dict[str, str]:
        return read_files(LIVE, plan.boot_files) | self._system.read_targets(plan.system)
