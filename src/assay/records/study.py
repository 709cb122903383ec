"""What a study is asked, where it ran, and what it concludes."""

from __future__ import annotations

import enum
from typing import Any

from assay.records.budget import Budget
from assay.records.calibration import Calibration
from assay.records.claim import Claim, Recommendation
from assay.records.codec import Record
from assay.records.configuration import Configuration, Value
from assay.records.cross_environment import CrossEnvironmentComparison, EarlierRecommendation
from assay.records.design import Design, FactorEffect
from assay.records.earlier_study import EarlierStudy
from assay.records.front import FrontPoint
from assay.records.kernels import KernelComparison
from assay.records.launch import Arm
from assay.records.observation import DEFAULT_OBSERVATIONS, Observation
from assay.records.requirement import Requirement, RequirementResult
from assay.records.reservation import Reservation
from assay.records.shell import command_text, typed_text
from assay.records.space import Space
from assay.records.workload import Metric, Workload

DEFAULT_MARGIN = 0.01
"""Ratios within 1 +- this are the same for practical purposes, unless asked otherwise."""
DEFAULT_DISTURBED_ABOVE = 0.1
"""Share of the CPUs that others may take during a block that counts, unless asked otherwise."""


class Kind(enum.StrEnum):
    """The verb that a study answers."""

    TUNE = "tune"
    MEASURE = "measure"
    COMPARE = "compare"
    SWEEP = "sweep"
    CALIBRATE = "calibrate"


