"""Types of the documents that verbs print with ``--json``.

The verbs build these documents as plain dictionaries (assay.cli.show.documents). The types here
state their shape: the JSON Schemas of ``assay schema`` and the tables of the documentation are
generated from them, and tests validate real output against them.
"""

from __future__ import annotations

from typing import Literal

from assay.machine.checks import Right
from assay.machine.checks import Status as CheckStatus
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.records import (
    Claim,
    Conclusion,
    ExpectedEffect,
    Kind,
    Modes,
    RecommendationStatus,
    Sample,
    Status,
    Stratum,
    StudySpec,
    Summary,
)
from assay.records.boot import BootChange
from assay.records.budget import Budget
from assay.records.calibration import Calibration
from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Value
from assay.records.cross_environment import CrossEnvironmentComparison
from assay.records.design import FactorEffect
from assay.records.fidelity import FidelityResult
from assay.records.front import FrontExclusion
from assay.records.kernels import KernelComparison
from assay.records.requirement import RequirementResult
from assay.records.study import DisturbanceSource, Interference, SwitchingCost


class Calibrated(Record, frozen=True, kw_only=True):
    """Origin of a noise floor that an earlier calibration measured.

    Attributes:
        study: identifier of the calibration.
        date: day of the calibration, in UTC.
        command: workload of the calibration.
    """

    study: str
    date: str
    command: str


class NoiseFloorAnswer(Record, frozen=True, kw_only=True):
    """Interval of the ratio between two identical arms.

    Attributes:
        ratio_ci: lower and upper end of the interval; null for an open end.
        calibrated: origin, if an earlier calibration measured the noise floor.
    """

    ratio_ci: tuple[float | None, float | None]
    calibrated: Calibrated | None = None


