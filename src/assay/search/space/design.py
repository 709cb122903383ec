"""Design: the cells of a sweep, generated from a search space.

A *cell* sets every parameter of the space, except those whose condition does not hold in it. It
also states values that equal the default, since the result of a sweep is a table of values.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from assay.records import Arm, Configuration, Design, DesignKind, Space
from assay.search.space.errors import MAX_CELLS, DesignError
from assay.search.space.factorial import factorial_cells
from assay.search.space.grid import grid_cells
from assay.search.space.named_configurations import label_of, named_cells
from assay.search.space.search_space import SearchSpace
from assay.search.space.space_filling import hypercube_cells, random_cells


@dataclass(frozen=True)
class Layout:
    """The arms of a sweep, the baseline first, and the design with its omitted cells."""

    arms: tuple[Arm, ...]
    design: Design


def lay_out(
    design: Design, space: Space, bound: SearchSpace, baseline: Configuration, seed: int
) -> Layout:
    """Return the arms of a design.

    Args:
        design: requested design.
        space: search space of the cells.
        bound: the same space, limited to configurations that the machine can grant.
        baseline: reference configuration; it is added if it is not a cell.
        seed: seed of all random choices.

    Raises:
        DesignError: the design does not fit the space.
    """
    if space.named_configurations:
        return _lay_out_named(design, space, bound, baseline)
    if not space.parameters:
        raise DesignError(
            ("settings",), "The sweep varies no setting.", "Name settings with their values."
        )
    cells, notes = _cells(design, space, bound, seed)
    if not cells:
        raise DesignError(
            ("constraints",) if space.constraints else ("settings",),
            "The design has no cells: constraints or this machine exclude all of them.",
            "`assay settings list` shows the settings that this machine can grant.",
        )
    reference = bound.canonical(baseline)
    first = next((cell for cell in cells if bound.canonical(cell) == reference), baseline)
    configurations = [first, *(cell for cell in cells if cell != first)]
    if len(configurations) < 2:
        raise DesignError(
            ("settings",),
            "There is only one cell, and none to compare it with"
            f"{f' ({notes[0]})' if notes else ''}.",
            "Give a setting a second value.",
        )
    arms = tuple(Arm(name=str(c), configuration=c) for c in configurations)
    return Layout(arms, msgspec.structs.replace(design, notes=tuple(notes)))


def _lay_out_named(
    design: Design, space: Space, bound: SearchSpace, baseline: Configuration
) -> Layout:
    """Return the arms of named configurations, the baseline first."""
    arms, notes = named_cells(design, space, bound)
    if len(arms) > MAX_CELLS:
        raise DesignError(
            ("settings",),
            f"There are {len(arms):,} cells, and the maximum is {MAX_CELLS:,}.",
            "Give fewer values or fewer configurations.",
        )
    first = next((arm for arm in arms if arm.configuration == baseline), None)
    first = first or Arm(name=label_of(space, baseline) or str(baseline), configuration=baseline)
    others = [arm for arm in arms if arm != first]
    if not others:
        raise DesignError(
            ("configuration",),
            "There is only one cell, and none to compare it with.",
            "Name another configuration, or another baseline.",
        )
    return Layout((first, *others), msgspec.structs.replace(design, notes=tuple(notes)))


def _cells(
    design: Design, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """Return the cells without duplicates, and notes on omitted cells."""
    match design.kind:
        case DesignKind.GRID:
            return grid_cells(space, bound)
        case DesignKind.FACTORIAL:
            return factorial_cells(design, space, bound)
        case DesignKind.RANDOM:
            return random_cells(_number(design), space, bound, seed)
        case DesignKind.LATIN_HYPERCUBE:
            return hypercube_cells(_number(design), space, bound, seed)


def _number(design: Design) -> int:
    if design.n is None:
        raise DesignError(
            ("design",), f"A {design.kind} design needs n, the number of cells.", "Write n = 20."
        )
    if not 2 <= design.n <= MAX_CELLS:
        raise DesignError(
            ("design", "n"),
            f"Invalid number of cells: n = {design.n}.",
            f"Write a number from 2 to {MAX_CELLS:,}.",
        )
    return design.n
