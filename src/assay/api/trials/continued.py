"""Keywords of a continued session: its study has their values already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.api.functions.domains import Value
from assay.api.trials.free_space import plain_value
from assay.api.trials.plan import SessionPlan
from assay.errors import InvalidInputError
from assay.records import EarlierStudy, Metric, Parameter, Progress, Space, StudySpec
from assay.search.space.named_configurations import make_search_space
from assay.store import StudyRecord
from assay.study.warm_start import with_history
from assay.units import show_count

_REMEDY = "Give the stored value or leave {} out, or begin a new study without study=."


def demand_unchanged(plan: SessionPlan, record: StudyRecord) -> None:
    """Raise an error if a keyword has another value than in the study to continue.

    A script that is run again gives the same keywords. Absent ones keep their stored values.

    Args:
        plan: plan of the present session.
        record: record of the study to continue.

    Raises:
        InvalidInputError: names the keyword, its stored and its given value.
    """
    for name, stored, given in _changes(plan, record.spec):
        raise InvalidInputError(
            f"{name}: given {given}, but study {record.id} has {stored}.",
            _REMEDY.format(name),
        )


def _changes(plan: SessionPlan, spec: StudySpec) -> Iterator[tuple[str, str, str]]:
    """Yield each changed keyword with its stored and its given value."""
    yield from _changed_space(plan, spec.space)
    yield from _changed_objective(plan, spec.workload.objective)
    if plan.history:
        given = _earlier_studies(plan, spec)
        if given != spec.earlier_studies:
            yield "history", _trials(spec.earlier_studies), _trials(given)
    for name, stored, number in (
        ("margin", spec.margin, plan.margin),
        ("seed", spec.seed, plan.seed),
    ):
        if number is not None and number != stored:
            yield name, str(stored), str(number)


def _changed_space(plan: SessionPlan, stored: Space) -> Iterator[tuple[str, str, str]]:
    parameters = {parameter.name: parameter for parameter in stored.parameters}
    if plan.space is not None:
        domains = {name: one.domain for name, one in parameters.items()}
        given = {one.name: one.domain for one in plan.space.parameters}
        if given != domains:
            yield "space", _named(domains), _named(given)
    defaults = {name: one.default for name, one in parameters.items()}
    changed = {
        name: value
        for name, value in (plan.default or {}).items()
        if _is_other(value, parameters.get(name))
    }
    if changed:
        before = {name: value for name, value in defaults.items() if name in changed}
        yield "default", _named(before) or "no such setting", _named(changed)
    if plan.constraints and plan.constraints != stored.constraints:
        yield "constraints", "; ".join(stored.constraints) or "none", "; ".join(plan.constraints)


def _is_other(value: Value, parameter: Parameter | None) -> bool:
    return parameter is None or plain_value(parameter.name, value) != parameter.default


def _changed_objective(plan: SessionPlan, stored: Metric) -> Iterator[tuple[str, str, str]]:
    for name, before, given in (
        ("metric", stored.name, plan.metric),
        ("goal", str(stored.goal), plan.goal),
        ("unit", stored.unit or "none", plan.unit or None),
    ):
        if given is not None and given != before:
            yield name, before, given
    if plan.progress is not None and plan.progress.source != stored.progress:
        yield "progress", _source(stored.progress), _source(plan.progress.source)


def _source(progress: Progress | None) -> str:
    if progress is None:
        return "none"
    return f"a Progress with key {progress.key!r}" if progress.key else "a Progress without key"


def _earlier_studies(plan: SessionPlan, spec: StudySpec) -> tuple[EarlierStudy, ...]:
    """Return the given history as the earlier studies of the stored space."""
    without = msgspec.structs.replace(spec, earlier_studies=())
    return with_history(without, plan.history, make_search_space(spec.space)).earlier_studies


def _trials(studies: Sequence[EarlierStudy]) -> str:
    shown = (f"{one.study} with {show_count(one.launches, 'trial')}" for one in studies)
    return ", ".join(shown) or "none"


def _named(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
