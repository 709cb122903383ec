"""Metrics derived from the reported values of another one: time to a level, value at a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records import Derivation, DerivationKind, Goal, Metric
from assay.records.sample import not_finite_end
from assay.units import show_duration

if TYPE_CHECKING:
    from assay.stats.progress.reports import Reports

ENDED_BY_ASSAY = "assay ended the launch before its last value"


def derived_value(
    metric: Metric, reports: Reports | None, *, ended_by_assay: bool, ends_finite: bool = True
) -> tuple[float | None, str]:
    """Return the value of a derived metric, or the reason for its absence.

    The time of a step is not among these metrics: it belongs to the steady part.

    Args:
        metric: metric with a derivation.
        reports: reports of its source in one launch; ``None`` without any.
        ended_by_assay: true if assay ended the launch.
        ends_finite: false if the last value is NaN or infinite, and so not among the reports.
    """
    derivation = metric.derivation
    assert derivation is not None
    if reports is None or not len(reports):
        return None, f"the program reported no value of {derivation.metric}"
    match derivation.kind:
        case DerivationKind.TIME_TO:
            return _time_to(derivation, reports)
        case DerivationKind.AT:
            return _at(derivation, reports)
        case _:
            from assay.stats.progress.derived import final_value

            if ended_by_assay:
                return None, ENDED_BY_ASSAY
            if not ends_finite:
                return None, not_finite_end(derivation.metric)
            return final_value(reports), ""


def _time_to(derivation: Derivation, reports: Reports) -> tuple[float | None, str]:
    from assay.stats.progress.derived import time_to

    level = derivation.level or 0.0
    found = time_to(reports, level, Goal.LOWER if derivation.falling else Goal.HIGHER)
    if found is None or found.censored:
        last, last_s = float(reports.values[-1]), float(reports.times_s[-1])
        return None, (
            f"the program never reached {derivation.condition}; its last value, after "
            f"{show_duration(last_s)}, was {last:.4g}"
        )
    return found.seconds, ""


def _at(derivation: Derivation, reports: Reports) -> tuple[float | None, str]:
    """Return the value at a step, if a report is about as near as reports are to each other."""
    from assay.stats.progress.derived import value_at

    step = derivation.step or 0.0
    found = value_at(reports, step)
    distance = float(reports.steps[-1] - reports.steps[0]) / max(1, len(reports) - 1)
    if found is None or abs(found.distance_steps) > max(distance, 1.0):
        last = float(reports.steps[-1])
        return None, f"{derivation.metric} has no report near step {step:g}; the last is {last:g}"
    return found.value, ""
