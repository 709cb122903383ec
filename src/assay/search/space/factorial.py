"""Factorial designs: two levels of each setting, in all combinations or a fraction of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from assay.records import Configuration, Design, Parameter, Range, Space, Value
from assay.records.configuration import is_number
from assay.search.space.errors import MAX_CELLS, DesignError
from assay.search.space.fraction import Fraction, InvalidGeneratorError, fraction_of
from assay.search.space.search_space import SearchSpace
from assay.wording.space import fraction_note


def levels(parameter: Parameter) -> tuple[Value, Value]:
    """Return the low and the high level of a setting in a two-level design.

    Raises:
        DesignError: its domain does not have two ends.
    """
    domain = parameter.domain
    values = domain.values()
    if isinstance(domain, Range) and domain.low < domain.high:
        values = (values[0], values[-1]) if values else (domain.low, domain.high)
    if values is None or len(values) != 2:
        raise DesignError(
            ("settings", parameter.name),
            f"A factorial design needs two levels of each setting, and {parameter.name} has "
            f"{len(values or ())}.",
            f'Write {parameter.name} = [LOW, HIGH], or kind = "grid".',
        )
    return values[0], values[1]


def factorial_cells(
    design: Design, space: Space, bound: SearchSpace
) -> tuple[list[Configuration], list[str]]:
    """Return the cells of a full or fractional two-level design, with optional centre cells.

    Args:
        design: requested design.
        space: search space with the varied settings.
        bound: the same space, limited to configurations that the machine can grant.

    Returns:
        The cells, and notes on the fraction.

    Raises:
        DesignError: a setting does not have two levels or has a condition, a generator is invalid,
            there are too many cells, or one of them cannot be granted.
    """
    ends = [levels(p) for p in space.parameters]
    names = [p.name for p in space.parameters]
    for parameter in space.parameters:
        if parameter.condition:
            raise DesignError(
                ("settings", parameter.name),
                f"{parameter.name} has a condition, and a factorial design needs every setting in "
                "every cell.",
                'Remove `when`, or write kind = "grid".',
            )
    try:
        fraction = fraction_of(names, design.generators)
    except InvalidGeneratorError as error:
        raise DesignError(("design", "generators"), error.cause, error.remedy) from error
    if fraction.cells > MAX_CELLS:
        raise DesignError(
            ("design",),
            f"The full factorial design has {fraction.cells:,} cells, and the maximum is "
            f"{MAX_CELLS:,}.",
            "Run a fraction of it: resolution = 4, or generators.",
        )
    cells = [
        Configuration({name: ends[at][row[at] > 0] for at, name in enumerate(names)})
        for row in fraction.rows()
    ]
    notes = _fraction_notes(fraction)
    if design.centre:
        cells += _centre(space.parameters, ends)
    for cell in cells:
        if not bound.valid(cell):
            raise DesignError(
                ("constraints",) if space.constraints else ("settings",),
                f"A constraint or this machine excludes {cell}, and a factorial design needs every "
                "cell.",
                'Give compatible levels, or write kind = "grid".',
            )
    return cells, notes


def _fraction_notes(fraction: Fraction) -> list[str]:
    if fraction.resolution is None:
        return []
    return [fraction_note(fraction.cells, fraction.factors, fraction.resolution)]


def _centre(
    parameters: Sequence[Parameter], ends: Sequence[tuple[Value, Value]]
) -> Iterator[Configuration]:
    """Return the centre of all numeric settings, once for each combination of the others."""
    middles = [middle_value(p) for p in parameters]
    if all(middle is None for middle in middles):
        raise DesignError(
            ("design", "centre"),
            "No setting has a value between its two levels.",
            "Remove centre.",
        )
    columns = [pair if one is None else (one,) for one, pair in zip(middles, ends, strict=True)]
    names = [p.name for p in parameters]
    for values in itertools.product(*columns):
        yield Configuration(dict(zip(names, values, strict=True)))


def middle_value(parameter: Parameter) -> Value | None:
    """Return the centre value between the levels of a setting.

    For a logarithmic range it is the nearest value to the geometric mean.

    Returns:
        The value; ``None`` for names, and for numbers without a value between them.

    Raises:
        DesignError: see :func:`levels`.
    """
    low, high = levels(parameter)
    if not (is_number(low) and is_number(high)):
        return None
    domain = parameter.domain
    if not isinstance(domain, Range):
        least, most = sorted((float(low), float(high)))
        domain = Range(least, most, integer=isinstance(low, int) and isinstance(high, int))
    listed = [v for v in domain.values() or () if isinstance(v, int | float)]
    found: Value = domain.at(0.5)
    if listed:
        found = min(listed, key=lambda v: abs(domain.position(v) - 0.5))
    return None if found in (low, high) else found
