"""Comparable: studies in which the number of instances varies need a metric that allows for it.

Several instances do several times the work of one. What a launch takes in all, its time above all,
then tells nothing of which is better.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import InvalidInputError
from assay.records import Configuration, Metric, Parameter, StudySpec, Value
from assay.records.workload import PER_INSTANCE
from assay.settings.instances import CORES, COUNT, RANK
from assay.wording.notes import instances_note

_NAMES = (COUNT, CORES, RANK)
_STATED = frozenset({PER_INSTANCE, "peak_anon_bytes"})
"""Built-in metrics that mean the same: time by instance; memory, of which all there is counts."""


def varies_instances(names: Iterable[str]) -> bool:
    """Whether settings of these names say how many instances there are."""
    return any(name in _NAMES for name in names)


def check_comparable(spec: StudySpec) -> None:
    """Refuse a study that would hold the time of several instances against that of one.

    Raises:
        InvalidInputError: the number of instances varies, and the objective is a total of all
            instances.
    """
    objective = next((metric for metric in spec.targets if not _fits(metric)), None)
    if objective is None or not _varies(spec):
        return
    raise InvalidInputError(
        f"The number of instances varies, and {objective.name} is that of all instances of a "
        "launch together: several do several times the work of one.",
        f"Add --objective {PER_INSTANCE}, or read a figure from the output: "
        "--metric 'rate=([0-9.]+)/s' --objective rate --goal higher.",
    )


def instances_notes(spec: StudySpec) -> list[str]:
    """Return a note on metrics, where the number of instances varies."""
    if not _varies(spec):
        return []
    return [instances_note(PER_INSTANCE)]


def _fits(metric: Metric) -> bool:
    return metric.pattern is not None or metric.name in _STATED


def _varies(spec: StudySpec) -> bool:
    if spec.arms:
        return len({_count(arm.configuration) for arm in spec.arms}) > 1
    return any(map(_is_several, spec.space.parameters))


def _is_several(parameter: Parameter) -> bool:
    """Whether a parameter of a search leads away from the single instance of the default."""
    one = parameter.name == COUNT and parameter.domain.values() == (1,)
    return parameter.name in _NAMES and not one


def _count(configuration: Configuration) -> tuple[Value | None, ...]:
    """How many there are; modes, whose count the machine decides, by all that is said of them."""
    count = configuration.get(COUNT)
    if RANK in configuration:
        return (1,)
    if count is None and CORES not in configuration:
        return (1,)
    if isinstance(count, int):
        return (count,)
    return (count, configuration.get(CORES))
