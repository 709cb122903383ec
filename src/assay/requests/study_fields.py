"""Fields that the requests of several studies share, as keyword arguments of these requests."""

from __future__ import annotations

from typing import TypedDict

from assay.records import Budget, Observation, Requirement, Reservation, Statistic, Until
from assay.requests.study import BootRequest
from assay.requests.workload import WorkloadRequest


class StudyFields(TypedDict):
    """Fields of ``StudyRequest``."""

    workload: WorkloadRequest
    budget: Budget
    seed: int
    disturbed_above: float | None
    observe: tuple[Observation, ...] | None
    require: tuple[Requirement, ...]
    reserve: Reservation | None
    boot: BootRequest
    until: Until | None


class DecisionFields(TypedDict):
    """Fields that ``DecisionRequest`` adds to ``StudyRequest``."""

    statistic: Statistic
    margin: float | None
    null: bool
