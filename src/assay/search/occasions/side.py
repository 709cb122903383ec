"""Sides of a comparison: conditions that assay measured, or that were published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.machine.document import Machine
from assay.records import Metric, Stratum, Workload
from assay.records.comparison import Condition
from assay.stats.occasions import OccasionMean, occasion_mean, published_mean


@dataclass(frozen=True)
class MeasuredCondition:
    """Condition with known launches.

    Attributes:
        condition: the condition as in the result.
        values: values of the metric, one per launch or application, positive.
        metric: compared metric.
        workload: program and arguments, with the command of the arm.
        stratum: conditions of the launches.
        machine: the host; ``None`` if its document is missing.
        program: digest of the program; ``None`` for a study with several programs.
        notes: limits of these values.
    """

    condition: Condition
    values: tuple[float, ...]
    metric: Metric
    workload: Workload
    stratum: Stratum
    machine: Machine | None
    program: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def boot(self) -> str | None:
        """Boot in which the study began; ``None`` if unknown."""
        return self.machine.boot.id if self.machine is not None else None

    def mean(self, *, arithmetic: bool = False) -> OccasionMean:
        """Return the mean of the logarithms, or the logarithm of the arithmetic mean."""
        if not arithmetic:
            return occasion_mean(self.values)
        error = self.condition.sd / self.condition.n**0.5
        return published_mean(self.condition.mean, error, self.condition.n - 1)


@dataclass(frozen=True)
class PublishedCondition:
    """Condition whose number of launches, mean and spread alone are known.

    Attributes:
        condition: the condition as in the result.
        error: standard error of the mean, in the unit of the metric.
        unit: unit of the figure; empty if not stated.
        workload: name of the workload in the table; empty if not stated.
        columns: other columns of the table that name the row.
        notes: limits of the summary.
    """

    condition: Condition
    error: float
    unit: str = ""
    workload: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def mean(self, *, arithmetic: bool = True) -> OccasionMean:
        """Return the logarithm of the arithmetic mean, the only known one."""
        del arithmetic
        return published_mean(self.condition.mean, self.error, self.condition.n - 1)


Side = MeasuredCondition | PublishedCondition
