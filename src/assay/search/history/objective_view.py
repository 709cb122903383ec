"""Objective view: a study reduced to one of its objectives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from assay.records import Metric, Sample, StudySpec
from assay.search.history.history import History


@dataclass(frozen=True)
class ObjectiveView:
    """A study reduced to one of its objectives.

    Attributes:
        spec: specification with this objective only.
        history: history of the samples with this objective.
    """

    spec: StudySpec
    history: History

    @property
    def metric(self) -> Metric:
        """The objective."""
        return self.spec.workload.objective


def objective_views(spec: StudySpec, samples: Iterable[Sample] = ()) -> tuple[ObjectiveView, ...]:
    """Return a view of each objective, in the order of the specification."""
    all_samples = tuple(samples)
    by_one = [with_single_objective(spec, metric) for metric in spec.targets]
    return tuple(ObjectiveView(one, History.of(one, all_samples)) for one in by_one)


def with_single_objective(spec: StudySpec, metric: Metric) -> StudySpec:
    """Return a specification with one of its metrics as the only objective."""
    others = (m for m in spec.workload.metrics if m.name != metric.name)
    workload = msgspec.structs.replace(spec.workload, metrics=(metric, *others))
    return msgspec.structs.replace(spec, workload=workload, objectives=())
