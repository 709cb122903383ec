"""Metrics of a launch, from the launcher's record and from the program's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.figures import Figure, read_figure, unit_of_pattern
from assay.executors.metrics.match_statistic import demand_statistic
from assay.executors.metrics.matching import checked_pattern
from assay.executors.metrics.metric_files import WrittenPart
from assay.records import Metric, RunFacts
from assay.records.workload import BUILT_IN, PERF_METRICS

SUMS = {
    "context_switches": ("voluntary_switches", "involuntary_switches"),
    "page_faults": ("minor_faults", "major_faults"),
}
"""Metrics that are sums of kernel counters of the process tree; they need no perf event."""


@dataclass(frozen=True)
class MetricReadings:
    """Metric values of a launch.

    Attributes:
        values: value of each metric.
        absent: reason for each missing value.
        cut: whole number, for each metric whose pattern matches only part of it.
        units: units of values, as printed in the output.
        words: words after such values that are not known units.
    """

    values: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def add(self, metric: Metric, figure: Figure, where: str = "") -> None:
        """Add the reading of one metric.

        Args:
            metric: metric of the figure.
            figure: figure to add.
            where: prefix of a reason that names one of several outputs.
        """
        if figure.value is None:
            self.absent[metric.name] = f"{where}{figure.reason}"
        else:
            self.values[metric.name] = figure.value
        if figure.cut is not None:
            self.cut[metric.name] = figure.cut
        if figure.unit is not None:
            self.units[metric.name] = figure.unit
        if figure.word is not None:
            self.words[metric.name] = figure.word


def metrics_of(
    metrics: tuple[Metric, ...],
    facts: RunFacts,
    outputs: Sequence[Path],
    written: Mapping[str, WrittenPart] = {},
) -> MetricReadings:
    """Read the value of each metric.

    Args:
        metrics: metrics; those without a pattern come from the launcher, the others from the
            output. Metrics that the program reports while it runs are left out.
        facts: record of the launcher.
        outputs: output files; the first one with a match counts.
        written: newly written part of each metric file, by metric name.
    """
    found = MetricReadings()
    for metric in metrics:
        if metric.is_reported:
            continue
        if metric.file is not None:
            found.add(metric, _from_file(metric, written.get(metric.name)))
            continue
        if metric.pattern is not None:
            found.add(metric, read_figure(metric, outputs))
            continue
        value = _launcher_value(metric.name, facts)
        if value is None:
            found.absent[metric.name] = _absence_reason(metric.name, facts)
        else:
            found.values[metric.name] = float(value)
    return found


def _from_file(metric: Metric, written: WrittenPart | None) -> Figure:
    if written is None:
        return Figure(reason=f"the file {metric.file} was not read")
    if written.reason is not None:
        return Figure(reason=written.reason)
    found = read_figure(metric, (written.path,), written.begin)
    if found.reason is None:
        return found
    return replace(found, reason=found.reason.replace("in the output", f"in {written.path}", 1))


def _launcher_value(name: str, facts: RunFacts) -> float | None:
    """Return the launcher's value of a built-in metric."""
    if name in PERF_METRICS:
        return _counted(name, facts)
    if name in SUMS:
        parts = [getattr(facts, part) for part in SUMS[name]]
        return None if None in parts else float(sum(parts))
    value: float | None = getattr(facts, name, None)
    return value


def _counted(name: str, facts: RunFacts) -> float | None:
    """Return the count of an event, summed over all core types."""
    if _missing(name, facts):
        return None
    counts = [c.value for n, c in facts.counters.items() if n.partition(".")[0] == name]
    return sum(counts) if counts else None


def _missing(name: str, facts: RunFacts) -> list[str]:
    """Return the reasons for missing counts of an event, one per core type."""
    counter = f"counters.{name}"
    return [
        why for n, why in facts.unavailable.items() if n == counter or n.startswith(f"{counter}.")
    ]


def _absence_reason(name: str, facts: RunFacts) -> str:
    reasons = [*_missing(name, facts), "the launcher reported no value"]
    return facts.unavailable.get(name, reasons[0])


def parse_metric(text: str, units: Mapping[str, str]) -> Metric:
    """Return the metric of a command-line text: a built-in name, or ``NAME=REGEX``.

    ``NAME@STATISTIC=REGEX`` is a statistic of all matches of a launch; the text up to the ``=`` is
    the name of the metric.

    Raises:
        InvalidInputError: the text is neither of these.
    """
    if text in BUILT_IN:
        return BUILT_IN[text]
    name, equals, pattern = text.partition("=")
    own, at, statistic = name.partition("@")
    if not equals or not own.isidentifier():
        near = nearest(text, tuple(BUILT_IN))
        raise InvalidInputError(
            f"Unknown metric: {text!r}.",
            (f"Did you mean {near}? " if near else "")
            + "Use NAME=REGEX with one group, for example 'fps=([0-9.]+) fps', or one of "
            + ", ".join(BUILT_IN)
            + ".",
        )
    if at:
        demand_statistic(statistic, text)
    if own in BUILT_IN:
        raise InvalidInputError(
            f"{own} is the name of a built-in metric.",
            "Choose another name for the figure in the output.",
        )
    pattern = checked_pattern(pattern, "--metric")
    unit = units.get(name, "") or unit_of_pattern(pattern)
    return Metric(name=name, unit=unit, pattern=pattern, statistic=statistic if at else None)
