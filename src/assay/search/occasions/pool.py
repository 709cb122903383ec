"""Occasion pool: the variance between occasions, from earlier studies of the same workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.records import Arm, Kind, Sample, Stratum, StudySpec
from assay.records.comparison import ConditionSource, Occasions
from assay.records.configuration import DEFAULT
from assay.search.history.history import DEFAULT_ARM, arm_of
from assay.search.occasions.measured import (
    measured_condition,
    metric_differences,
    settings_under,
    workload_differences,
    workload_under,
)
from assay.search.occasions.side import MeasuredCondition
from assay.stats.occasions import BetweenOccasions, between_occasions

MIN_OCCASIONS = 5
"""Smallest number of occasions of one condition, without the two compared ones. With fewer, the
error rate of Student's interval exceeds 5 % for occasions that are not normally distributed
(docs/explanation/statistics.md)."""
MIN_INTERVAL_S = 12 * 3600.0
"""Smallest time between two occasions: launches of one afternoon share their occasion."""
MIN_LAUNCHES = 6
"""Smallest number of launches of an occasion."""


@dataclass(frozen=True)
class OccasionCandidate:
    """Stratum of a study that may be an occasion.

    Attributes:
        study: identity of the study.
        spec: specification of the study.
        stratum: the stratum.
        samples: function that reads the samples of the stratum.
        named: whether the user named the study for this purpose.
    """

    study: str
    spec: StudySpec
    stratum: Stratum
    samples: Callable[[], Iterable[Sample]]
    named: bool = False


@dataclass(frozen=True)
class OccasionPool:
    """Variance between occasions of one side, from earlier studies.

    Attributes:
        occasions, between: the variance; both ``None`` if unknown.
        found: number of known occasions, of ``MIN_OCCASIONS``.
        one_boot: whether there would be enough, if they were of more boots.
        used: studies that are an occasion of their own.
        of_other_machines, of_other_commands: calibrations without use.
    """

    occasions: Occasions | None
    between: BetweenOccasions | None
    found: int
    one_boot: bool
    used: frozenset[str] = frozenset()
    of_other_machines: tuple[str, ...] = ()
    of_other_commands: tuple[str, ...] = ()


def pool_of(
    side: MeasuredCondition,
    excluded: Iterable[tuple[str | None, int | None]],
    prospects: Sequence[OccasionCandidate],
    *,
    boots: bool,
) -> OccasionPool:
    """Estimate the variance between occasions of the workload, settings and machine of one side.

    Occasions of one condition share kernel, program and state of the system; the variance is pooled
    over the conditions of one machine.

    Args:
        side: one of the two compared conditions.
        excluded: study and stratum of the two; neither is evidence on the other.
        prospects: strata of studies, in any order.
        boots: whether occasions must be of different boots, as the compared conditions are.
    """
    compared = set(excluded)
    fitting: list[MeasuredCondition] = []
    other_machines: list[str] = []
    other_commands: list[str] = []
    for prospect in prospects:
        if (prospect.study, prospect.stratum.number) in compared:
            continue
        runs_same = _runs_the_same(prospect, side)
        if prospect.stratum.machine != side.condition.machine:
            if runs_same and prospect.spec.kind is Kind.CALIBRATE:
                other_machines.append(prospect.study)
        elif not runs_same:
            if prospect.spec.kind is Kind.CALIBRATE:
                other_commands.append(prospect.study)
        elif (found := _occasion(prospect, side)) is not None:
            fitting.append(found)
    by_time = _groups(fitting, boots=False)
    groups = _groups(fitting, boots=True) if boots else by_time
    between = between_occasions([[measured.mean() for measured in group] for group in groups])
    enough = between is not None and between.df >= MIN_OCCASIONS - 1
    return OccasionPool(
        occasions=_record(side, groups, between) if enough and between else None,
        between=between if enough else None,
        found=_count(groups),
        one_boot=not enough and _count(by_time) >= MIN_OCCASIONS,
        used=frozenset(measured.condition.study or "" for group in groups for measured in group),
        of_other_machines=tuple(dict.fromkeys(other_machines)),
        of_other_commands=tuple(dict.fromkeys(other_commands)),
    )


def _runs_the_same(candidate: OccasionCandidate, side: MeasuredCondition) -> bool:
    """Return whether any arm of a study runs the workload of a side."""
    arms = candidate.spec.arms or (DEFAULT_ARM,)
    return any(
        not workload_differences(workload_under(candidate.spec, arm), side.workload) for arm in arms
    )


def _occasion(candidate: OccasionCandidate, side: MeasuredCondition) -> MeasuredCondition | None:
    """Return the launches of a study under the settings of a side; ``None`` for too few."""
    arm = _arm_like(candidate.spec, side)
    if arm is None:
        return None
    calibrates = candidate.spec.kind is Kind.CALIBRATE  # both of its arms count
    try:
        found = measured_condition(
            candidate.study,
            ConditionSource.STUDY,
            candidate.study,
            candidate.spec,
            candidate.stratum,
            candidate.samples(),
            arm=None if calibrates else arm.name,
            metric=side.metric.name,
        )
    except InvalidInputError:
        return None
    if metric_differences(found.metric, side.metric) or found.condition.started_at is None:
        return None
    return found if found.condition.n >= MIN_LAUNCHES else None


def _arm_like(spec: StudySpec, side: MeasuredCondition) -> Arm | None:
    """Return the arm of a study that has the workload and the settings of a side."""
    settings = side.condition.settings or DEFAULT
    for arm in spec.arms or (DEFAULT_ARM if not settings else arm_of(settings),):
        same = settings_under(spec, arm) == settings
        if same and not workload_differences(workload_under(spec, arm), side.workload):
            return arm
    return None


def _groups(
    occasions: Sequence[MeasuredCondition], *, boots: bool
) -> list[list[MeasuredCondition]]:
    """Return occasions by condition, oldest first, at a smallest interval."""
    groups: dict[tuple[object, ...], list[MeasuredCondition]] = {}
    for occasion in sorted(occasions, key=_start_s):
        state = tuple(sorted(occasion.stratum.default_state.items()))
        group = groups.setdefault((occasion.stratum.kernel, occasion.program, state), [])
        near = bool(group) and _start_s(occasion) - _start_s(group[-1]) < MIN_INTERVAL_S
        again = boots and (
            occasion.boot is None or any(occasion.boot == other.boot for other in group)
        )
        if not near and not again:
            group.append(occasion)
    return list(groups.values())


def _start_s(occasion: MeasuredCondition) -> float:
    return occasion.condition.started_at or 0.0


def _count(groups: Sequence[Sequence[MeasuredCondition]]) -> int:
    """Return the equivalent number of occasions of one condition: df + 1."""
    df = sum(len(group) - 1 for group in groups)
    return df + 1 if groups else 0


def _record(
    side: MeasuredCondition,
    groups: Sequence[Sequence[MeasuredCondition]],
    between: BetweenOccasions,
) -> Occasions:
    used = sorted(
        (measured for group in groups if len(group) > 1 for measured in group), key=_start_s
    )
    return Occasions(
        machine=side.stratum.machine,
        studies=tuple(measured.condition.study or "" for measured in used),
        df=between.df,
        sd_log=math.sqrt(between.variance),
        span_s=_start_s(used[-1]) - _start_s(used[0]),
    )
