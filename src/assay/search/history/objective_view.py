"""Facet: a study with several objectives, as one of them sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from assay.records import Metric, Sample, StudySpec
from assay.search.history.history import History


@dataclass(frozen=True)
class ObjectiveView:
    """A study in one of its objectives.

    Attributes:
        spec: of the study, with this objective as its only one.
        history: its samples, of which this objective is looked at.
    """

    spec: StudySpec
    history: History

    @property
    def metric(self) -> Metric:
        """The objective."""
        return self.spec.workload.objective


def objective_views(spec: StudySpec, samples: Iterable[Sample] = ()) -> tuple[ObjectiveView, ...]:
    """A facet for each objective, in the order they were asked for."""
    told = tuple(samples)
    by_one = [with_single_objective(spec, metric) for metric in spec.targets]
    return tuple(ObjectiveView(one, History.of(one, told)) for one in by_one)


def with_single_objective(spec: StudySpec, metric: Metric) -> StudySpec:
    """The same study with one of its metrics as its only objective."""
    others = (m for m in spec.workload.metrics if m.name != metric.name)
    workload = msgspec.structs.replace(spec.workload, metrics=(metric, *others))
    return msgspec.structs.replace(spec, workload=workload, objectives=())
