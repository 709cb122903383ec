"""Side: one of the two conditions of a comparison, measured by assay or published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.machine.document import Machine
from assay.records import Metric, Stratum, Workload
from assay.records.comparison import Condition
from assay.stats.occasions import OccasionMean, occasion_mean, published_mean


@dataclass(frozen=True)
class MeasuredCondition:
    """A condition whose launches are known.

    Attributes:
        condition: as the result shows it.
        values: of the metric, one for each launch or application, positive.
        metric: the figure that is compared.
        workload: the program and its words, with the command of the arm.
        stratum: conditions of the launches.
        machine: the host; ``None`` where its document is missing.
        program: digest of the program; ``None`` where the study has one of several programs.
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
        """The boot in which the study began; ``None`` where it is not known."""
        return self.machine.boot.id if self.machine is not None else None

    def mean(self, *, arithmetic: bool = False) -> OccasionMean:
        """Return the mean of the logarithms, or the logarithm of the arithmetic mean."""
        if not arithmetic:
            return occasion_mean(self.values)
        error = self.condition.sd / self.condition.n**0.5
        return published_mean(self.condition.mean, error, self.condition.n - 1)


@dataclass(frozen=True)
class PublishedCondition:
    """A condition of which only number, mean and spread are known.

    Attributes:
        condition: as the result shows it.
        error: standard error of the mean, in the unit of the metric.
        unit: of the figure; empty where it is not stated.
        workload: name of the workload in the table; empty where it is not stated.
        columns: the other columns of the table that name the row.
        notes: limits of the summary.
    """

    condition: Condition
    error: float
    unit: str = ""
    workload: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def mean(self, *, arithmetic: bool = True) -> OccasionMean:
        """Return the logarithm of the arithmetic mean, the only one that is known."""
        del arithmetic
        return published_mean(self.condition.mean, self.error, self.condition.n - 1)


Side = MeasuredCondition | PublishedCondition
