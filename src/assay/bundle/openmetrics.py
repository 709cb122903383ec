"""OpenMetrics: samples and claims as text for Prometheus and compatible programs.

The format is OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/): contiguous families, units at
the end of names, points of a series in order of time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from assay.bundle.source import Source, StratumSource
from assay.records import Claim, Metric, Sample, Value
from assay.records.configuration import show_value

_UNITS = {"s": "seconds", "bytes": "bytes"}
_TICK_S = 0.001
"""Resolution of timestamps in Prometheus, in seconds."""
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")


@dataclass
class _Family:
    """Metric family of gauges."""

    name: str
    unit: str
    text: str
    points: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield f"# TYPE {self.name} gauge"
        if self.unit:
            yield f"# UNIT {self.name} {self.unit}"
        yield f"# HELP {self.name} {_escaped(self.text, quotes=False)}"
        yield from self.points

    def add(self, labels: dict[str, str], value: float, at_s: float | None = None) -> None:
        time = "" if at_s is None else f" {at_s:.3f}"
        self.points.append(f"{self.name}{_labels(labels)} {value!r}{time}")


def openmetrics(source: Source) -> str:
    """Return a study in the text format.

    Every launch with a value is a point at its start time, in a series for each stratum, stage and
    arm. Values that launches reported while they ran are points at the times of their reports, in a
    series for each launch. The number of launches by outcome and the claims follow.
    """
    families = [*_sampled(source), *_reported(source), _launches(source), *_claims(source)]
    lines = [*_about(source)]
    for family in families:
        if family.points:
            lines += family.lines()
    return "\n".join([*lines, "# EOF", ""])


def _about(source: Source) -> Iterator[str]:
    record = source.record
    labels = {"study": record.id, "kind": str(record.spec.kind), "status": str(record.status)}
    labels["assay_version"] = record.strata[-1].assay_version if record.strata else ""
    yield "# TYPE assay_study info"
    yield "# HELP assay_study Properties of the study."
    yield f"assay_study_info{_labels(labels)} 1"


def _sampled(source: Source) -> Iterator[_Family]:
    """Yield a family for each metric of the workload."""
    taken: set[str] = set()
    for metric in source.record.spec.workload.metrics:
        family = _family_of(metric, taken)
        for stratum in source.strata:
            for labels, points in _series(source.record.id, stratum, metric.name):
                last_s = -1.0
                for at_s, value in points:
                    # Launches must stay distinct after the clock was set back.
                    last_s = at_s if at_s > last_s + _TICK_S / 2 else last_s + _TICK_S
                    family.add(labels, value, last_s)
        yield family


def _reported(source: Source) -> Iterator[_Family]:
    """Yield a family for each metric that launches report while they run."""
    taken: set[str] = set()
    for metric in source.record.spec.workload.metrics:
        family = _family_of(metric, taken, kind="reported", text="reported by a running launch")
        for stratum in source.strata:
            for number, sample in enumerate(stratum.samples, start=1):
                if metric.name in sample.series:
                    _add_series(family, source.record.id, stratum, number, sample, metric.name)
        yield family


def _add_series(
    family: _Family, study: str, stratum: StratumSource, number: int, sample: Sample, metric: str
) -> None:
    labels = {"study": study, "stratum": str(stratum.stratum.number)}
    labels |= {"stage": str(sample.launch.stage), "arm": sample.launch.arm, "launch": str(number)}
    labels |= _fidelity_label(sample.launch.fidelity)
    last_s = -1.0
    series = sample.series[metric]
    for time_s, value in zip(series.times_s, series.values, strict=True):
        at_s = round(sample.started_at + time_s, 3)
        if at_s > last_s + _TICK_S / 2:  # a series has one point for each time stamp
            family.add(labels, value, at_s)
            last_s = at_s


def _fidelity_label(low: Value | None) -> dict[str, str]:
    """Return the label of a launch at a low fidelity; none at the full one."""
    return {} if low is None else {"fidelity": show_value(low)}


def _series(
    study: str, stratum: StratumSource, metric: str
) -> Iterator[tuple[dict[str, str], list[tuple[float, float]]]]:
    found: dict[tuple[str, str, Value | None], list[tuple[float, float]]] = {}
    for sample in stratum.samples:
        if metric in sample.metrics:
            place = (str(sample.launch.stage), sample.launch.arm, sample.launch.fidelity)
            at_s = round(sample.started_at, 3)
            found.setdefault(place, []).append((at_s, sample.metrics[metric]))
    for (stage, arm, fidelity), points in found.items():
        labels = {
            "study": study,
            "stratum": str(stratum.stratum.number),
            "stage": stage,
            "arm": arm,
            **_fidelity_label(fidelity),
        }
        yield labels, sorted(points, key=lambda point: point[0])


def _family_of(
    metric: Metric, taken: set[str], *, kind: str = "sample", text: str = "of one launch"
) -> _Family:
    """Return the family of a metric, whose name ends in the unit as specified."""
    unit = _UNITS.get(metric.unit, "")
    base = metric.name.removesuffix(f"_{metric.unit}") if metric.unit else metric.name
    name = f"assay_{kind}_{_NOT_A_NAME.sub('_', base)}"
    while f"{name}_{unit}" in taken:
        name += "_"
    taken.add(f"{name}_{unit}")
    text = f"{metric.name} {text}" + (f", in {metric.unit}" if metric.unit else "")
    return _Family(f"{name}_{unit}" if unit else name, unit, f"{text}.")


def _launches(source: Source) -> _Family:
    family = _Family("assay_launches", "", "Launches by outcome.")
    for stratum in source.strata:
        counts = Counter(map(_kind_of, stratum.samples))
        for (stage, arm, outcome), count in sorted(counts.items()):
            labels = {"study": source.record.id, "stratum": str(stratum.stratum.number)}
            labels |= {"stage": stage, "arm": arm, "outcome": outcome}
            family.add(labels, float(count))
    return family


def _kind_of(sample: Sample) -> tuple[str, str, str]:
    return str(sample.launch.stage), sample.launch.arm, str(sample.outcome)


def _claims(source: Source) -> Iterable[_Family]:
    ratio = _Family("assay_claim_ratio", "", "Ratio of arm b to arm a.")
    low = _Family("assay_claim_ratio_low", "", "Lower end of the interval of the ratio.")
    high = _Family("assay_claim_ratio_high", "", "Upper end of the interval of the ratio.")
    blocks = _Family("assay_claim_blocks", "", "Number of paired launches of the claim.")
    for stratum in source.strata:
        for claim in stratum.conclusion.every_claim if stratum.conclusion else ():
            labels = _claim_labels(source.record.id, stratum, claim)
            if claim.blocks:
                ratio.add(labels, claim.ratio)
            blocks.add(labels, float(claim.blocks))
            for family, end in zip((low, high), claim.ci, strict=True):
                if end is not None:
                    family.add(labels, end)
    return ratio, low, high, blocks


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