class Status(enum.StrEnum):
    """Where a study stands; all but ``DONE`` can be resumed."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    """It waits for another boot."""
    FAILED = "failed"
    DONE = "done"


class Statistic(enum.StrEnum):
    """What of the objective is compared between arms: its usual value, or how much it varies."""

    MEAN = "mean"
    MEDIAN = "median"
    SPREAD = "spread"


class StudySpec(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """Everything a study was asked for; with its samples it gives the same conclusion again.

    Attributes:
        kind: the verb.
        workload: what runs.
        space: for ``tune``, and what a ``sweep`` draws its cells from.
        arms: for ``compare`` and ``sweep`` (the first is the baseline), ``measure`` and
            ``calibrate`` (one).
        budget: as asked, or the default.
        margin: ratio differences below it count as none.
        alpha: share of wrong claims accepted.
        precision: for ``measure`` and ``sweep``: half width of the interval over the mean at which
            it, or a cell, stops.
        design: of a ``sweep``.
        seed: of every random choice.
        null: the default runs twice under two names.
        statistic: of the objective, that claims are decided by.
        disturbed_above: a block in which others took more than this share of the CPUs of its
            launches counts as disturbed (docs/explanation/statistics.md, rule 13); ``None``: none
            does.
        warmup: launches before those that count; ``None``: until they get no faster.
        pad_environment: each launch gets an environment of another size, so that the place of its
            stack is sampled and not fixed (Mytkowicz et al., ASPLOS 2009).
        require: what the result is to keep, beside being good (docs/explanation/statistics.md,
            rule 17).
        switch_costs_s: seconds that changing a setting between two launches takes, of those that
            are varied and where it takes any; the order of launches and the budget follow from it.
        parallel: into how many slots the CPUs are divided; every launch is confined to one, and as
            many launches of a search block run side by side. ``None``: no slots.
        earlier: for ``tune``: what earlier studies knew. It guides the search; no claim rests on
            it.
        pausing: settings that take a boot to change, which the study pauses for, and the value that
            each had when the study began: what an arm has that leaves them alone. The budget counts
            no boots.
        gate: for a ``compare``: what the caller's exit status hangs on (``search.gate``).
        verify: for settings of the firmware that nobody else can read: a path of a file that holds
            the value, or ``!`` and a command that prints it.
        objectives: for ``tune`` by several metrics: their names, the workload's objective first;
            empty where that alone decides.
        reserve: the share of a partition that every launch is placed in; ``None``: none.
        observe: observations of the launches that count; ``None``: the usual ones.
        unobserved: of the usual ones those that the launches that count go without, since a
            calibration shows them to cost too much on this machine.
        found: for a ``compare`` that confirms what an earlier study recommends: what that found.
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
    require: tuple[Requirement, ...] = ()
    switch_costs_s: dict[str, float] = {}
    parallel: int | None = None
    earlier: tuple[EarlierStudy, ...] = ()
    objectives: tuple[str, ...] = ()
    reserve: Reservation | None = None
    found: EarlierRecommendation | None = None
    pausing: dict[str, Value] = {}
    verify: dict[str, str] = {}
    observe: tuple[Observation, ...] | None = None
    unobserved: tuple[Observation, ...] = ()
    gate: tuple[str, ...] = ()

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The observations of the launches that count, beside those that metrics need."""
        asked = DEFAULT_OBSERVATIONS if self.observe is None else self.observe
        return tuple(one for one in asked if one not in self.unobserved)

    @property
    def targets(self) -> tuple[Metric, ...]:
        """The metrics that decide: one, unless several objectives were asked for."""
        if not self.objectives:
            return (self.workload.objective,)
        by_name = {metric.name: metric for metric in self.workload.metrics}
        return tuple(by_name[name] for name in self.objectives)

    @property
    def command_line(self) -> str:
        """The command as a shell would read it; arms that are commands, side by side."""
        configurations = [arm.configuration for arm in self.arms]
        commands = [typed_text(str(one["command"])) for one in configurations if "command" in one]
        return " vs ".join(commands) if commands else command_text(self.workload.argv)


class Stratum(Record, frozen=True, kw_only=True):
    """The conditions that samples of one sitting share; resume compares them.

    Samples of different strata are never pooled. ``surroundings`` are what launches inherit from
    the shell: variables (digests of their values), niceness, scheduling class. ``host`` is the
    whole machine document, kept for reports and not compared, as is ``inherited``: variables of
    the shell that set thread pools, allocators, the C library or its loader, with their values.
    """

    number: int
    program_digest: str | None
    kernel: str
    cpus: tuple[int, ...]
    default_state: dict[str, str]
    surroundings: dict[str, str] = {}
    engine: str
    machine: str
    model: str = ""
    host: dict[str, Any] = {}
    inherited: dict[str, str] = {}


class Summary(Record, frozen=True, kw_only=True):
    """A metric over the samples of one arm, in its unit. Nothing is ever dropped by value.

    Attributes:
        n: how many.
        min, q1, median, q3, max: five numbers; quartiles by definition 7 of Hyndman and Fan.
        mean: arithmetic mean.
        sd: standard deviation with n - 1; absent for one value.
        sem: sd / sqrt(n); absent for one value.
        ci: interval of the mean, valid at every look; absent while the values bound nothing
            (fewer than about four).
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
    """Two groups that the launches of an arm fall into, by the objective.

    Attributes:
        low, high: mean of each group, in the unit of the objective.
        high_share: share of the launches in the upper one.
        explained_by: kind of evidence that goes along with the groups, where one does.
        low_evidence, high_evidence: its median in each group.
    """

    low: float
    high: float
    high_share: float
    explained_by: str | None = None
    low_evidence: float | None = None
    high_evidence: float | None = None


class ArmResult(Record, frozen=True, kw_only=True):
    """What was seen of one arm; ``failures`` and ``timeouts`` count samples without a value.

    ``disturbed`` counts the launches among those of the summary that stood in disturbed blocks: 0
    where enough others were there to leave them out.
    """

    name: str
    configuration: Configuration
    summary: dict[str, Summary]
    failures: int = 0
    timeouts: int = 0
    disturbed: int = 0
    modes: Modes | None = None


