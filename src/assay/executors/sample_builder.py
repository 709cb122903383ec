"""Sample of a local launch: verification of its settings, metrics and evidence."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from assay.errors import NotPossibleError
from assay.executors.evidence.other_processes import OtherProcesses
from assay.executors.evidence.reported_errors import error_evidence
from assay.executors.evidence.same_work import ComparableForm, output_evidence
from assay.executors.hooks.hook_processes import HookProcesses
from assay.executors.host_state import HostObserver, HostState
from assay.executors.metrics.instances import InstanceOutputs
from assay.executors.metrics.reading import demand_figures, read_metrics
from assay.executors.missing_inputs import demand_inputs
from assay.executors.progress.live import LiveReports
from assay.executors.progress.values import reported_values
from assay.executors.sample import build_sample
from assay.executors.scratch import ScratchFolder
from assay.launch.document import instance_stream
from assay.launch.driver import Driver
from assay.launch.observations import active_observations
from assay.launch.running import RunningLaunch
from assay.records import (
    Evidence,
    Launch,
    Metric,
    Observation,
    Outcome,
    Plan,
    RunFacts,
    Sample,
    Stage,
    Workload,
)
from assay.records.facts import CachedFiles
from assay.settings.inherited import exported_of
from assay.settings.printed_values import printed_values
from assay.settings.registry import Registry, judge_all


class SubmittedLaunch(msgspec.Struct, frozen=True):
    """Launch that runs, with all readings from before its start."""

    launch: Launch
    plan: Plan
    workload: Workload
    running: RunningLaunch
    evidence: tuple[Evidence, ...]
    cached_files: CachedFiles | None
    own_cpu_s: float
    """CPU time of assay itself at the start."""
    host: HostState
    live: LiveReports | None = None
    """Reports of the launch, if its program reports values while it runs."""

    @property
    def ended_by_assay(self) -> bool:
        """Return whether assay ended the launch because its values sufficed."""
        return self.live is not None and self.live.ended is not None


class SampleBuilder:
    """Builds the sample of a finished launch from its facts, outputs and the state of the host.

    Args:
        driver: source of the base environment.
        registry: verifies settings by their read-back.
        host: reads the changes of the host.
        hook_processes: processes that hooks left running, which are not foreign.
        scratch: folder with the outputs.
        varied, observe, values: see ``LocalExecutor``.
    """

    def __init__(
        self,
        driver: Driver,
        registry: Registry,
        host: HostObserver,
        hook_processes: HookProcesses,
        scratch: ScratchFolder,
        *,
        varied: tuple[str, ...],
        observe: tuple[Observation, ...] | None,
        values: Collection[str] | None,
    ) -> None:
        self._driver = driver
        self._registry = registry
        self._host = host
        self._hook_processes = hook_processes
        self._scratch = scratch
        self._varied = varied
        self._observe = observe
        self._values = values
        self._other_processes = OtherProcesses()

    def complete_facts(self, submitted: SubmittedLaunch, facts: RunFacts) -> RunFacts:
        """Return the facts of a launch with those that the launcher does not know."""
        return msgspec.structs.replace(
            facts,
            cached_files=submitted.cached_files,
            system_files=submitted.host.system,
            changed_system_files=self._host.changed_system_files(submitted.host, submitted.plan),
            exported=exported_of(
                submitted.launch.configuration,
                self._driver.env,
                submitted.workload.environment,
            ),
        )

    def build(self, submitted: SubmittedLaunch, facts: RunFacts, own_s: float) -> Sample:
        """Return the sample of a finished launch.

        Args:
            submitted: launch and the readings from before its start.
            facts: complete facts of the launch.
            own_s: CPU time of assay itself during the launch, in seconds.

        Raises:
            MissingInputError: the working folder, the input or the output folder is missing.
            NotPossibleError: the launcher could not set up the launch.
            InvalidInputError: a pattern matches part of a number, or a goal is the wrong one.
        """
        launch, workload = submitted.launch, submitted.workload
        demand_inputs(facts, workload, self._scratch.stdout)
        if facts.outcome in ("bad_plan", "setup_failed"):
            raise NotPossibleError(
                f"The launcher could not set up the launch ({facts.stage}): {facts.message}",
                "See `assay doctor` for the capabilities of this host.",
            )
        instances = self._instance_outputs(submitted.plan)
        grants = judge_all(launch.configuration, self._registry, submitted.plan, facts)
        streams = (self._scratch.stdout, self._scratch.stderr)
        outputs = [file for _, files in instances for file in files] or streams
        reading = read_metrics(workload, facts, outputs, instances, submitted.host.files)
        reported = None
        if submitted.live is not None:
            submitted.live.finish()
            reported = reported_values(workload, submitted.live, launch.end)
        hooks_s = self._host.hooks_s(submitted.host)
        sample = build_sample(
            launch,
            workload,
            facts,
            outputs,
            grants,
            (*submitted.evidence, *self._host.evidence(submitted.host, facts)),
            own_s,
            instances,
            active_observations(launch, workload, self._varied, self._observe),
            reading,
            hooks_s,
            reported,
            ended_by_assay=submitted.ended_by_assay,
        )
        if launch.stage is Stage.SURVEY and sample.outcome.succeeded:
            demand_figures(workload, reading)
        disturbing = self._other_processes.evidence(sample, self._hook_processes.pids)
        output = self._output_evidence(sample, submitted.plan, workload)
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, *disturbing, *output))

    def _output_evidence(self, sample: Sample, plan: Plan, workload: Workload) -> list[Evidence]:
        """Return evidence of a single process's output and of its reported errors."""
        written = [
            output for output in sample.outputs if output.stream == self._scratch.stdout.name
        ]
        if self._values is None or len(written) != 1 or sample.outcome is not Outcome.OK:
            return []  # a launch that assay ended did a part of its work only
        patterns = [*filter(None, map(_printed_pattern, workload.metrics))]
        own = printed_values(sample.launch.configuration, plan, self._values)
        errors = error_evidence(sample.outputs, ComparableForm(self._values, own=own))
        output = output_evidence(written[0], self._values, patterns, own)
        return [output] if errors is None else [output, errors]

    def _instance_outputs(self, plan: Plan) -> InstanceOutputs:
        """Return the output files of each instance, if there are several."""
        streams = (str(self._scratch.stdout), str(self._scratch.stderr))
        return [
            (number, tuple(Path(instance_stream(stream, number)) for stream in streams))
            for number, _ in plan.instances
        ]


def _printed_pattern(metric: Metric) -> str | None:
    """Return the pattern of the values of a metric that the output contains, if it has one."""
    if metric.progress is not None:
        return metric.progress.pattern if metric.progress.file is None else None
    return metric.pattern if metric.file is None else None
