"""``--parallel``: the CPUs divided into slots, for launches side by side."""

from __future__ import annotations

import argparse

from assay.cli.parsing.option_values import parse_count
from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list
from assay.machine.slots import unassigned_cpus
from assay.records import Scope, Space
from assay.settings.registry import Registry
from assay.study.laboratory import Laboratory
from assay.units import show_count

MOST = 1024
APART = (Scope.PROGRAM, Scope.BUILD, Scope.PROCESS)
"""What belongs to one launch; all else would be changed under those beside it."""
SHARED = ("cache",)
"""Settings of a launch that act on what launches share."""


def parallel_of(arguments: argparse.Namespace) -> int | None:
    """Into how many slots the CPUs are to be divided; ``None`` where that was not asked for.

    Raises:
        InvalidInputError: no number from 2 on.
    """
    if arguments.parallel is None:
        return None
    found = parse_count("--parallel", arguments.parallel, MOST, "slots", "--parallel 2")
    if found < 2:
        raise InvalidInputError(
            "--parallel takes a number from 2 on, not 1.",
            "Leave it out: launches then run one after another, with all CPUs.",
        )
    return found


def demand_apart(space: Space, registry: Registry) -> None:
    """Refuse settings that launches side by side cannot have each for itself.

    Raises:
        InvalidInputError: names the first.
    """
    for parameter in space.parameters:
        if parameter.name in SHARED or registry.get(parameter.name).scope not in APART:
            raise InvalidInputError(
                f"{parameter.name} acts on what launches side by side share.",
                f"Leave out --parallel, or leave out {parameter.name}.",
            )


def slots_words(laboratory: Laboratory) -> str:
    """Into what the CPUs are divided, and what that means for a program."""
    slots = laboratory.slots
    rest = unassigned_cpus(laboratory.machine.usable, slots)
    lists = " and ".join(format_list(slot) for slot in slots)
    more = f"; {show_count(len(rest), 'CPU')} ({format_list(rest)}) left out" if rest else ""
    return (
        f"{len(slots)} slots, CPUs {lists}{more}: every launch has "
        f"{show_count(len(slots[0]), 'CPU')}, and what is found holds for a program that has as "
        "many"
    )
