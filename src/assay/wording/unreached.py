"""Launches that never reached the level of a metric such as ``time_to(loss<=0.3)``."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import DerivationKind, Metric, Sample
from assay.records.sample import NOT_FINITE
from assay.units import show_count
from assay.wording.counts import launch_count

MAX_NAMED_ARMS = 3
"""Arms that a note names."""


def is_unreached(sample: Sample, metric: Metric) -> bool:
    """Return whether a launch ended well and reported values, but never reached the level."""
    derivation = metric.derivation
    return (
        derivation is not None
        and derivation.kind is DerivationKind.TIME_TO
        and sample.outcome.succeeded
        and metric.name in sample.unavailable
        and derivation.metric in sample.series
    )


def is_diverged(sample: Sample, metric: Metric) -> bool:
    """Return whether a launch ended well, but its last value is NaN or infinite."""
    return sample.outcome.succeeded and lacks_finite_end(sample.unavailable.get(metric.name))


def lacks_finite_end(reason: str | None) -> bool:
    """Return whether a value is absent because the last reported one is NaN or infinite."""
    return reason is not None and reason.endswith(NOT_FINITE)


def unreached_remedy(metric: Metric) -> str:
    """Return the next step after a launch that never reached the level of a metric."""
    derivation = metric.derivation
    assert derivation is not None
    side = "higher" if derivation.falling else "lower"
    return (
        f"Choose a {side} level than {derivation.level or 0.0:g}, give the program more steps, or "
        "compare against a configuration that reaches it."
    )


def never_reached(metric: Metric, arms: Sequence[str], launches: int, reason: str) -> str:
    """Return a note on arms that reached the level of a metric in no launch.

    Args:
        metric: metric of the level.
        arms: names of these arms.
        launches: number of their launches.
        reason: reason of the last one.
    """
    assert metric.derivation is not None
    names = ", ".join(arms[:MAX_NAMED_ARMS])
    rest = len(arms) - MAX_NAMED_ARMS
    names += f" and {show_count(rest, 'other arm')}" if rest > 0 else ""
    last = reason.partition("; its ")[2]
    return (
        f"{names} never reached {metric.derivation.condition} in {launch_count(launches)}, and "
        f"cannot be better; the {last}"
    )
