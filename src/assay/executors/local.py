"""Local executor: runs launches on this host, one at a time."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import assay.launch.standby  # noqa: F401 - which drivers load late; signals are exceptions then
from assay.executors.builds.builder import (
    Builder,
    BuildFailedError,
    BuildProgress,
    failed_sample,
    no_progress,
)
from assay.executors.executor import Node, Ticket
from assay.executors.hooks.runner import HookRunner, no_time_budget
from assay.executors.host_state import HostObserver
from assay.executors.page_cache import apply_cache_state, page_cache_evidence
from assay.executors.probe import speed_evidence
from assay.executors.progress.channel import create_channel
from assay.executors.progress.live import LatestReport, LiveReports, NoticeListener, no_notices
from assay.executors.progress.watch import ProgressWatch
from assay.executors.sample_builder import SampleBuilder, SubmittedLaunch
from assay.executors.scratch import ScratchFolder
from assay.launch.argument_limit import free_argument_bytes
from assay.launch.document import instance_stream, launcher_document, padded
from assay.launch.driver import Driver
from assay.launch.running import LauncherKilledError, RunningLaunch
from assay.launch.termination import ask_to_end, end_all
from assay.records import Evidence, Launch, Observation, Plan, RunFacts, Sample, Workload
from assay.root_helper.client import SystemHolder, system_holder
from assay.settings.registry import Registry
from assay.signal_handlers import blocked_signals
from assay.signals import ARRIVAL_DELAY_S

MAX_PAD_BYTES = 4096
"""Largest size of the padding: the kernel already randomises the stack by whole pages."""


class LocalExecutor:
    """Runs one launch at a time on this host, through assay-exec.

    Args:
        workload: program to run.
        driver: starts launches.
        registry: verifies settings by their read-back.
        observe: observations of the launches; the default ones if absent.
        varied: names of the settings that the study varies. All arms have the same read-back, since
            it slows the program down.
        values: values of the varied settings, as text, if outputs of arms are compared.
        speed: whether to probe the speed of the machine before each block.
        pad_seed: seed of the environment size, which differs between launches; no padding if
            absent.
        left_s: returns the remaining time budget in seconds, which bounds hooks and builds;
            ``None`` without such a budget.
        host, progress: see ``Builder``.
        hook_runner: runs the hooks; a new one with ``left_s`` if absent.
        builder: builds the program; a new one if absent.
        variables: additional variables of ``prepare``.
        system: applies system settings; a new one if absent. It is closed with this executor.
        notices: receiver of notices on the reports of a running launch.
    """

    def __init__(
        self,
        workload: Workload,
        driver: Driver,
        registry: Registry,
        *,
        varied: Iterable[str] = (),
        observe: Iterable[Observation] | None = None,
        values: Collection[str] | None = None,
        speed: bool = True,
        pad_seed: int | None = None,
        left_s: Callable[[], float | None] = no_time_budget,
        host: str = "",
        progress: BuildProgress = no_progress,
        hook_runner: HookRunner | None = None,
        builder: Builder | None = None,
        variables: Mapping[str, str] | None = None,
        system: SystemHolder | None = None,
        notices: NoticeListener = no_notices,
    ) -> None:
        self._system = system or system_holder(driver.launcher)
        self._driver = driver
        self._varied = tuple(varied)
        self._observe = None if observe is None else tuple(observe)
        self._speed = speed
        self._notices = notices
        self._pad_seed = pad_seed
        self._submitted: dict[Ticket, SubmittedLaunch] = {}
        self._tickets = 0
        self._block = -1
        driver.sweep()
        driver.start_standby()
        self._scratch = ScratchFolder()
        self._hook_runner = hook_runner or HookRunner(workload, driver.env, left_s)
        self._variables = variables
        self._builder = builder or Builder(workload, driver.env, host, left_s, progress=progress)
        self._unbuilt: list[Sample] = []
        self._host = HostObserver(driver, self._system, self._hook_runner.processes)
        self._samples = SampleBuilder(
            driver,
            registry,
            self._host,
            self._hook_runner.processes,
            self._scratch,
            varied=self._varied,
            observe=self._observe,
            values=values,
        )
        self.last_facts: RunFacts | None = None

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def output(self) -> Path:
        """File with the standard output of the newest launch."""
        return self._scratch.stdout

    @property
    def errors(self) -> Path:
        """File with the standard error of the newest launch."""
        return self._scratch.stderr

    def nodes(self) -> list[Node]:
        """Return this host; see ``Executor.nodes``."""
        return [Node("local")]

    def open(self, node: Node, plan: Plan) -> None:
        """Apply system settings; see ``Executor.open``.

        A refusal of the kernel raises no error: the settings are read back before each launch, and
        the result is part of its sample.

        Raises:
            NotPossibleError: another assay changes system settings, or the undo journal cannot be
                written.
        """
        self._system.hold(plan.system)

    @property
    def running(self) -> tuple[RunningLaunch, ...]:
        """Running launches."""
        return tuple(submitted.running for submitted in self._submitted.values())

    def submit(self, launch: Launch, plan: Plan, known: tuple[Evidence, ...] = ()) -> Ticket:
        """Start one launch; see ``Executor.submit``.

        Args:
            launch, plan: launch and its plan.
            known: evidence from before the launch.

        Raises:
            NotPossibleError: a setting is refused, the launcher cannot start, or the share was
                lost.
            WorkloadFailedError: a hook failed.
            SourceChangedError: a source file has changed since the session began.
        """
        plan.demand_booted()
        plan.demand_granted()
        ticket = Ticket(self._tickets)
        self._tickets += 1
        try:
            built = self._builder.built(plan)
        except BuildFailedError as failed:
            self.last_facts = None
            self._unbuilt.append(failed_sample(launch, failed))
            return ticket
        self._hook_runner.before_launch(self._variables)
        evidence = [*known, *built.evidence]
        if self._speed and launch.block != self._block:
            evidence.append(speed_evidence())
        self._block = launch.block
        self._scratch.renew()
        if (channel := self._channel(built.workload)) is not None:
            create_channel(channel)
        document = self._document(launch, plan, built.workload)
        pad_bytes = self._pad_bytes(launch, free_argument_bytes(document, self._driver.env))
        if pad_bytes is not None:
            document = padded(document, pad_bytes)
            pad = Evidence(kind="environment_pad", value=float(pad_bytes), unit="bytes")
            evidence.append(pad)
        cached = apply_cache_state(plan, built.workload, self._driver.env)
        if cached is not None:
            evidence.append(page_cache_evidence(cached))
        host = self._host.state(plan, built.workload)
        watch = self._watch(plan, built.workload)
        with blocked_signals():  # an interrupt between start and registration would lose the launch
            running = self._driver.start(document)
            live = None
            if watch is not None:
                metric = built.workload.steady_metric
                timeout_s = document.get("timeout_s")
                live = LiveReports(watch, metric, launch.end, self._notices, timeout_s)
            self._submitted[ticket] = SubmittedLaunch(
                launch,
                plan,
                built.workload,
                running,
                tuple(evidence),
                cached,
                time.process_time(),
                host,
                live,
            )
        return ticket

    def _watch(self, plan: Plan, workload: Workload) -> ProgressWatch | None:
        """Return the reader of the reports of the next launch, if its program reports values."""
        if not workload.reports_progress:
            return None
        streams = (self.output, self.errors)
        outputs = [
            [Path(instance_stream(str(stream), number)) for stream in streams]
            for number, _ in plan.instances
        ] or [list(streams)]
        return ProgressWatch(workload, outputs, self._channel(workload))

    def _channel(self, workload: Workload) -> Path | None:
        """Return the FIFO of the progress channel; ``None`` if no metric needs it."""
        return self._scratch.progress if workload.uses_progress_channel else None

    def _document(self, launch: Launch, plan: Plan, workload: Workload) -> dict[str, Any]:
        channel = self._channel(workload)
        return launcher_document(
            plan,
            workload,
            launch,
            env=self._driver.env,
            stdout=str(self.output),
            stderr=str(self.errors),
            progress=None if channel is None else str(channel),
            parent_pid=os.getpid(),
            varied=self._varied,
            observe=self._observe,
            process_group="own",
            measured=True,
        )

    def _pad_bytes(self, launch: Launch, free_argument_bytes: int) -> int | None:
        """Return a random padding size below one page and the free space."""
        max_bytes = min(MAX_PAD_BYTES, free_argument_bytes)
        if self._pad_seed is None or max_bytes <= 0:
            return None
        seed = f"{self._pad_seed}/{launch.block}/{launch.position}/{launch.attempt}/pad"
        return random.Random(seed).randrange(max_bytes)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Return samples of finished launches; see ``Executor.poll``.

        Raises:
            MissingInputError: the working folder, the input or the output folder is missing.
            NotPossibleError: the launcher could not write its record.
        """
        if unbuilt := self.unbuilt():
            return unbuilt
        for ticket, submitted in list(self._submitted.items()):
            if not _is_finished(submitted, timeout_s):
                return []
            del self._submitted[ticket]
            with submitted.running, submitted.live or contextlib.nullcontext():
                own_s = time.process_time() - submitted.own_cpu_s
                return [self._sample(submitted, own_s)]
        return []

    def _sample(self, submitted: SubmittedLaunch, own_s: float) -> Sample:
        self.last_facts = self._samples.complete_facts(submitted, self._facts(submitted))
        return self._samples.build(submitted, self.last_facts, own_s)

    def unbuilt(self) -> list[Sample]:
        """Return the failed samples of submitted launches whose program could not be built."""
        samples, self._unbuilt = self._unbuilt, []
        return samples

    def _facts(self, submitted: SubmittedLaunch) -> RunFacts:
        try:
            facts = submitted.running.facts()
        except LauncherKilledError as killed:
            self._driver.sweep()
            facts = RunFacts(outcome="interrupted", interrupted_by=killed.number)
        if facts.outcome == "interrupted" and not submitted.ended_by_assay:
            # The signal may be addressed to assay as well, as for a whole job: it is then raised
            # here.
            time.sleep(ARRIVAL_DELAY_S)
        return facts

    def cancel(self, ticket: Ticket) -> None:
        """End a running launch; see ``Executor.cancel``."""
        submitted = self._submitted.pop(ticket, None)
        if submitted is not None:
            with submitted.live or contextlib.nullcontext():
                submitted.running.close()

    def ask_to_end(self) -> float:
        """Ask running launches to end; see ``Executor.ask_to_end``."""
        return ask_to_end(self.running)

    def observe(self) -> None:
        """Read the reports of running launches, and end those whose values suffice."""
        for submitted in self._submitted.values():
            if submitted.live is not None:
                submitted.live.observe(submitted.running)

    def latest(self) -> LatestReport | None:
        """Return the newest reported value of a running launch; ``None`` without any."""
        running = list(self._submitted.values())
        found = (one.live.latest() for one in running if one.live is not None)
        return next((report for report in found if report is not None), None)

    def cancel_all(self) -> None:
        """End all running launches."""
        end_all(self.running)
        for ticket in list(self._submitted):
            self.cancel(ticket)

    def close(self) -> None:
        """End launches and restore settings; see ``Executor.close``.

        Raises:
            WorkloadFailedError: the last hook failed.
            NotRestoredError: a change of the machine could not be restored.
        """
        self.cancel_all()
        with contextlib.ExitStack() as stack:  # each one is closed, even if another one raises
            stack.callback(self._scratch.close)
            stack.callback(self._driver.close)
            stack.callback(self._builder.close)
            stack.callback(self._system.close)
            # First: the hook may stop a server that uses resources to restore, such as huge pages.
            stack.callback(self._hook_runner.after_last)


def _is_finished(submitted: SubmittedLaunch, timeout_s: float | None) -> bool:
    """Wait for the end of a launch, and read its reports meanwhile."""
    if submitted.live is None:
        return submitted.running.finished(timeout_s)
    return submitted.live.is_finished(submitted.running, timeout_s)
