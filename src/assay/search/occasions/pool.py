"""Occasion pool: the variance between occasions, from earlier studies of the same workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.errors import InvalidInputError
from assay.machine.document import machine_in
from assay.records import Arm, Kind, Sample, Stratum, StudySpec
from assay.records.comparison import ConditionSource, Occasions
from assay.records.configuration import DEFAULT
from assay.search.history.history import DEFAULT_ARM, arm_of
from assay.search.occasions.measured import (
    measured_condition,
    metric_differences,
    program_of,
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
        began: earliest and latest time at which the first launch may have begun, in seconds since
            1970 (UTC); ``None`` if only the samples state it.
        max_launches: largest number of launches of the stratum; ``None`` if unknown.
    """

    study: str
    spec: StudySpec
    stratum: Stratum
    samples: Callable[[], Iterable[Sample]]
    named: bool = False
    began: tuple[float, float] | None = None
    max_launches: int | None = None


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
    fitting: list[_Prospect] = []
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
        elif (arm := _arm_like(prospect.spec, side)) is not None:
            fitting.append(_Prospect(prospect, side, arm))
    groups = _groups(fitting, boots=boots)
    between = between_occasions([[measured.mean() for measured in group] for group in groups])
    enough = between is not None and between.df >= MIN_OCCASIONS - 1
    return OccasionPool(
        occasions=_record(side, groups, between) if enough and between else None,
        between=between if enough else None,
        found=_count(groups),
        one_boot=boots and not enough and _count(_groups(fitting, boots=False)) >= MIN_OCCASIONS,
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


class _Prospect:
    """Stratum with the workload, settings and machine of a side; its samples are read if needed.

    Args:
        candidate: the stratum.
        side: one of the two compared conditions.
        arm: arm with the settings of the side.
    """

    def __init__(self, candidate: OccasionCandidate, side: MeasuredCondition, arm: Arm) -> None:
        self._candidate = candidate
        self._side = side
        self._arm = arm

    @cached_property
    def occasion(self) -> MeasuredCondition | None:
        """Return the launches; ``None`` if they are too few or not comparable."""
        most = self._candidate.max_launches
        if most is not None and most < MIN_LAUNCHES:
            return None
        return _occasion(self._candidate, self._side, self._arm)

    @cached_property
    def boot(self) -> str | None:
        """Return the boot in which the study began; ``None`` if unknown."""
        machine = machine_in(self._candidate.stratum.host)
        return machine.boot.id if machine is not None else None

    @property
    def state(self) -> tuple[object, ...]:
        """Return the kernel, the program and the state of the system."""
        stratum = self._candidate.stratum
        state = tuple(sorted(stratum.default_state.items()))
        return (stratum.kernel, program_of(self._candidate.spec, stratum), state)

    @property
    def began(self) -> tuple[float, float]:
        """Return the earliest and the latest time at which the first launch may have begun."""
        if self._candidate.began is not None:
            return self._candidate.began
        start_s = _start_s(self.occasion) if self.occasion is not None else 0.0
        return (start_s, start_s)


def _occasion(
    candidate: OccasionCandidate, side: MeasuredCondition, arm: Arm
) -> MeasuredCondition | None:
    """Return the launches of a study under the settings of a side; ``None`` for too few."""
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


def _groups(prospects: Sequence[_Prospect], *, boots: bool) -> list[list[MeasuredCondition]]:
    """Return occasions by condition, oldest first, at a smallest interval.

    Samples are read only of studies that may be the next occasion of their condition.
    """
    groups: dict[tuple[object, ...], list[MeasuredCondition]] = {}
    known_boots: set[tuple[object, ...]] = set()
    for prospect in sorted(prospects, key=lambda one: one.began[0]):
        state = prospect.state
        group = groups.setdefault(state, [])
        if group and prospect.began[1] - _start_s(group[-1]) < MIN_INTERVAL_S:
            continue
        boot = (*state, prospect.boot) if boots else ()
        if boots and (prospect.boot is None or boot in known_boots):
            continue
        occasion = prospect.occasion
        if occasion is None or (
            group and _start_s(occasion) - _start_s(group[-1]) < MIN_INTERVAL_S
        ):
            continue
        group.append(occasion)
        known_boots.add(boot)
    return [group for group in groups.values() if group]


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
