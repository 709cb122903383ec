"""Studies: specification, strata and conclusion."""

from __future__ import annotations

import enum
from typing import Any

from assay.records.budget import Budget
from assay.records.calibration import Calibration
from assay.records.claim import Claim, Recommendation
from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Configuration, Value
from assay.records.cross_environment import CrossEnvironmentComparison, EarlierRecommendation
from assay.records.design import Design, FactorEffect
from assay.records.earlier_study import EarlierStudy
from assay.records.fidelity import Fidelity, FidelityResult
from assay.records.front import FrontPoint
from assay.records.kernels import KernelComparison
from assay.records.launch import Arm
from assay.records.observation import DEFAULT_OBSERVATIONS, Observation
from assay.records.progress import StoredSpread, Until
from assay.records.requirement import Requirement, RequirementResult
from assay.records.reservation import Reservation
from assay.records.shell import command_text, typed_text
from assay.records.space import Space
from assay.records.workload import Metric, Workload

DEFAULT_MARGIN = 0.01
"""Default margin of equivalence: ratios within 1 +- this value count as equal."""
DEFAULT_DISTURBED_ABOVE = 0.1
"""Default share of the CPUs that other processes may use during an undisturbed block."""
SESSION_SUFFIX = " (session)"
"""End of the command of a session; shell text quotes parentheses of a command."""


class Kind(enum.StrEnum):
    """Command of a study."""

    TUNE = "tune"
    MEASURE = "measure"
    COMPARE = "compare"
    SWEEP = "sweep"
    CALIBRATE = "calibrate"