class StudySample(Sample, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """One launch of a study.

    Attributes:
        stratum: number of the stratum; absent where all samples belong to one.
        excluded: true if the block of the launch is excluded from all statistics.
        disturbed: true if other processes used the machine during the block of the launch.
    """

    stratum: int | None = None
    excluded: bool
    disturbed: bool


class StudyAnswer(Record, frozen=True, kw_only=True):
    """Keys that the answers of all measuring verbs share.

    Attributes:
        schema: version of the document.
        study: identifier of the study.
        blocks: number of blocks that the answer rests on.
        disturbed_blocks: number of these blocks that other processes disturbed.
        notes: sentences that qualify the answer.
        requirements: result of each requirement in each arm.
        disturbers: processes that used the CPUs during disturbed blocks, the busiest first.
        noise_floor: interval of the ratio between two identical arms.
        cross_environment: the study that this one confirms.
        interference: effect of launches that run side by side.
        switching: cost of settings that are expensive to change.
        kernels: differences between the kernels that the study ran under.
    """

    schema: Literal[2]
    study: str
    blocks: int
    disturbed_blocks: int
    notes: tuple[str, ...]
    requirements: tuple[RequirementResult, ...] = ()
    disturbers: tuple[DisturbanceSource, ...] = ()
    noise_floor: NoiseFloorAnswer | None = None
    cross_environment: CrossEnvironmentComparison | None = None
    interference: Interference | None = None
    switching: SwitchingCost | None = None
    kernels: KernelComparison | None = None


class MeasureAnswer(StudyAnswer, frozen=True, kw_only=True):
    """Answer of ``assay measure``.

    Attributes:
        summary: statistics of each metric, by name.
        samples: every launch.
        disturbed_launches: number of launches in the summary that belong to disturbed blocks.
        modes: the two groups that the launches fall into.
    """

    summary: dict[str, Summary]
    samples: tuple[StudySample, ...]
    disturbed_launches: int = 0
    modes: Modes | None = None


class ArmAnswer(Record, frozen=True, kw_only=True):
    """One arm of a comparison.

    Attributes:
        name: name of the arm.
        summary: statistics of each metric, by name.
        disturbed_launches: number of launches in the summary that belong to disturbed blocks.
        modes: the two groups that the launches fall into.
    """

    name: str
    summary: dict[str, Summary]
    disturbed_launches: int = 0
    modes: Modes | None = None


class CompareAnswer(StudyAnswer, frozen=True, kw_only=True):
    """Answer of ``assay compare`` and ``assay study confirm``.

    Attributes:
        metric: objective that decides.
        arms: all arms, the baseline first.
        claims: one claim for each arm, against the baseline.
        steps: claims between an arm and the arm that it is derived from.
        launches: number of launches.
        stop_reason: reason for the end of the study, in one sentence.
    """

    metric: str
    arms: tuple[ArmAnswer, ...]
    claims: tuple[Claim, ...]
    steps: tuple[Claim, ...] = ()
    launches: int
    stop_reason: str


class CalibrateAnswer(StudyAnswer, frozen=True, kw_only=True):
    """Answer of ``assay study calibrate``.

    Attributes:
        metric: objective of the calibration.
        arms: the same configuration under two names.
        launches: number of launches.
        stop_reason: reason for the end of the study, in one sentence.
        calibration: noise of this machine, and the gains that can be shown on it.
    """

    metric: str
    arms: tuple[ArmAnswer, ...]
    launches: int
    stop_reason: str
    calibration: Calibration | None = None


class Cell(Record, frozen=True, kw_only=True):
    """Name and settings of one cell of a sweep.

    Attributes:
        name: name of the cell.
        settings: values by setting.
    """

    name: str
    settings: dict[str, Value]


class CellAnswer(Cell, frozen=True, kw_only=True):
    """One cell of a sweep with its results.

    Attributes:
        summary: statistics of each metric, by name.
        failures: number of launches that failed.
        timeouts: number of launches that timed out.
        disturbed_launches: number of launches in the summary that belong to disturbed blocks.
    """

    summary: dict[str, Summary]
    failures: int
    timeouts: int
    disturbed_launches: int = 0


class SweepAnswer(StudyAnswer, frozen=True, kw_only=True):
    """Answer of ``assay sweep``.

    Attributes:
        metric: objective that decides.
        baseline: cell that all others are compared with.
        cells: all cells, the baseline first.
        claims: one claim for each cell, against the baseline.
        effects: effects of the factors of a factorial design.
        launches: number of launches.
        stop_reason: reason for the end of the study, in one sentence.
    """

    metric: str
    baseline: Cell
    cells: tuple[CellAnswer, ...]
    claims: tuple[Claim, ...]
    effects: tuple[FactorEffect, ...]
    launches: int
    stop_reason: str


class DefaultAnswer(Record, frozen=True, kw_only=True):
    """Results of the default configuration.

    Attributes:
        summary: statistics of each metric, by name.
        disturbed_launches: number of launches in the summary that belong to disturbed blocks.
    """

    summary: dict[str, Summary]
    disturbed_launches: int = 0


class ProofAnswer(Budget, frozen=True, kw_only=True):
    """Cost of a proof beyond the budget that was spent.

    Attributes:
        time_s: time, in seconds.
        launches: number of launches.
        command: command that continues the study with this budget.
    """

    command: str


class RecommendationAnswer(Record, frozen=True, kw_only=True):
    """The recommended configuration.

    Attributes:
        status: evidence behind the recommendation.
        settings: values by setting; empty if the default is recommended.
        sentence: the recommendation in words.
        script: shell script that runs the configuration without assay.
        claim: claim of the confirmation.
        output_difference: difference from the output of the default, if the two may not do the same
            work.
        expected: expected effect, from a model of all launches.
        proof: cost of a proof.
    """

    status: RecommendationStatus
    settings: dict[str, Value]
    sentence: str
    script: str
    claim: Claim | None = None
    output_difference: str | None = None
    expected: ExpectedEffect | None = None
    proof: ProofAnswer | None = None


class EffectShare(Record, frozen=True, kw_only=True):
    """Effect of one setting, or of several together.

    Attributes:
        settings: values by setting.
        ratio: ratio of the objective.
        ci: interval of the ratio; null for an open end.
    """

    settings: dict[str, Value]
    ratio: float
    ci: tuple[float | None, float | None]


class ExplanationAnswer(Record, frozen=True, kw_only=True):
    """Explanation of the recommendation by a model of all launches.

    Attributes:
        launches: number of launches that the model rests on.
        setting_effects: effect of each setting within the recommended configuration.
        interactions: joint effect of two settings, beyond their separate effects.
        average_effects: average effect of the other settings over the search space.
        launched_combinations: number of combinations that were launched.
        combinations: number of combinations in the search space.
        untried_ratio_bound: lower bound of the ratio that an untried combination may reach.
    """

    launches: int
    setting_effects: tuple[EffectShare, ...]
    interactions: tuple[EffectShare, ...]
    average_effects: tuple[EffectShare, ...]
    launched_combinations: int
    combinations: float | None = None
    untried_ratio_bound: float | None = None


class EarlierStudy(Record, frozen=True, kw_only=True):
    """An earlier study that guided the search.

    Attributes:
        study: identifier of the study.
        command: workload of the study.
        same_workload: true if the workload is the same.
        configurations: number of its configurations that were used.
        unused_configurations: number of its configurations that were not used.
        launches: number of its launches.
    """

    study: str
    command: str
    same_workload: bool
    configurations: int
    unused_configurations: int
    launches: int


class WarmStartAnswer(Record, frozen=True, kw_only=True):
    """Warm start of a search.

    Attributes:
        studies: earlier studies that guided the search.
        sentence: effect of the warm start, in words.
    """

    studies: tuple[EarlierStudy, ...]
    sentence: str = ""


class PointAnswer(Record, frozen=True, kw_only=True):
    """A confirmed configuration of a search by several objectives.

    Attributes:
        number: number of the point; absent off the Pareto front.
        name: name of the arm.
        settings: values by setting.
        claims: one claim for each objective, against the default.
        script: shell script that runs the configuration without assay.
        exclusion: reason why the point is not on the Pareto front.
        dominated_by: name of an arm that is shown to be better.
    """

    number: int | None = None
    name: str
    settings: dict[str, Value]
    claims: tuple[Claim, ...]
    script: str = ""
    exclusion: FrontExclusion | None = None
    dominated_by: str | None = None


class TuneAnswer(StudyAnswer, frozen=True, kw_only=True):
    """Answer of ``assay tune``.

    Attributes:
        metric: objective that decides.
        default: results of the default configuration.
        recommendation: the recommended configuration.
        launches: number of launches.
        elapsed_s: elapsed time, in seconds.
        configurations: number of configurations that were launched.
        stop_reason: reason for the end of the study, in one sentence.
        claims: claims of the confirmation, the one on the recommendation first.
        explanation: explanation of the recommendation.
        warm_start: earlier studies that guided the search.
        objectives: names of the objectives, if there are several.
        pareto_front: points of the Pareto front.
        excluded_points: confirmed points off the Pareto front.
        fidelity: launches at each fidelity of the search, and how well the lowest one predicted the
            order of the configurations.
    """

    metric: str
    default: DefaultAnswer
    recommendation: RecommendationAnswer
    launches: int
    elapsed_s: float
    configurations: int
    stop_reason: str
    claims: tuple[Claim, ...] = ()
    explanation: ExplanationAnswer | None = None
    warm_start: WarmStartAnswer | None = None
    objectives: tuple[str, ...] = ()
    pareto_front: tuple[PointAnswer, ...] = ()
    excluded_points: tuple[PointAnswer, ...] = ()
    fidelity: FidelityResult | None = None


class PausedAnswer(Record, frozen=True, kw_only=True):
    """Answer of a study that waits for another boot.

    Attributes:
        schema: version of the document.
        study: identifier of the study.
        status: always ``boot_change``.
        boot_change: change that the next boot must bring.
        resume_command: command that resumes the study.
    """

    schema: Literal[2]
    study: str
    status: Literal["paused"]
    boot_change: BootChange
    resume_command: str


class StudyLine(Record, frozen=True, kw_only=True):
    """One study of ``assay study list``.

    Attributes:
        id: identifier of the study.
        command: workload of the study.
        kind: verb of the study.
        status: state of the study.
        launches: number of launches.
        created_at: time of creation, in seconds since 1970 (UTC).
        labels: labels that the user assigned, in alphabetical order.
    """

    id: str
    command: str
    kind: Kind
    status: Status
    launches: int
    created_at: float
    labels: tuple[str, ...] = ()


class StudyListAnswer(Record, frozen=True, kw_only=True):
    """Answer of ``assay study list``.

    Attributes:
        schema: version of the document.
        studies: all studies, or the selected ones, the oldest first.
    """

    schema: Literal[2]
    studies: tuple[StudyLine, ...]


class StratumConclusion(Conclusion, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Conclusion of one stratum.

    Attributes:
        stratum: number of the stratum.
    """

    stratum: int


class StudyShowAnswer(Record, frozen=True, kw_only=True):
    """Answer of ``assay study show``.

    Attributes:
        schema: version of the document.
        study: identifier of the study.
        id: same as ``study``.
        spec: specification of the study.
        status: state of the study.
        strata: sets of samples that share the conditions of one sitting.
        conclusion: conclusion of the newest stratum.
        conclusions: conclusion of each stratum that has one.
        elapsed_s: elapsed time over all sittings, in seconds.
        launches: number of launches.
        created_at: time of creation, in seconds since 1970 (UTC).
        labels: labels that the user assigned, in alphabetical order.
        samples: every launch of every stratum.
    """

    schema: Literal[2]
    study: str
    id: str
    spec: StudySpec
    status: Status
    strata: tuple[Stratum, ...]
    conclusion: Conclusion | None = None
    conclusions: tuple[StratumConclusion, ...] = ()
    elapsed_s: float = 0.0
    launches: int = 0
    created_at: float = 0.0
    labels: tuple[str, ...] = ()
    samples: tuple[StudySample, ...] = ()


class CheckAnswer(Record, frozen=True, kw_only=True):
    """One check of a machine.

    Attributes:
        id: name of the check.
        status: result of the check.
        evidence: value that was read.
        remedy: change that makes the check pass.
        note: side effect of the remedy.
        right: permission that the remedy needs.
        setting: setting of assay with the same effect, as ``name=value``.
        reason: reason for the demand of the profile.
        source: source of the demand.
    """

    id: str
    status: CheckStatus
    evidence: str
    remedy: str | None = None
    note: str | None = None
    right: Right | None = None
    setting: str | None = None
    reason: str | None = None
    source: str | None = None


class UncheckedAnswer(Record, frozen=True, kw_only=True):
    """A check that the profile does not demand.

    Attributes:
        id: name of the check.
        evidence: value that was read.
        reason: reason why the profile demands nothing.
    """

    id: str
    evidence: str
    reason: str


class MachineCheckAnswer(Record, frozen=True, kw_only=True):
    """Answer of ``assay machine check``.

    Attributes:
        schema: version of the document.
        profile: name of the profile.
        checks: all checks that the profile demands, the worst first.
        unchecked: all other checks.
    """

    schema: Literal[2]
    profile: str
    checks: tuple[CheckAnswer, ...]
    unchecked: tuple[UncheckedAnswer, ...]


class MachineShowAnswer(Record, frozen=True, kw_only=True):
    """Answer of ``assay machine show``.

    Attributes:
        schema: version of the document.
        machine: description that a study keeps of its host.
        inventory: full inventory of the host.
    """

    schema: Literal[2]
    machine: Machine
    inventory: Inventory
