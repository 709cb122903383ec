"""Executors: they carry out launches."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol

import msgspec

import assay.launch.standby  # noqa: F401 - which drivers load late; signals are exceptions then
from assay.errors import NotPossibleError
from assay.executors.builds.builder import (
    Builder,
    BuildFailedError,
    BuildProgress,
    failed_sample,
    no_progress,
)
from assay.executors.evidence.drift import changed_since, drift_evidence
from assay.executors.evidence.other_processes import OtherProcesses
from assay.executors.evidence.reported_errors import error_evidence
from assay.executors.evidence.same_work import ComparableForm, output_evidence
from assay.executors.evidence.shares import read_share, share_evidence
from assay.executors.hooks.runner import HookRunner, no_time_budget
from assay.executors.metrics.instances import InstanceOutputs
from assay.executors.metrics.metric_files import FileState, read_file_states
from assay.executors.missing_inputs import demand_inputs
from assay.executors.page_cache import apply_cache_state
from assay.executors.probe import speed_probe
from assay.executors.sample import build_sample, demand_figures, read_metrics
from assay.executors.scratch import ScratchFolder
from assay.launch.argument_limit import free_argument_bytes
from assay.launch.document import instance_stream, launcher_document, padded
from assay.launch.driver import Driver
from assay.launch.observations import active_observations
from assay.launch.running import LauncherKilledError, RunningLaunch
from assay.launch.termination import ask_to_end, end_all
from assay.machine.boot_state import read_files
from assay.machine.quota import Periods, quota_stat, read_periods
from assay.machine.root import LIVE
from assay.records import (
    Evidence,
    Launch,
    Observation,
    Outcome,
    Plan,
    RunFacts,
    Sample,
    Stage,
    Workload,
)
from assay.records.facts import CachedFiles
from assay.records.sample import QUOTA_PERIODS, QUOTA_THROTTLED
from assay.root_helper.client import SystemHolder, system_holder
from assay.settings.inherited import exported_of
from assay.settings.printed_values import printed_values
from assay.settings.registry import Registry, judge_all
from assay.signal_handlers import blocked_signals
from assay.signals import ARRIVAL_DELAY_S
from assay.units import show_bytes, show_count

MAX_PAD_BYTES = 4096
"""Largest size of the padding: the kernel already randomises the stack by whole pages."""


class Node(msgspec.Struct, frozen=True):
    """Host that accepts launches."""

    name: str
    slots: int = 1


class Ticket(msgspec.Struct, frozen=True):
    """Handle of a submitted launch."""

    number: int


class Executor(Protocol):
    """Interface of all executors: local now, guests and clusters later.

    The study loop sends all launches to the first node. ``open`` is called before launches whose
    settings are costly to change.
    """

    def nodes(self) -> list[Node]:
        """Return the hosts that accept launches."""
        ...

    def open(self, node: Node, plan: Plan) -> None:
        """Apply the settings outside the process that hold for the following launches.

        Called if a setting that is costly to change gets another value, or must be applied again
        (``Setting.switch_cost_s``, ``Launch.anew``).
        """
        ...

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        """Start one launch."""
        ...

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Return samples of finished launches; wait at most ``timeout_s`` for one."""
        ...

    def cancel(self, ticket: Ticket) -> None:
        """End a running launch without a sample."""
        ...

    def ask_to_end(self) -> float:
        """Ask running launches to end; return the longest remaining grace period, in seconds."""
        ...

    def close(self) -> None:
        """End running launches, and restore all changed settings."""
        ...


