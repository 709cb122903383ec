"""Differences between two conditions: machines, programs, environments and settings."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

from assay.machine import differences as machines
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.launch_environment import VARIABLE_PREFIX, is_compared
from assay.records import Stratum
from assay.records.comparison import ConditionDifference, ConditionSource
from assay.search.occasions.side import MeasuredCondition, Side
from assay.wording.occasions import TIME_OF_DAY, UNSTATED

HOST, DAY, TIME, BOOT = "host", "day", TIME_OF_DAY, "boot"
OCCASION = (DAY, TIME, BOOT)
"""Differences of the occasion, which the variance between occasions covers."""
_SUBJECTS = {"CPUs": "processor"}
_DIGEST_DIGITS = 12


def condition_differences(a: Side, b: Side) -> tuple[ConditionDifference, ...]:
    """Return the properties in which two conditions differ, by subject."""
    if not isinstance(a, MeasuredCondition) or not isinstance(b, MeasuredCondition):
        return tuple(_of_rows(a, b))
    found = [*_of_arms(a, b), *_of_programs(a, b), *_of_strata(a.stratum, b.stratum)]
    if a.machine is not None and b.machine is not None:
        found += _of_machines(a.machine, b.machine)
    elif a.condition.kernel != b.condition.kernel:  # imported studies have no machine document
        found.append(_difference("kernel", "release", a.condition.kernel, b.condition.kernel))
    return tuple(sorted(found, key=lambda one: (one.subject, one.path, one.numbers)))


def sources_of_effect(
    a: Side, b: Side, differences: tuple[ConditionDifference, ...]
) -> tuple[str, ...]:
    """Return all differences between two conditions, those of the occasion first."""
    if not isinstance(a, MeasuredCondition) or not isinstance(b, MeasuredCondition):
        return (*_subjects(differences), UNSTATED)
    names = [*_of_occasion(a, b)]
    elsewhere = ConditionSource.BUNDLE in (a.condition.source, b.condition.source)
    if a.condition.machine != b.condition.machine or elsewhere:
        names.append(HOST)
    return (*names, *_subjects(differences))


def _subjects(differences: tuple[ConditionDifference, ...]) -> tuple[str, ...]:
    subjects = (_SUBJECTS.get(difference.subject, difference.subject) for difference in differences)
    return tuple(dict.fromkeys(subjects))


def _of_occasion(a: MeasuredCondition, b: MeasuredCondition) -> Iterator[str]:
    days = [_day(side.condition.started_at) for side in (a, b)]
    yield TIME if days[0] is not None and days[0] == days[1] else DAY
    if a.boot is None or a.boot != b.boot:
        yield BOOT


def _day(at_s: float | None) -> datetime.date | None:
    return None if at_s is None else datetime.datetime.fromtimestamp(at_s, datetime.UTC).date()


def _of_rows(a: Side, b: Side) -> Iterator[ConditionDifference]:
    """Yield the columns in which two rows of published tables differ."""
    left, right = ({} if isinstance(one, MeasuredCondition) else one.columns for one in (a, b))
    if not left or not right:
        return  # a study or a summary has no such columns
    for column in dict.fromkeys((*left, *right)):
        if left.get(column) != right.get(column):
            yield _difference(column, column, left.get(column), right.get(column))


def _of_arms(a: MeasuredCondition, b: MeasuredCondition) -> Iterator[ConditionDifference]:
    left, right = (dict(side.condition.settings or {}) for side in (a, b))
    for name in sorted(left.keys() | right.keys()):
        if left.get(name) != right.get(name):
            yield _difference("configuration", name, left.get(name), right.get(name))


def _of_programs(a: MeasuredCondition, b: MeasuredCondition) -> Iterator[ConditionDifference]:
    one, other = a.program, b.program
    if one is not None and other is not None and one != other:
        yield _difference("program", "digest", one[:_DIGEST_DIGITS], other[:_DIGEST_DIGITS])


def _of_strata(a: Stratum, b: Stratum) -> Iterator[ConditionDifference]:
    if a.cpus != b.cpus:
        yield _difference("usable CPUs", "cpus", format_list(a.cpus), format_list(b.cpus))
    if a.assay_version != b.assay_version:
        yield _difference("assay", "version", a.assay_version, b.assay_version)
    if not (a.host and b.host):  # else the machine documents contain them
        yield from _unlike("settings", a.default_state, b.default_state)
    yield from _unlike(
        "environment", _counted(a.launch_environment), _counted(b.launch_environment)
    )


def _counted(surroundings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in surroundings.items() if is_compared(name)}


def _unlike(
    subject: str, a: Mapping[str, str], b: Mapping[str, str]
) -> Iterator[ConditionDifference]:
    """Yield readings that differ; for variables only the names, since bundles lack the values."""
    for name in sorted(a.keys() | b.keys()):
        one, other = a.get(name), b.get(name)
        if name.startswith(VARIABLE_PREFIX):
            hidden = "" in (one, other)
            if one == other or (hidden and one is not None and other is not None):
                continue
            one, other = (None if value is None else "set" for value in (one, other))
            if one == other:
                one, other = "one value", "another value"
        if one != other:
            yield _difference(subject, name, one, other)


def _of_machines(a: Machine, b: Machine) -> Iterator[ConditionDifference]:
    for difference in machines.differences(
        machines.ComparedMachine(a), machines.ComparedMachine(b)
    ):
        yield ConditionDifference(
            subject=difference.subject,
            path=difference.path,
            a=difference.a,
            b=difference.b,
            numbers=difference.numbers,
        )
    left, right = (
        [word for word in one.boot.arguments if not _names_kernel(word)] for one in (a, b)
    )
    for word in dict.fromkeys((*left, *right)):
        if (word in left) is not (word in right):
            here, other_side = ("present" if word in one else None for one in (left, right))
            yield _difference("boot arguments", word, here, other_side)


def _names_kernel(word: str) -> bool:
    """Return whether a word of the command line only names the file of the kernel."""
    return word.startswith(("BOOT_IMAGE=", "initrd="))


def _difference(subject: str, name: str, a: object, b: object) -> ConditionDifference:
    left, right = (None if value is None else str(value) for value in (a, b))
    return ConditionDifference(subject=subject, path=name, a=left, b=right)
