"""Reports of one trial: series of each metric, and the value of the trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import InvalidInputError, nearest
from assay.executors.progress.metric_series import MAX_VALUE
from assay.executors.progress.recorder import SeriesRecorder
from assay.executors.progress.values import MIN_REPORTS, TOO_FEW_REPORTS, steady_value
from assay.records import Metric, Series, SteadyPart
from assay.records.workload import BUILT_IN

NO_REPORT = "the trial ended without a report"


@dataclass
class TrialValues:
    """Values of a finished trial.

    Attributes:
        metrics: value of each metric.
        series: series of each metric with several reports.
        steady: steady part of each metric whose progress is described.
        failure: reason for which the objective has no value; ``None`` if it has one.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    steady: dict[str, SteadyPart] = field(default_factory=dict)
    failure: str | None = None


class TrialReports:
    """Reports of one trial.

    Args:
        names: names of the metrics; ``None`` if the trial determines them.
    """

    def __init__(self, names: Sequence[str] | None) -> None:
        self._names = names
        self._recorders: dict[str, SeriesRecorder] = {}

    def __bool__(self) -> bool:
        return bool(self._recorders)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the reported metrics, in the order of their first report."""
        return tuple(self._recorders)

    def add(self, time_s: float, values: Mapping[str, object], step: object = None) -> None:
        """Add a report; nothing is added if a part of it is invalid.

        Args:
            time_s: time since the start of the trial, in seconds.
            values: values by name of the metric.
            step: step, which increases; ``None`` counts the reports of each metric.

        Raises:
            InvalidInputError: no value, an unknown name, a value that is not a finite number, or a
                step that does not increase.
        """
        if not values:
            raise InvalidInputError(
                "The report has no value.", "Name the metric: trial.report(sps=310.2)."
            )
        for name in values:
            self._check_name(name)
        numbers = {name: _number(name, value) for name, value in values.items()}
        steps = {name: self._step(name, step) for name in numbers}
        for name, number in numbers.items():
            recorder = self._recorders.setdefault(name, SeriesRecorder())
            recorder.add(time_s, steps[name], number)

    def values(self, metrics: Sequence[Metric]) -> TrialValues:
        """Return the values of the finished trial.

        A metric whose progress is described has the value over its steady part; any other one has
        the mean of its reports.

        Args:
            metrics: metrics of the study, the objective first.
        """
        found = TrialValues()
        for metric in metrics:
            recorder = self._recorders.get(metric.name)
            if recorder is not None:
                _add(found, metric, recorder)
        objective = metrics[0].name
        if objective not in found.metrics and found.failure is None:
            found.failure = (
                f"the trial reported {', '.join(self.names)}, but not {objective}"
                if self
                else NO_REPORT
            )
        return found

    def _check_name(self, name: str) -> None:
        demand_reportable(name)
        if self._names is None or name in self._names:
            return
        near = nearest(name, tuple(self._names))
        raise InvalidInputError(
            f"The report names {name}, which is no metric of this session.",
            f"Did you mean {near}?" if near else f"Report {', '.join(self._names)}.",
        )

    def _step(self, name: str, step: object) -> float:
        recorder = self._recorders.get(name)
        last = recorder.steps[-1] if recorder is not None else None
        if step is None:
            return 1.0 if last is None else last + 1.0
        number = _number("step", step)
        if last is not None and number <= last:
            raise InvalidInputError(
                f"Step {number:g} of {name} does not follow step {last:g}.",
                "Report each step once, in ascending order.",
            )
        return number


def demand_reportable(name: str) -> None:
    """Raise an error for a name that no reported metric can have.

    Raises:
        InvalidInputError: assay measures a metric of that name itself, or it is no identifier.
    """
    if name in BUILT_IN:
        raise InvalidInputError(
            f"assay measures {name} of each trial itself.",
            f"Report the value under another name, such as own_{name}.",
        )
    if not name.isidentifier():
        raise InvalidInputError(
            f"Invalid name of a metric: {name!r}.",
            "Use letters, digits and _, without a digit at the beginning.",
        )


def _add(found: TrialValues, metric: Metric, recorder: SeriesRecorder) -> None:
    """Add the series of a metric and its value."""
    if len(recorder) > 1:
        found.series[metric.name] = recorder.series()
    if metric.progress is None:
        found.metrics[metric.name] = math.fsum(recorder.values) / len(recorder)
        return
    one = steady_value(metric, recorder)
    if one is None:
        reason = TOO_FEW_REPORTS.format(count=len(recorder), needed=MIN_REPORTS)
        found.failure = f"{metric.name}: {reason}"
        return
    found.steady[metric.name], found.metrics[metric.name] = one[0], one[1].value


def _number(name: str, value: object) -> float:
    """Return a value as a finite number.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        if isinstance(value, str | bytes | bool) or value is None:
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{name}: {repr(value)[:60]} is not a number.", "Report a finite number."
        ) from None
    if not abs(number) <= MAX_VALUE:  # true for NaN
        raise InvalidInputError(
            f"{name}: {number} is not a finite number.",
            'Report a finite number, or trial.fail("reason") if the trial has no value.',
        )
    return number
