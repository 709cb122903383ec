"""Parallel executor: launches side by side, each confined to its own CPUs."""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from assay.executors.builds.builder import Builder, BuildProgress, no_progress
from assay.executors.executor import Node, Ticket
from assay.executors.hooks.runner import HookRunner, no_time_budget
from assay.executors.local import LocalExecutor
from assay.executors.probe import speed_evidence
from assay.executors.progress.live import (
    LatestReport,
    NoticeListener,
    drain_interval_s,
    no_notices,
)
from assay.launch.driver import Driver
from assay.launch.running import POLL_INTERVAL_S, RunningLaunch
from assay.launch.termination import ask_to_end, end_all
from assay.machine.slots import Slot
from assay.records import Evidence, Launch, Observation, Plan, Sample, Workload
from assay.root_helper.client import system_holder
from assay.settings.registry import Registry

SLOT_VARIABLE = "ASSAY_SLOT"
"""Variable with the number of the slot of a program, from 0; for instance for file names."""
NEIGHBOURS_KIND = "neighbours"
"""Kind of the evidence that counts the launches that ran when a launch started."""


class ParallelExecutor:
    """One local executor and standby launcher per slot, with common hooks and builds.

    Programs and launchers are confined to their slot, so that each counts foreign load on its own
    CPUs only. A build uses all CPUs: no launch runs at the same time. One thread starts and waits
    for all launches.

    Args:
        workload: program to run.
        driver: starts launches.
        registry: verifies settings by their read-back.
        slots: CPUs of each slot.
        varied, observe, pad_seed, left_s, host, progress, notices: see ``LocalExecutor``.
    """

    def __init__(
        self,
        workload: Workload,
        driver: Driver,
        registry: Registry,
        slots: Sequence[Slot],
        *,
        varied: Iterable[str] = (),
        observe: Iterable[Observation] | None = None,
        values: Collection[str] | None = None,
        pad_seed: int | None = None,
        left_s: Callable[[], float | None] = no_time_budget,
        host: str = "",
        progress: BuildProgress = no_progress,
        notices: NoticeListener = no_notices,
    ) -> None:
        names = tuple(varied)
        self._reports_progress = workload.reports_progress
        self._block = -1
        self._hook_runner = HookRunner(workload, driver.env, left_s)
        self._builder = Builder(workload, driver.env, host, left_s, progress=progress)
        system = system_holder(driver.launcher)
        self._executors: list[LocalExecutor] = []
        try:
            for number, cpus in enumerate(slots):
                variables = {SLOT_VARIABLE: str(number)}
                self._executors.append(
                    LocalExecutor(
                        workload,
                        driver.within(cpus, **variables),
                        registry,
                        varied=names,
                        observe=observe,
                        values=values,
                        speed=False,
                        pad_seed=pad_seed,
                        left_s=left_s,
                        hook_runner=self._hook_runner,
                        builder=self._builder,
                        variables=variables,
                        system=system,
                        notices=notices,
                    )
                )
        except BaseException:
            self.close()
            raise

    def nodes(self) -> list[Node]:
        """Return this host with its slots; see ``Executor.nodes``."""
        return [Node("local", slots=len(self._executors))]

    def open(self, node: Node, plan: Plan) -> None:
        """Apply system settings while no launch runs; see ``Executor.open``.

        Raises:
            NotPossibleError: see ``LocalExecutor.open``.
        """
        self._await_running()
        self._executors[0].open(node, plan)

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        """Start one launch in the slot that it names; see ``Executor.submit``.

        Raises:
            AssayError: see ``LocalExecutor.submit``.
        """
        active = self._running
        if active and not self._builder.ready(plan):
            self._await_running()
            active = []
        neighbours = len(active)
        evidence: tuple[Evidence, ...] = (Evidence(kind=NEIGHBOURS_KIND, value=float(neighbours)),)
        if launch.block != self._block and not neighbours:
            evidence += (speed_evidence(),)
        self._block = launch.block
        executor = self._executors[launch.cpu_slot or 0]
        inner = executor.submit(launch, plan, evidence)
        return Ticket(inner.number * len(self._executors) + (launch.cpu_slot or 0))

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Return samples of finished launches; see ``Executor.poll``.

        Raises:
            AssayError: see ``LocalExecutor.poll``.
        """
        unbuilt = [sample for executor in self._executors for sample in executor.unbuilt()]
        if unbuilt:
            return unbuilt
        active = self._running
        if not active:
            return []
        if not self._any_finished(active, timeout_s):
            return []
        return [sample for executor in self._executors for sample in executor.poll(0.0)]

    def _any_finished(self, active: Sequence[RunningLaunch], timeout_s: float | None) -> bool:
        """Wait for the end of one launch; read the reports of all meanwhile.

        Args:
            active: running launches.
            timeout_s: longest time to wait, in seconds; ``None`` for no limit.
        """
        poller = select.poll()
        for running in active:
            poller.register(running.pidfd, select.POLLIN)
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            interval_s = drain_interval_s() if self._reports_progress else POLL_INTERVAL_S
            left_s = interval_s if end_s is None else max(0.0, end_s - time.monotonic())
            if poller.poll(min(left_s, interval_s) * 1000):
                return True
            for running in active:
                running.resume_if_stopped()
            for executor in self._executors:
                executor.observe()
            if end_s is not None and left_s <= interval_s:
                return False

    def _await_running(self) -> None:
        """Wait for the end of all running launches; read their reports meanwhile."""
        for running in self._running:
            self._any_finished([running], None)

    def latest(self) -> LatestReport | None:
        """Return the newest reported value of a running launch; ``None`` without any."""
        found = (executor.latest() for executor in self._executors)
        return next((report for report in found if report is not None), None)

    @property
    def _running(self) -> list[RunningLaunch]:
        return [running for executor in self._executors for running in executor.running]

    def ask_to_end(self) -> float:
        """Ask all running launches to end; see ``Executor.ask_to_end``."""
        return ask_to_end(self._running)

    def cancel(self, ticket: Ticket) -> None:
        """End a running launch; see ``Executor.cancel``."""
        number, slot = divmod(ticket.number, len(self._executors))
        self._executors[slot].cancel(Ticket(number))

    def close(self) -> None:
        """End all launches before the cleanup hook runs; see ``Executor.close``."""
        with contextlib.ExitStack() as stack:  # each one is closed, even if another one raises
            for executor in self._executors:
                stack.callback(executor.close)
            end_all(self._running)  # all at once
            for executor in self._executors:
                executor.cancel_all()
