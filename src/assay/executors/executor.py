"""Executors: where launches are carried out."""

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
from assay.launch.driver import Driver, LauncherKilledError, RunningLaunch
from assay.launch.observations import active_observations
from assay.launch.termination import ask_to_end, end_all
from assay.machine.booted import read_files
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
from assay.settings.printed import own_values
from assay.settings.registry import Registry, judge_all
from assay.signal_handlers import blocked_signals
from assay.signals import ARRIVAL_DELAY_S
from assay.units import show_bytes, show_count

MAX_PAD_BYTES = 4096
"""The stack is placed at random in whole pages already, where the kernel does so."""


class Node(msgspec.Struct, frozen=True):
    """A place that launches can be sent to."""

    name: str
    slots: int = 1


class Ticket(msgspec.Struct, frozen=True):
    """A launch that was submitted."""

    number: int


class Executor(Protocol):
    """Carries launches out: locally now; guests and clusters keep the same contract.

    ``nodes`` is a seam in part: the loop sends all launches to the first. ``open`` is called before
    launches whose settings are costly to change.
    """

    def nodes(self) -> list[Node]:
        """Where launches can go."""
        ...

    def open(self, node: Node, plan: Plan) -> None:
        """Apply what lies outside the process and holds for the launches that follow.

        Called where they need another value of a setting that is costly to change than those
        before, or the same one anew (``Setting.switch_cost_s``, ``Launch.anew``).
        """
        ...

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        """Begin one launch."""
        ...

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Samples of launches that have ended, waiting at most ``timeout_s`` for one."""
        ...

    def cancel(self, ticket: Ticket) -> None:
        """End a launch under way; it gives no sample."""
        ...

    def ask_to_end(self) -> float:
        """Ask what runs to end; returns the time that what has not ended promptly has, in s."""
        ...

    def close(self) -> None:
        """End what runs, and put back what was changed."""
        ...


class _Flight(msgspec.Struct, frozen=True):
    launch: Launch
    plan: Plan
    workload: Workload
    running: RunningLaunch
    before: tuple[Evidence, ...]
    cached: CachedFiles | None
    own_s: float
    """Processor time of assay itself when it began."""
    hooked_s: float
    """Processor time until then of what hooks have left running."""
    system: dict[str, str]
    """What the files held that system settings write."""
    share: dict[str, str]
    """What the kernel said of the share that it is in."""
    files: dict[Path, FileState]
    """State of the files that metrics are read from, before the launch."""
    periods: Periods | None = None
    """Of the quota of CPU time, before it began."""


class LocalExecutor:
    """One launch at a time on this host, through assay-exec.

    Args:
        workload: what runs.
        driver: starts launches.
        registry: judges settings from what was read back.
        observe: observations of the launches; the usual ones if absent.
        varied: names of the settings that the study varies: all its arms are read back alike,
            since reading costs the program time.
        values: of the varied settings, as text, where outputs of arms are compared.
        speed: whether to probe the machine's speed before each block.
        pad_seed: gives each launch an environment of another size, drawn from this seed and the
            place of the launch; none where absent.
        left_s: tells what is left of the budget of time, which bounds hooks and builds; ``None``
            where it has none.
        host, telling: as ``Builder`` has them.
        hooking: runs the hooks; one of its own if absent, in which ``left_s`` is asked.
        building: builds the program; one of its own if absent.
        variables: that ``prepare`` has beside those of a launch.
        system: makes system settings hold; one of its own if absent. It is closed with this one.
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
        telling: Telling = no_progress,
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
        """Standard output of the newest launch."""
        return self._scratch.stdout

    @property
    def errors(self) -> Path:
        """Error output of the newest launch."""
        return self._scratch.stderr

    def nodes(self) -> list[Node]:
        """See ``Executor.nodes``."""
        return [Node("local")]

    def open(self, node: Node, plan: Plan) -> None:
        """See ``Executor.open``.

        What the kernel refuses is not raised: it is read back before each launch, and told with it.

        Raises:
            NotPossibleError: another assay changes system settings, or the undo journal cannot be
                written.
        """
        self._system.hold(plan.system)

    @property
    def running(self) -> tuple[RunningLaunch, ...]:
        """The launches under way."""
        return tuple(flight.running for flight in self._flights.values())

    def submit(self, launch: Launch, plan: Plan, told: tuple[Evidence, ...] = ()) -> Ticket:
        """See ``Executor.submit``.

        Args:
            launch, plan: what is to run, and how.
            told: evidence that is known before.

        Raises:
            NotPossibleError: the plan holds a refused setting, the launcher cannot be started, or the
                share of a partition that it was to run in is gone.
            WorkloadFailedError: a hook failed.
            SourceChangedError: what it is built from is other than when the sitting began.
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
        with blocked_signals():  # an interrupt between start and note would leave it running unseen
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
        """What the files hold now that system settings write, and that show how it was booted."""
        return read_files(LIVE, plan.shown_by) | self._system.look(plan.system)

    def _pad_bytes(self, launch: Launch, free_argument_bytes: int) -> int | None:
        """A page's worth of places for the stack, each as likely; fewer where room is short."""
        most_bytes = min(MAX_PAD_BYTES, free_argument_bytes)
        if self._pad_seed is None or most_bytes <= 0:
            return None
        place = f"{self._pad_seed}/{launch.block}/{launch.position}/{launch.attempt}/pad"
        return random.Random(place).randrange(most_bytes)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """See ``Executor.poll``.

        Raises:
            Gone: the launch lacked its folder, its input or a place for its output.
            NotPossibleError: the launcher could not write.
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
        """The launches that were submitted since and whose program could not be built."""
        found, self._unbuilt = self._unbuilt, []
        return found

    def _facts(self, running: RunningLaunch) -> RunFacts:
        try:
            facts = running.facts()
        except LauncherKilledError as killed:
            self._driver.sweep()
            facts = RunFacts(outcome="interrupted", interrupted_by=killed.number)
        if facts.outcome == "interrupted":
            # Ours as well, as when a whole job is told to end? It is raised here then.
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
                f"The launcher could not put the launch in place ({facts.stage}): {facts.message}",
                "See `assay doctor` for what this host allows.",
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
        """Return the comparable form of what one process wrote, and the errors that it reports."""
        written = [one for one in sample.outputs if one.stream == self.output.name]
        if self._values is None or len(written) != 1 or sample.outcome is not Outcome.OK:
            return []
        read = [m.pattern for m in self._metrics if m.pattern is not None and m.file is None]
        own = own_values(sample.launch.configuration, plan, self._values)
        errors = error_evidence(sample.outputs, ComparableForm(self._values, own=own))
        output = output_evidence(written[0], self._values, read, own)
        return [output] if errors is None else [output, errors]

    def _copies(self, plan: Plan) -> InstanceOutputs:
        """The files of each instance, where there are several."""
        streams = (str(self.output), str(self.errors))
        return [
            (number, tuple(Path(instance_stream(stream, number)) for stream in streams))
            for number, _ in plan.instances
        ]

    def cancel(self, ticket: Ticket) -> None:
        """See ``Executor.cancel``."""
        flight = self._flights.pop(ticket, None)
        if flight is not None:
            flight.running.close()

    def ask_to_end(self) -> float:
        """See ``Executor.ask_to_end``."""
        return ask_to_end(self.running)

    def cancel_all(self) -> None:
        """End all that is under way."""
        end_all(self.running)
        for ticket in list(self._flights):
            self.cancel(ticket)

    def close(self) -> None:
        """See ``Executor.close``.

        Raises:
            WorkloadFailedError: the last hook failed.
            NotRestoredError: something of the machine is not as it was.
        """
        self.cancel_all()
        with contextlib.ExitStack() as stack:  # each is closed, whatever another raises
            stack.callback(self._scratch.close)
            stack.callback(self._driver.close)
            stack.callback(self._building.close)
            stack.callback(self._system.close)
            # First of all: it may stop a server that holds what is put back then, as huge pages.
            stack.callback(self._hooking.after_last)


def quota_evidence(before: Periods | None, after: Periods | None) -> tuple[Evidence, ...]:
    """Return how often a quota of CPU time ran out during a launch; nothing where there is none."""
    if before is None or after is None:
        return ()
    passed = after.since(before)
    return (
        Evidence(kind=QUOTA_PERIODS, value=float(passed.periods), unit="periods"),
        Evidence(kind=QUOTA_THROTTLED, value=float(passed.throttled), unit="periods"),
    )


def speed_evidence() -> Evidence:
    """How fast the machine is now."""
    return Evidence(kind="speed", value=speed_probe(), unit="s", outside=True)


def _page_cache(cached: CachedFiles) -> Evidence:
    """What of the files of a launch lay in the page cache before it."""
    value = None if cached.cached_bytes is None else float(cached.cached_bytes)
    told = f"of {show_bytes(cached.size_bytes)} in {show_count(cached.files, 'file')}"
    return Evidence(kind="page_cache", value=value, unit="bytes", note=cached.absent or told)