class Interference(Record, frozen=True, kw_only=True):
    """What launches side by side do to each other: the default beside copies of itself.

    Attributes:
        slots: launches side by side.
        blocks: pairs that it rests on.
        ratio: of the objective, beside over alone; absent without pairs.
        ci: its 95 % interval, which is looked at once; ``None`` for an open end.
        noise_alone, noise_beside: standard deviation of the logarithm of single launches.
        noise_ratio: the second over the first.
        refused: why the search ran one launch at a time all the same; absent where it did not.
    """

    slots: int
    blocks: int
    ratio: float | None = None
    ci: tuple[float | None, float | None] = (None, None)
    noise_alone: float | None = None
    noise_beside: float | None = None
    noise_ratio: float | None = None
    refused: str | None = None


class SwitchingCost(Record, frozen=True, kw_only=True):
    """What was spent on changing settings that are costly to change.

    Attributes:
        settings: their names, the costliest first.
        applications: how often some of them were applied.
        time_s: what that took in all.
        boots: in how many boots the study ran, where settings of the boot are among them.
    """

    settings: tuple[str, ...]
    applications: int
    time_s: float
    boots: int = 0


class DisturbanceSource(Record, frozen=True, kw_only=True):
    """A process that used the CPUs during disturbed blocks, or the hypervisor.

    Attributes:
        name: in words.
        cpus: CPUs that it used on average while it was looked at.
    """

    name: str
    cpus: float


class Conclusion(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """The verdict document of a study; computed from its spec and samples alone.

    Attributes:
        arms: the baseline first; for ``tune`` those of the confirmation, over its blocks alone.
        claims: one for each arm but the first, in the first objective; for ``tune`` first the one
            on what is recommended, or would be.
        steps: claims on arms against those that they are a step from, where that is not the first.
        front: for several objectives: the confirmed points that are shown to be better than the
            default in one of them and that none is shown to dominate; best in the first first.
        off_front: what was confirmed beside them, and is no part of the front.
        effects: for a factorial ``sweep``: of its factors.
        requirements: what was seen of each requirement in each arm.
        noise_floor: the claim on two identical arms, where the study ran them.
        calibration: for ``calibrate``: what the launches tell of the machine.
        launches, configurations: how many were made, and tried.
        blocks, disturbed_blocks: of the stage that claims rest on, and how many of them others
            disturbed.
        disturbers: who used the CPUs during disturbed blocks as far as that is known, most first.
        stopped: why the study ended, in one sentence.
        reason: the same in one word; empty where it was interrupted. Why a study ends depends on
            the clock: these two alone do not follow from the samples.
        notes: what weakens the answer.
        switching: what was spent on settings that are costly to change, where the study varied any.
        interference: of launches side by side, where those were asked for.
        kernels: the differences of the kernels that it ran under, where there were several.
        warm_start: what earlier studies did for the search, in one sentence; empty without them.
        elsewhere: for a comparison that confirms an earlier study: that one beside it.
    """

    kind: Kind
    metric: str
    arms: tuple[ArmResult, ...] = ()
    claims: tuple[Claim, ...] = ()
    steps: tuple[Claim, ...] = ()
    effects: tuple[FactorEffect, ...] = ()
    requirements: tuple[RequirementResult, ...] = ()
    recommendation: Recommendation | None = None
    front: tuple[FrontPoint, ...] = ()
    off_front: tuple[FrontPoint, ...] = ()
    noise_floor: Claim | None = None
    calibration: Calibration | None = None
    launches: int = 0
    configurations: int = 0
    blocks: int = 0
    disturbed_blocks: int = 0
    disturbers: tuple[DisturbanceSource, ...] = ()
    stopped: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    switching: SwitchingCost | None = None
    interference: Interference | None = None
    kernels: KernelComparison | None = None
    warm_start: str = ""
    elsewhere: CrossEnvironmentComparison | None = None

    @property
    def every_claim(self) -> tuple[Claim, ...]:
        """The claims in all objectives; where there is one, ``claims``."""
        points = (*self.front, *self.off_front)
        return tuple(claim for point in points for claim in point.claims) or self.claims
