"""Metrics of a launch: from the launcher's record, and from what the program wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.figures import Figure, read_figure, unit_of_pattern
from assay.executors.metrics.matching import checked_pattern
from assay.executors.metrics.metric_files import WrittenPart
from assay.executors.metrics.reduction import demand_reduction
from assay.records import Metric, RunFacts
from assay.records.workload import BUILT_IN, PERF_METRICS

SUMS = {
    "context_switches": ("voluntary_switches", "involuntary_switches"),
    "page_faults": ("minor_faults", "major_faults"),
}
"""Of what the kernel adds up for the tree whether asked or not: no perf event is needed for it."""


@dataclass(frozen=True)
class MetricReadings:
    """The metrics of a launch.

    Attributes:
        values: of each metric.
        absent: for those that have none the reason.
        cut: for those whose pattern matches a part of a number, that number.
        units: that the output names, of the values that came from it.
        words: behind such values, where they are no known unit.
    """

    values: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def add(self, metric: Metric, figure: Figure, where: str = "") -> None:
        """Take in what was read for one metric.

        Args:
            metric: whose figure it is.
            figure: that was read.
            where: in which of several outputs, as a reason begins.
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
        metrics: those without a pattern come from the launcher, the others from the output.
        facts: the launcher's record.
        outputs: what the program wrote; the first file that holds a match counts.
        written: by the names of metrics that are read from files of the program's own, the part of
            each that the launch wrote.
    """
    found = MetricReadings()
    for metric in metrics:
        if metric.file is not None:
            found.add(metric, _from_file(metric, written.get(metric.name)))
            continue
        if metric.pattern is not None:
            found.add(metric, read_figure(metric, outputs))
            continue
        value = _given(metric.name, facts)
        if value is None:
            found.absent[metric.name] = _why_absent(metric.name, facts)
        else:
            found.values[metric.name] = float(value)
    return found


def _from_file(metric: Metric, written: WrittenPart | None) -> Figure:
    if written is None:
        return Figure(reason=f"the file {metric.file} was not looked at")
    if written.reason is not None:
        return Figure(reason=written.reason)
    found = read_figure(metric, (written.path,), written.begin)
    if found.reason is None:
        return found
    return replace(found, reason=found.reason.replace("in the output", f"in {written.path}", 1))


def _given(name: str, facts: RunFacts) -> float | None:
    """What the launcher tells for a built-in metric."""
    if name in PERF_METRICS:
        return _counted(name, facts)
    if name in SUMS:
        parts = [getattr(facts, part) for part in SUMS[name]]
        return None if None in parts else float(sum(parts))
    value: float | None = getattr(facts, name, None)
    return value


def _counted(name: str, facts: RunFacts) -> float | None:
    """The count of an event: over all kinds of cores, where there are several."""
    if _missing(name, facts):
        return None
    counts = [c.value for n, c in facts.counters.items() if n.partition(".")[0] == name]
    return sum(counts) if counts else None


def _missing(name: str, facts: RunFacts) -> list[str]:
    """Why an event was not counted, for each kind of cores on which it was not."""
    counter = f"counters.{name}"
    return [why for n, why in facts.absent.items() if n == counter or n.startswith(f"{counter}.")]


def _why_absent(name: str, facts: RunFacts) -> str:
    reasons = [*_missing(name, facts), "the launcher could not tell"]
    return facts.absent.get(name, reasons[0])


def parse_metric(text: str, units: Mapping[str, str]) -> Metric:
    """A metric as written on the command line: a built-in name, or ``NAME=REGEX``.

    ``NAME@WAY=REGEX`` takes all matches of a launch; that is then its name, up to the ``=``.

    Raises:
        InvalidInputError: neither.
    """
    if text in BUILT_IN:
        return BUILT_IN[text]
    name, equals, pattern = text.partition("=")
    own, at, way = name.partition("@")
    if not equals or not own.isidentifier():
        near = nearest(text, tuple(BUILT_IN))
        raise InvalidInputError(
            f"{text!r} is not a metric.",
            (f"Did you mean {near}? " if near else "")
            + "Write NAME=REGEX with one group, for example 'fps=([0-9.]+) fps', or one of "
            + ", ".join(BUILT_IN)
            + ".",
        )
    if at:
        demand_reduction(way, text)
    if own in BUILT_IN:
        raise InvalidInputError(
            f"{own} is what assay measures itself.", "Give the figure in the output another name."
        )
    pattern = checked_pattern(pattern, "The metric's")
    unit = units.get(name, "") or unit_of_pattern(pattern)
    return Metric(name=name, unit=unit, pattern=pattern, take=way if at else None)