class Status(enum.StrEnum):
    """State of a study; all but ``DONE`` can be resumed."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    """Waiting for another boot."""
    FAILED = "failed"
    DONE = "done"


class Statistic(enum.StrEnum):
    """Statistic of the objective that arms are compared by: location or spread."""

    MEAN = "mean"
    MEDIAN = "median"
    SPREAD = "spread"


class StudySpec(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Specification of a study; together with the samples it reproduces the conclusion.

    Attributes:
        kind: command of the study.
        workload: the program and its metrics.
        budget: requested or default budget.
        space: search space of ``tune``, and source of the cells of a ``sweep``.
        arms: arms of ``compare`` and ``sweep`` (baseline first), or the only arm of ``measure`` and
            ``calibrate``.
        margin: margin of equivalence of ratios.
        alpha: accepted error rate over all claims.
        precision: for ``measure`` and ``sweep``: relative half width of the interval of the mean at
            which the study, or a cell, stops.
        seed: seed of all random choices.
        null: true if the default runs twice under two names (A/A comparison).
        statistic: statistic of the objective that claims are based on.
        disturbed_above: share of the CPUs of a block, from 0 to 1; the block counts as disturbed if
            other processes use more (docs/explanation/statistics.md, rule 13). ``null``: never.
        warmup: number of warm-up launches; absent: until launches get no faster.
        pad_environment: true if the size of the environment varies between launches, so that the
            stack address is sampled instead of fixed (Mytkowicz et al., ASPLOS 2009).
        design: design of a ``sweep``.
        requirements: requirements on the result (docs/explanation/statistics.md, rule 17).
        switch_costs_s: time to change each varied setting between two launches, in seconds, if it
            is not negligible; determines the order of launches and the use of the budget.
        parallel: number of slots that the CPUs are divided into. Every launch is confined to one
            slot, and search blocks run that many launches concurrently. Absent: no slots.
        earlier_studies: for ``tune``: results of earlier studies, which guide the search; claims
            never rest on them.
        objectives: for ``tune`` with several metrics: their names, the objective of the workload
            first; empty for a single objective.
        reserve: share of a partition in which every launch runs; absent: none.
        earlier_recommendation: for a ``compare`` that confirms the recommendation of an earlier
            study: that recommendation.
        reboot_settings: settings that require a reboot, with their values when the study began,
            which hold for arms that do not set them. The study pauses for each reboot, and the
            budget excludes reboots.
        verify: for firmware settings that assay cannot read: path of a file with the value, or
            ``!`` and a command that prints it.
        requested_observations: observations of the measured launches; absent: the default ones.
        disabled_observations: default observations that are disabled in the measured launches,
            because a calibration shows an excessive cost on this machine.
        exit_conditions: for ``compare``: conditions that determine the exit status
            (``search.gate``).
        until: request to end launches as soon as their values suffice; absent: programs end by
            themselves.
        launch_spread: standard deviation between launches by a calibration of this machine with
            this program, from which the lengths of launches begin; absent without one.
        fidelity: for ``tune``: setting with cheap values, which the search begins with.
        in_process: true if the samples are trials within the user's processes.
    """

    kind: Kind
    workload: Workload
    budget: Budget
    space: Space = Space()
    arms: tuple[Arm, ...] = ()
    margin: float = DEFAULT_MARGIN
    alpha: float = 0.05
    precision: float | None = None
    seed: int = 0
    null: bool = False
    statistic: Statistic = Statistic.MEAN
    disturbed_above: float | None = DEFAULT_DISTURBED_ABOVE
    warmup: int | None = None
    pad_environment: bool = True
    design: Design | None = None
    requirements: tuple[Requirement, ...] = ()
    switch_costs_s: dict[str, float] = {}
    parallel: int | None = None
    earlier_studies: tuple[EarlierStudy, ...] = ()
    objectives: tuple[str, ...] = ()
    reserve: Reservation | None = None
    earlier_recommendation: EarlierRecommendation | None = None
    reboot_settings: dict[str, Value] = {}
    verify: dict[str, str] = {}
    requested_observations: tuple[Observation, ...] | None = None
    disabled_observations: tuple[Observation, ...] = ()
    exit_conditions: tuple[str, ...] = ()
    until: Until | None = None
    launch_spread: StoredSpread | None = None
    fidelity: Fidelity | None = None
    in_process: bool = False

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Return the observations of the measured launches, besides those that metrics need."""
        requested = (
            DEFAULT_OBSERVATIONS
            if self.requested_observations is None
            else self.requested_observations
        )
        return tuple(
            observation
            for observation in requested
            if observation not in self.disabled_observations
        )

    @property
    def targets(self) -> tuple[Metric, ...]:
        """Return the objectives: one, or several if requested."""
        if not self.objectives:
            return (self.workload.objective,)
        by_name = {metric.name: metric for metric in self.workload.metrics}
        return tuple(by_name[name] for name in self.objectives)

    @property
    def command_line(self) -> str:
        """Return the command as shell text; compared commands are joined by ``vs``."""
        commands = [
            typed_text(str(arm.configuration["command"]))
            for arm in self.arms
            if "command" in arm.configuration
        ]
        own = command_text(self.workload.argv) + (SESSION_SUFFIX if self.in_process else "")
        return " vs ".join(commands) if commands else own


class Stratum(Record, frozen=True, kw_only=True):
    """Conditions that the samples of a stratum share; ``resume`` compares them.

    Samples of different strata are never pooled.

    Attributes:
        number: number of the stratum within the study.
        program_digest: digest of the program's file, if it could be read.
        kernel: kernel release.
        cpus: CPUs that assay may use.
        default_state: settings of the system and limits that define the default, by name.
        assay_version: version of assay.
        machine: fingerprint of the machine.
        model: processor model.
        launch_environment: properties that launches inherit from the shell: variables (digests of
            their values), niceness, scheduling class.
        host: the complete machine document, for reports; not compared.
        inherited_variables: variables of the shell that configure thread pools, allocators, the C
            library or its loader, with their values; not compared.
    """

    number: int
    program_digest: str | None
    kernel: str
    cpus: tuple[int, ...]
    default_state: dict[str, str]
    launch_environment: dict[str, str] = {}
    assay_version: str
    machine: str
    model: str = ""
    host: dict[str, Any] = {}
    inherited_variables: dict[str, str] = {}


class Summary(Record, frozen=True, kw_only=True):
    """Summary of a metric over the samples of one arm, in its unit; no value is excluded by size.

    Attributes:
        n: number of values.
        min: minimum, in the unit of the metric.
        q1: first quartile, in the unit of the metric, by definition 7 of Hyndman and Fan.
        median: median, in the unit of the metric.
        q3: third quartile, in the unit of the metric, by definition 7 of Hyndman and Fan.
        max: maximum, in the unit of the metric.
        mean: arithmetic mean, in the unit of the metric.
        sd: standard deviation with n - 1, in the unit of the metric; absent for one value.
        sem: standard error of the mean, sd / sqrt(n); absent for one value.
        ci: interval of the mean, valid at every interim analysis; absent below about four values.
    """

    n: int
    min: float
    q1: float
    median: float
    q3: float
    max: float
    mean: float
    sd: float | None = None
    sem: float | None = None
    ci: tuple[float, float] | None = None


class Modes(Record, frozen=True, kw_only=True):
    """Bimodal distribution of the launches of an arm, by the objective.

    Attributes:
        low: mean of the lower mode, in the unit of the objective.
        high: mean of the upper mode, in the unit of the objective.
        upper_mode_share: share of the launches in the upper mode, from 0 to 1.
        explained_by: kind of evidence that is correlated with the modes, if any.
        low_evidence: median of that evidence in the lower mode.
        high_evidence: median of that evidence in the upper mode.
    """

    low: float
    high: float
    upper_mode_share: float
    explained_by: str | None = None
    low_evidence: float | None = None
    high_evidence: float | None = None


class ArmResult(Record, frozen=True, kw_only=True):
    """Results of one arm.

    Attributes:
        name: name of the arm.
        configuration: settings of the arm.
        summary: statistics of each metric, by name.
        failures: number of failed samples, which have no value.
        timeouts: number of samples that a time-out ended, which have no value.
        disturbed_launches: number of launches in ``summary`` from disturbed blocks; 0 if there were
            enough undisturbed ones to exclude them.
        modes: the two groups that the launches fall into, if there are two.
    """

    name: str
    configuration: Configuration
    summary: dict[str, Summary]
    failures: int = 0
    timeouts: int = 0
    disturbed_launches: int = 0
    modes: Modes | None = None


class Interference(Record, frozen=True, kw_only=True):
    """Interference of concurrent launches, measured with copies of the default.

    Attributes:
        concurrent_launches: number of concurrent launches.
        blocks: number of pairs.
        ratio: objective of a concurrent launch over that of an exclusive one; absent without pairs.
        ci: 95 % interval of the ratio from a single analysis; ``null`` for an open end.
        exclusive_sd_log: standard deviation of the logarithm of exclusive launches.
        concurrent_sd_log: standard deviation of the logarithm of concurrent launches.
        noise_ratio: ``concurrent_sd_log`` over ``exclusive_sd_log``.
        sequential_reason: reason why the search ran launches one at a time; absent if it ran them
            concurrently.
    """

    concurrent_launches: int
    blocks: int
    ratio: float | None = None
    ci: tuple[float | None, float | None] = (None, None)
    exclusive_sd_log: float | None = None
    concurrent_sd_log: float | None = None
    noise_ratio: float | None = None
    sequential_reason: str | None = None


class SwitchingCost(Record, frozen=True, kw_only=True):
    """Cost of changes of hard-to-change settings.

    Attributes:
        settings: names of the settings, most expensive first.
        changes: number of changes.
        time_s: total time of the changes, in seconds.
        boot_count: number of boots of the study, if it varies boot settings.
    """

    settings: tuple[str, ...]
    changes: int
    time_s: float
    boot_count: int = 0


class DisturbanceSource(Record, frozen=True, kw_only=True):
    """Process, or the hypervisor, that used the CPUs during disturbed blocks.

    Attributes:
        name: name of the process.
        cpus: average number of CPUs that it used while it was sampled.
    """

    name: str
    cpus: float


class Conclusion(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Conclusion of a study, computed from its specification and samples alone.

    Attributes:
        kind: command of the study.
        metric: the first objective.
        arms: results of the arms, baseline first; for ``tune`` those of the confirmation.
        claims: one claim for each arm but the first, in the first objective; for ``tune`` the claim
            on the recommendation first.
        steps: claims on arms against the arms that they are a step from, other than the first.
        pareto_front: for several objectives: confirmed points that are better than the default in
            at least one objective and not dominated; best in the first objective first.
        excluded_points: confirmed points that are not part of the front.
        effects: for a factorial ``sweep``: effects of its factors.
        requirements: results of each requirement in each arm.
        recommendation: for ``tune``: the recommended configuration.
        noise_floor: the claim on two identical arms, if the study ran them.
        calibration: for ``calibrate``: properties of the machine.
        launches: number of launches.
        configurations: number of distinct configurations.
        blocks: number of blocks of the stage that claims rest on.
        disturbed_blocks: number of disturbed blocks among ``blocks``.
        disturbers: processes that used the CPUs during disturbed blocks, as far as known, most
            active first.
        stop_reason: reason why the study ended, in one sentence.
        stop_code: the same as a single word; empty if interrupted. The reason depends on the clock:
            these two fields alone do not follow from the samples.
        notes: limitations of the answer.
        switching: cost of hard-to-change settings, if the study varied any.
        interference: interference of concurrent launches, if they were requested.
        kernels: differences of the kernels, if there were several.
        warm_start: contribution of earlier studies to the search, in one sentence; empty without
            them.
        cross_environment: comparison with the earlier study that this one confirms.
        fidelity: for a search that began at low fidelity: how well that predicted the order of the
            configurations.
    """

    kind: Kind
    metric: str
    arms: tuple[ArmResult, ...] = ()
    claims: tuple[Claim, ...] = ()
    steps: tuple[Claim, ...] = ()
    effects: tuple[FactorEffect, ...] = ()
    requirements: tuple[RequirementResult, ...] = ()
    recommendation: Recommendation | None = None
    pareto_front: tuple[FrontPoint, ...] = ()
    excluded_points: tuple[FrontPoint, ...] = ()
    noise_floor: Claim | None = None
    calibration: Calibration | None = None
    launches: int = 0
    configurations: int = 0
    blocks: int = 0
    disturbed_blocks: int = 0
    disturbers: tuple[DisturbanceSource, ...] = ()
    stop_reason: str = ""
    stop_code: str = ""
    notes: tuple[str, ...] = ()
    switching: SwitchingCost | None = None
    interference: Interference | None = None
    kernels: KernelComparison | None = None
    warm_start: str = ""
    cross_environment: CrossEnvironmentComparison | None = None
    fidelity: FidelityResult | None = None

    @property
    def every_claim(self) -> tuple[Claim, ...]:
        """Return the claims in all objectives; ``claims`` if there is one objective."""
        points = (*self.pareto_front, *self.excluded_points)
        return tuple(claim for point in points for claim in point.claims) or self.claims
