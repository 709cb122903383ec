"""Comparability: metrics for studies in which the number of instances varies.

Several instances do several times the work of one. Totals of a launch, above all its time, then do
not show which configuration is better.
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
"""Built-in metrics that remain comparable: time per instance, and total memory."""


def varies_instances(names: Iterable[str]) -> bool:
    """Return whether settings with these names determine the number of instances."""
    return any(name in _NAMES for name in names)


def check_comparable(spec: StudySpec) -> None:
    """Check that the objective of a study is comparable between numbers of instances.

    Raises:
        InvalidInputError: the number of instances varies, and the objective is a total of all
            instances.
    """
    objective = next((metric for metric in spec.targets if not _fits(metric)), None)
    if objective is None or not _varies(spec):
        return
    raise InvalidInputError(
        f"The number of instances varies, and {objective.name} is the total of all instances of a "
        "launch: several instances do several times the work of one.",
        f"Add --objective {PER_INSTANCE}, or read a figure from the output: "
        "--metric 'rate=([0-9.]+)/s' --objective rate --goal higher.",
    )


def instance_count_notes(spec: StudySpec) -> list[str]:
    """Return notes on the reference of times besides the objective, if instances vary."""
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
    """Return whether a parameter of a search may give another number than one instance."""
    one = parameter.name == COUNT and parameter.domain.values() == (1,)
    return parameter.name in _NAMES and not one


def _count(configuration: Configuration) -> tuple[Value | None, ...]:
    """Return the number of instances; for modes, whose count the machine determines, all values."""
    count = configuration.get(COUNT)
    if RANK in configuration:
        return (1,)
    if count is None and CORES not in configuration:
        return (1,)
    if isinstance(count, int):
        return (count,)
    return (count, configuration.get(CORES))
