"""``--parallel``: slots of CPUs for concurrent launches."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list
from assay.machine.slots import unassigned_cpus
from assay.records import Scope, Space
from assay.settings.registry import Registry
from assay.study.laboratory import Laboratory
from assay.units import show_count

SLOT_SCOPES = (Scope.PROGRAM, Scope.BUILD, Scope.PROCESS)
"""Scopes of a single launch; settings of other scopes affect concurrent launches as well."""
SHARED = ("cache",)
"""Settings of a launch that affect concurrent launches."""


def demand_apart(space: Space, registry: Registry) -> None:
    """Raise on a setting that affects concurrent launches.

    Raises:
        InvalidInputError: such a setting; names the first.
    """
    for parameter in space.parameters:
        if parameter.name in SHARED or registry.get(parameter.name).scope not in SLOT_SCOPES:
            raise InvalidInputError(
                f"{parameter.name} affects concurrent launches.",
                f"Leave out --parallel, or leave out {parameter.name}.",
            )


def slots_words(laboratory: Laboratory) -> str:
    """Return the slots, and their consequence for the program, as text."""
    slots = laboratory.slots
    rest = unassigned_cpus(laboratory.machine.usable, slots)
    lists = " and ".join(format_list(slot) for slot in slots)
    more = f"; {show_count(len(rest), 'CPU')} ({format_list(rest)}) left out" if rest else ""
    return (
        f"{len(slots)} slots, CPUs {lists}{more}: every launch has "
        f"{show_count(len(slots[0]), 'CPU')}, and the result holds for this number of CPUs"
    )
