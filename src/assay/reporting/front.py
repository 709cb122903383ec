"""Front: data of the pictures of several objectives, two at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Claim, Conclusion, FrontPoint, Goal, Metric
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.inputs import ReportInput
from assay.search.history.objective_view import ObjectiveView, objective_views
from assay.search.model.sample_means import mean_effects
from assay.search.model.trials import trials_of

Ratios = tuple[float, float]
"""Ratios to the default in the first and in the other objective."""


@dataclass(frozen=True, slots=True)
class FrontMark:
    """Confirmed point.

    Attributes:
        label: its number on the front; empty if it is not part of the front.
        name: its settings.
        ratios: ratios to the default.
        across, up: intervals of both ratios; ``None`` for an open end.
    """

    label: str
    name: str
    ratios: Ratios
    across: tuple[float | None, float | None]
    up: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class FrontFigure:
    """Two objectives against each other.

    Attributes:
        across, up: names of the objectives.
        goals: directions of improvement.
        marks: confirmed points, those of the front first.
        tried: ratios of all other configurations of the search.
        whole: there are no further objectives; otherwise the joined points are not a front.
    """

    across: str
    up: str
    goals: tuple[Goal, Goal]
    marks: tuple[FrontMark, ...]
    tried: tuple[Ratios, ...]
    whole: bool = True

    @property
    def joined_points(self) -> tuple[Ratios, ...]:
        """Return the points of the front in the order of the joining line."""
        if not self.whole:
            return ()
        return tuple(sorted(mark.ratios for mark in self.marks if mark.label))


def front_figures(report: ReportInput) -> tuple[FrontFigure, ...]:
    """Return the first objective against each other one; empty without confirmed points."""
    conclusion = report.conclusion
    if conclusion is None or not (conclusion.pareto_front or conclusion.excluded_points):
        return ()
    first, *others = objective_views(report.spec, report.samples)
    return tuple(_figure(conclusion, first, other, not others[1:]) for other in others)


def _figure(
    conclusion: Conclusion, first: ObjectiveView, other: ObjectiveView, whole: bool
) -> FrontFigure:
    numbered = [(str(n), point) for n, point in enumerate(conclusion.pareto_front, 1)]
    numbered += [("", point) for point in conclusion.excluded_points]
    pair = (first.metric, other.metric)
    marks = [_mark(label, point, pair) for label, point in numbered]
    confirmed = {point.name for (_, point), mark in zip(numbered, marks, strict=True) if mark}
    return FrontFigure(
        across=label_of(first.metric),
        up=label_of(other.metric),
        goals=(first.metric.goal, other.metric.goal),
        marks=tuple(mark for mark in marks if mark is not None),
        tried=tuple(_tried(first, other, confirmed)),
        whole=whole,
    )


def _mark(label: str, point: FrontPoint, pair: tuple[Metric, Metric]) -> FrontMark | None:
    claims = [point.claim_on(metric.name) for metric in pair]
    known: list[Claim] = [claim for claim in claims if claim is not None]
    if len(known) < len(pair):
        return None
    across, up = known
    return FrontMark(label, arm_label(point.name), (across.ratio, up.ratio), across.ci, up.ci)


def _tried(first: ObjectiveView, other: ObjectiveView, confirmed: set[str]) -> Sequence[Ratios]:
    """Return the ratios of configurations of the search, by their means over blocks."""
    by_view = [
        {s.configuration: _ratio(view, s.score) for s in mean_effects(trials_of(view.history))}
        for view in (first, other)
    ]
    pairs = (
        (ratio, by_view[1].get(configuration, math.nan))
        for configuration, ratio in by_view[0].items()
        if str(configuration) not in confirmed
    )
    return [pair for pair in pairs if all(map(math.isfinite, pair))]


def _ratio(view: ObjectiveView, score: float) -> float:
    return math.exp(score if view.metric.goal is Goal.LOWER else -score)
