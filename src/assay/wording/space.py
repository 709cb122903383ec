"""Space: sentences on cells of a design and on hard-to-change settings."""

from __future__ import annotations

from assay.records import SwitchingCost
from assay.units import show_count, show_duration

EXPRESSION_EXAMPLE = "Write for example 'threads * arg.n <= 8' or 'malloc == \"jemalloc\"'."


def few_cells_note(cells: int, requested: int) -> str:
    """Return a note on a space with fewer cells than requested.

    Args:
        cells, requested: cells of the space, and requested cells.
    """
    return f"the settings have only {show_count(cells, 'cell')} of the {requested} requested"


def merged_points_note(points: int, cells: int) -> str:
    """Return a note on points of a design that are not all distinct valid cells.

    Args:
        points, cells: points of the design, and their cells.
    """
    return (
        f"{points} points give {show_count(cells, 'cell')}: the others have equal values, violate "
        "a constraint, or are not available on this machine"
    )


def excluded_cells_note(excluded: int, cells: int) -> str:
    """Return a note on cells of a grid that cannot run.

    Args:
        excluded, cells: cells that cannot run, and all cells of the grid.
    """
    verb = "violates" if excluded == 1 else "violate"
    return (
        f"{excluded} of {show_count(cells, 'cell')} {verb} a constraint, or {_is(excluded)} not "
        "available on this machine"
    )


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def fraction_note(cells: int, factors: int, resolution: str) -> str:
    """Return a note on a fractional factorial design.

    Args:
        cells: cells of the fraction.
        factors: number of factors.
        resolution: resolution of the design, in Roman numerals.
    """
    return f"a fraction of {cells} out of {2**factors:,} cells, of resolution {resolution}"


def switching_words(found: SwitchingCost) -> str:
    """Return the cost of changing settings: ``36 applications of machine.smt took 72 s``.

    Args:
        found: applications, boots and time of a study.
    """
    names, time = ", ".join(found.settings), show_duration(found.time_s)
    times = show_count(found.changes, "application")
    if not found.boot_count:
        return f"{times} of {names} took {time}"
    changes_text = f", and {times} that took {time}" if found.changes else ""
    return f"{show_count(found.boot_count, 'boot')}{changes_text}, for {names}"