class _Flight(msgspec.Struct, frozen=True):
    launch: Launch
    plan: Plan
    workload: Workload
    running: RunningLaunch
    before: tuple[Evidence, ...]
    cached: CachedFiles | None
    own_s: float
    """Processor time of assay itself at the start."""
    hooked_s: float
    """Processor time of the processes of hooks at the start."""
    system: dict[str, str]
    """Contents of the files that system settings write, before the launch."""
    share: dict[str, str]
    """Control-group files of the share, before the launch."""
    files: dict[Path, FileState]
    """State of the files that metrics are read from, before the launch."""
    periods: Periods | None = None
    """Periods of the CPU-time quota, before the launch."""


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
        host, telling: see ``Builder``.
        hooking: runs the hooks; a new one with ``left_s`` if absent.
        building: builds the program; a new one if absent.
        variables: additional variables of ``prepare``.
        system: applies system settings; a new one if absent. It is closed with this executor.
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
        telling: BuildProgress = no_progress,
        hooking: HookRunner | None = None,
        building: Builder | None = None,
        variables: Mapping[str, str] | None = None,
        system: SystemHolder | None = None,
    ) -> None:
        self._system = system or system_holder(driver.launcher)
        self._driver = driver
        self._registry = registry
        self._varied = tuple(varied)
        self._observe = None if observe is None else tuple(observe)
        self._values = values
        self._metrics = workload.metrics
        self._speed = speed
        self._pad_seed = pad_seed
        self._flights: dict[Ticket, _Flight] = {}
        self._submitted = 0
        self._quota_stat = quota_stat(LIVE)
        self._block = -1
        driver.sweep()
        driver.start_standby()
        self._scratch = ScratchFolder()
        self._hooking = hooking or HookRunner(workload, driver.env, left_s)
        self._variables = variables
        self._building = building or Builder(workload, driver.env, host, left_s, telling=telling)
        self._unbuilt: list[Sample] = []
        self._others = OtherProcesses()
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
        return tuple(flight.running for flight in self._flights.values())

    def submit(self, launch: Launch, plan: Plan, told: tuple[Evidence, ...] = ()) -> Ticket:
        """Start one launch; see ``Executor.submit``.

        Args:
            launch, plan: launch and its plan.
            told: evidence from before the launch.

        Raises:
            NotPossibleError: a setting is refused, the launcher cannot start, or the share was
                lost.
            WorkloadFailedError: a hook failed.
            SourceChangedError: a source file has changed since the sitting began.
        """
        plan.demand_booted()
        plan.demand_granted()
        ticket = Ticket(self._submitted)
        self._submitted += 1
        try:
            built = self._building.built(plan)
        except BuildFailedError as failed:
            self.last_facts = None
            self._unbuilt.append(failed_sample(launch, failed))
            return ticket
        self._hooking.before_launch(self._variables)
        before = (*told, *built.evidence)
        if self._speed and launch.block != self._block:
            before += (speed_evidence(),)
        self._block = launch.block
        self._scratch.renew()
        document = launcher_document(
            plan,
            built.workload,
            launch,
            env=self._driver.env,
            stdout=str(self.output),
            stderr=str(self.errors),
            parent_pid=os.getpid(),
            varied=self._varied,
            observe=self._observe,
            process_group="own",
            measured=True,
        )
        pad_bytes = self._pad_bytes(launch, free_argument_bytes(document, self._driver.env))
        if pad_bytes is not None:
            document = padded(document, pad_bytes)
            before += (Evidence(kind="environment_pad", value=float(pad_bytes), unit="bytes"),)
        cached = apply_cache_state(plan, built.workload, self._driver.env)
        if cached is not None:
            before += (_page_cache(cached),)
        system = self._look(plan)
        share = read_share(self._driver)
        files = read_file_states(built.workload)
        periods = read_periods(LIVE, self._quota_stat)
        hooked_s = self._hooking.left.cpu_s()
        with blocked_signals():  # an interrupt between start and registration would lose the launch
            running = self._driver.start(document)
            self._flights[ticket] = _Flight(
                launch,
                plan,
                built.workload,
                running,
                before,
                cached,
                time.process_time(),
                hooked_s,
                system,
                share,
                files,
                periods,
            )
        return ticket

    def _look(self, plan: Plan) -> dict[str, str]:
        """Return the contents of files that system settings write or that show boot parameters."""
        return read_files(LIVE, plan.shown_by) | self._system.look(plan.system)

    def _pad_bytes(self, launch: Launch, free_argument_bytes: int) -> int | None:
        """Return a random padding size below one page and the free space."""
        most_bytes = min(MAX_PAD_BYTES, free_argument_bytes)
        if self._pad_seed is None or most_bytes <= 0:
            return None
        place = f"{self._pad_seed}/{launch.block}/{launch.position}/{launch.attempt}/pad"
        return random.Random(place).randrange(most_bytes)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Return samples of finished launches; see ``Executor.poll``.

        Raises:
            MissingInputError: the working folder, the input or the output folder is missing.
            NotPossibleError: the launcher could not write its record.
        """
        if unbuilt := self.unbuilt():
            return unbuilt
        for ticket, flight in list(self._flights.items()):
            if not flight.running.finished(timeout_s):
                return []
            del self._flights[ticket]
            with flight.running:
                own_s = time.process_time() - flight.own_s
                return [self._sample(flight, self._facts(flight.running), own_s)]
        return []

    def unbuilt(self) -> list[Sample]:
        """Return the failed samples of submitted launches whose program could not be built."""
        found, self._unbuilt = self._unbuilt, []
        return found

    def _facts(self, running: RunningLaunch) -> RunFacts:
        try:
            facts = running.facts()
        except LauncherKilledError as killed:
            self._driver.sweep()
            facts = RunFacts(outcome="interrupted", interrupted_by=killed.number)
        if facts.outcome == "interrupted":
            # The signal may be addressed to assay as well, as for a whole job: it is then raised
            # here.
            time.sleep(ARRIVAL_DELAY_S)
        return facts

    def _sample(self, flight: _Flight, facts: RunFacts, own_s: float) -> Sample:
        changed = changed_since(flight.system, self._look(flight.plan))
        exported = exported_of(
            flight.launch.configuration, self._driver.env, flight.workload.environment
        )
        facts = msgspec.structs.replace(
            facts,
            cached_files=flight.cached,
            system=flight.system,
            system_changed=changed,
            exported=exported,
        )
        self.last_facts = facts
        demand_inputs(facts, flight.workload, self.output)
        if facts.outcome in ("bad_plan", "setup_failed"):
            raise NotPossibleError(
                f"The launcher could not set up the launch ({facts.stage}): {facts.message}",
                "See `assay doctor` for the capabilities of this host.",
            )
        copies = self._copies(flight.plan)
        grants = judge_all(flight.launch.configuration, self._registry, flight.plan, facts)
        outputs = [file for _, files in copies for file in files] or (self.output, self.errors)
        reading = read_metrics(flight.workload, facts, outputs, copies, flight.files)
        hooked_s = max(0.0, self._hooking.left.cpu_s() - flight.hooked_s)
        sample = build_sample(
            flight.launch,
            flight.workload,
            facts,
            outputs,
            grants,
            (
                *flight.before,
                *drift_evidence(flight.system, changed),
                *share_evidence(self._driver, flight.share, facts),
                *quota_evidence(flight.periods, read_periods(LIVE, self._quota_stat)),
            ),
            own_s,
            copies,
            active_observations(flight.launch, flight.workload, self._varied, self._observe),
            reading,
            hooked_s,
        )
        if flight.launch.stage is Stage.SURVEY and sample.outcome is Outcome.OK:
            demand_figures(flight.workload, reading)
        named = self._others.evidence(sample, self._hooking.left.pids)
        return msgspec.structs.replace(
            sample, evidence=(*sample.evidence, *named, *self._written(sample, flight.plan))
        )

    def _written(self, sample: Sample, plan: Plan) -> list[Evidence]:
        """Return evidence of a single process's output and of its reported errors."""
        written = [one for one in sample.outputs if one.stream == self.output.name]
        if self._values is None or len(written) != 1 or sample.outcome is not Outcome.OK:
            return []
        read = [m.pattern for m in self._metrics if m.pattern is not None and m.file is None]
        own = printed_values(sample.launch.configuration, plan, self._values)
        errors = error_evidence(sample.outputs, ComparableForm(self._values, own=own))
        output = output_evidence(written[0], self._values, read, own)
        return [output] if errors is None else [output, errors]

    def _copies(self, plan: Plan) -> InstanceOutputs:
        """Return the output files of each instance, if there are several."""
        streams = (str(self.output), str(self.errors))
        return [
            (number, tuple(Path(instance_stream(stream, number)) for stream in streams))
            for number, _ in plan.instances
        ]

    def cancel(self, ticket: Ticket) -> None:
        """End a running launch; see ``Executor.cancel``."""
        flight = self._flights.pop(ticket, None)
        if flight is not None:
            flight.running.close()

    def ask_to_end(self) -> float:
        """Ask running launches to end; see ``Executor.ask_to_end``."""
        return ask_to_end(self.running)

    def cancel_all(self) -> None:
        """End all running launches."""
        end_all(self.running)
        for ticket in list(self._flights):
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
            stack.callback(self._building.close)
            stack.callback(self._system.close)
            # First: the hook may stop a server that uses resources to restore, such as huge pages.
            stack.callback(self._hooking.after_last)


def quota_evidence(before: Periods | None, after: Periods | None) -> tuple[Evidence, ...]:
    """Return how often a CPU-time quota ran out during a launch; empty without a quota."""
    if before is None or after is None:
        return ()
    passed = after.since(before)
    return (
        Evidence(kind=QUOTA_PERIODS, value=float(passed.periods), unit="periods"),
        Evidence(kind=QUOTA_THROTTLED, value=float(passed.throttled), unit="periods"),
    )


def speed_evidence() -> Evidence:
    """Return the current speed of the machine."""
    return Evidence(kind="speed", value=speed_probe(), unit="s", outside=True)


def _page_cache(cached: CachedFiles) -> Evidence:
    """Return which part of the files of a launch was in the page cache before it."""
    value = None if cached.cached_bytes is None else float(cached.cached_bytes)
    told = f"of {show_bytes(cached.size_bytes)} in {show_count(cached.files, 'file')}"
    return Evidence(kind="page_cache", value=value, unit="bytes", note=cached.absent or told)
