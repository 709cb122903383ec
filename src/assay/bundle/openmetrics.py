"""OpenMetrics: samples and claims as text for Prometheus and compatible programs.

The format is OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/): contiguous families, units at
the end of names, points of a series in order of time.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from assay.bundle.source import Source, StratumSource
from assay.bundle.survey import SampleSurvey
from assay.records import Claim, Metric, Sample, Value
from assay.records.configuration import show_value

_UNITS = {"s": "seconds", "bytes": "bytes"}
_TICK_S = 0.001
"""Resolution of timestamps in Prometheus, in seconds."""
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")


Point = tuple[dict[str, str], float, float | None]
"""Labels, value, and time in seconds since 1970."""
Place = tuple[str, str, Value | None]
"""Stage, arm and fidelity of a series."""


@dataclass(frozen=True)
class _Family:
    """Metric family of gauges.

    Attributes:
        name: name with its unit.
        unit: unit; empty for none.
        text: description.
        points: points of all series; empty ones omit the family.
    """

    name: str
    unit: str
    text: str
    points: Iterable[Point]

    def write(self, target: TextIO) -> None:
        """Write the family, if it has a point."""
        known: tuple[dict[str, str], str] | None = None
        for number, (labels, value, at_s) in enumerate(self.points):
            if number == 0:
                target.write(f"# TYPE {self.name} gauge\n")
                if self.unit:
                    target.write(f"# UNIT {self.name} {self.unit}\n")
                target.write(f"# HELP {self.name} {_escaped(self.text, quotes=False)}\n")
            if known is None or known[0] is not labels:  # points of a series share their labels
                known = labels, _labels(labels)
            time = "" if at_s is None else f" {at_s:.3f}"
            target.write(f"{self.name}{known[1]} {value!r}{time}\n")


def write_openmetrics(source: Source, target: TextIO) -> None:
    """Write a study in the text format.

    Every launch with a value is a point at its start time, in a series for each stratum, stage and
    arm. Values that launches reported while they ran are points at the times of their reports, in a
    series for each launch. The number of launches by outcome and the claims follow.
    """
    for line in _about(source):
        target.write(f"{line}\n")
    tallies = [
        _Tally(stratum, survey)
        for stratum, survey in zip(source.strata, source.surveys, strict=True)
    ]
    for family in (
        *_sampled(source, tallies),
        *_reported(source),
        _launches(source, tallies),
        *_claims(source),
    ):
        family.write(target)
    target.write("# EOF\n")


class _Tally:
    """Points and outcomes of the launches of a stratum, from one pass over its samples.

    Args:
        stratum, survey: stratum and the survey of its samples.
    """

    def __init__(self, stratum: StratumSource, survey: SampleSurvey) -> None:
        self.stratum = stratum
        self.outcomes: Counter[tuple[str, str, str]] = Counter()
        self.points: dict[str, dict[Place, array[float]]] = {n: {} for n in survey.metrics}
        for sample in stratum.samples:
            launch = sample.launch
            self.outcomes[str(launch.stage), launch.arm, str(sample.outcome)] += 1
            place = (str(launch.stage), launch.arm, launch.fidelity)
            at_s = round(sample.started_at, 3)
            for name, value in sample.metrics.items():
                self.points[name].setdefault(place, array("d")).extend((at_s, value))

    def series(self, study: str, metric: str) -> Iterator[Point]:
        """Yield the points of a metric, by series and in order of time."""
        for (stage, arm, fidelity), flat in self.points.get(metric, {}).items():
            labels = {
                "study": study,
                "stratum": str(self.stratum.stratum.number),
                "stage": stage,
                "arm": arm,
                **_fidelity_label(fidelity),
            }
            last_s = -1.0
            order = sorted(range(0, len(flat), 2), key=flat.__getitem__)
            for at in order:
                # Launches must stay distinct after the clock was set back.
                at_s = flat[at]
                last_s = at_s if at_s > last_s + _TICK_S / 2 else last_s + _TICK_S
                yield labels, flat[at + 1], last_s


def _about(source: Source) -> Iterator[str]:
    record = source.record
    labels = {"study": record.id, "kind": str(record.spec.kind), "status": str(record.status)}
    labels["assay_version"] = record.strata[-1].assay_version if record.strata else ""
    yield "# TYPE assay_study info"
    yield "# HELP assay_study Properties of the study."
    yield f"assay_study_info{_labels(labels)} 1"


def _sampled(source: Source, tallies: Sequence[_Tally]) -> Iterator[_Family]:
    """Yield a family for each metric of the workload."""
    taken: set[str] = set()
    for metric in source.record.spec.workload.metrics:
        points = (p for tally in tallies for p in tally.series(source.record.id, metric.name))
        yield _family_of(metric, taken, points)


def _reported(source: Source) -> Iterator[_Family]:
    """Yield a family for each metric that launches report while they run."""
    taken: set[str] = set()
    for metric in source.record.spec.workload.metrics:
        points = _reported_points(source, metric.name)
        text = "reported by a running launch"
        yield _family_of(metric, taken, points, kind="reported", text=text)


def _reported_points(source: Source, metric: str) -> Iterator[Point]:
    for stratum, survey in zip(source.strata, source.surveys, strict=True):
        if metric not in survey.series:
            continue
        for number, sample in enumerate(stratum.samples, start=1):
            if metric in sample.series:
                yield from _series_points(source.record.id, stratum, number, sample, metric)


def _series_points(
    study: str, stratum: StratumSource, number: int, sample: Sample, metric: str
) -> Iterator[Point]:
    labels = {"study": study, "stratum": str(stratum.stratum.number)}
    labels |= {"stage": str(sample.launch.stage), "arm": sample.launch.arm, "launch": str(number)}
    labels |= _fidelity_label(sample.launch.fidelity)
    last_s = -1.0
    series = sample.series[metric]
    for time_s, value in zip(series.times_s, series.values, strict=True):
        at_s = round(sample.started_at + time_s, 3)
        if at_s > last_s + _TICK_S / 2:  # a series has one point for each time stamp
            yield labels, value, at_s
            last_s = at_s


def _fidelity_label(low: Value | None) -> dict[str, str]:
    """Return the label of a launch at a low fidelity; none at the full one."""
    return {} if low is None else {"fidelity": show_value(low)}


def _family_of(
    metric: Metric,
    taken: set[str],
    points: Iterable[Point],
    *,
    kind: str = "sample",
    text: str = "of one launch",
) -> _Family:
    """Return the family of a metric, whose name ends in the unit as specified."""
    unit = _UNITS.get(metric.unit, "")
    base = metric.name.removesuffix(f"_{metric.unit}") if metric.unit else metric.name
    name = f"assay_{kind}_{_NOT_A_NAME.sub('_', base)}"
    while f"{name}_{unit}" in taken:
        name += "_"
    taken.add(f"{name}_{unit}")
    text = f"{metric.name} {text}" + (f", in {metric.unit}" if metric.unit else "")
    return _Family(f"{name}_{unit}" if unit else name, unit, f"{text}.", points)


def _launches(source: Source, tallies: Sequence[_Tally]) -> _Family:
    points: list[Point] = []
    for tally in tallies:
        for (stage, arm, outcome), count in sorted(tally.outcomes.items()):
            labels = {"study": source.record.id, "stratum": str(tally.stratum.stratum.number)}
            labels |= {"stage": stage, "arm": arm, "outcome": outcome}
            points.append((labels, float(count), None))
    return _Family("assay_launches", "", "Launches by outcome.", points)


def _claims(source: Source) -> Iterable[_Family]:
    ratio: list[Point] = []
    ends: tuple[list[Point], list[Point]] = ([], [])
    blocks: list[Point] = []
    for stratum in source.strata:
        for claim in stratum.conclusion.every_claim if stratum.conclusion else ():
            labels = _claim_labels(source.record.id, stratum, claim)
            if claim.blocks:
                ratio.append((labels, claim.ratio, None))
            blocks.append((labels, float(claim.blocks), None))
            for points, end in zip(ends, claim.ci, strict=True):
                if end is not None:
                    points.append((labels, end, None))
    low, high = ends
    return (
        _Family("assay_claim_ratio", "", "Ratio of arm b to arm a.", ratio),
        _Family("assay_claim_ratio_low", "", "Lower end of the interval of the ratio.", low),
        _Family("assay_claim_ratio_high", "", "Upper end of the interval of the ratio.", high),
        _Family("assay_claim_blocks", "", "Number of paired launches of the claim.", blocks),
    )


def _claim_labels(study: str, stratum: StratumSource, claim: Claim) -> dict[str, str]:
    return {
        "study": study,
        "stratum": str(stratum.stratum.number),
        "metric": claim.metric,
        "a": claim.a,
        "b": claim.b,
        "verdict": str(claim.verdict),
    }


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str, *, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text
