"""Grid: all combinations of all values."""

from __future__ import annotations

import itertools
import math

from assay.records import Configuration, Parameter, Space, Value
from assay.search.space.errors import MAX_CELLS, DesignError
from assay.search.space.search_space import SearchSpace
from assay.wording.space import excluded_cells_note

MAX_COMBINATIONS = 100_000
"""Maximum number of combinations of a grid that are checked against conditions and constraints."""


def grid_cells(space: Space, bound: SearchSpace) -> tuple[list[Configuration], list[str]]:
    """Return all combinations of all values, the last setting changing fastest.

    Args:
        space: search space with the varied settings.
        bound: the same space, limited to configurations that the machine can grant.

    Returns:
        The cells that can be granted, and notes on the others.

    Raises:
        DesignError: a setting has a continuous domain, or there are too many cells.
    """
    columns = [_listed(p) for p in space.parameters]
    combinations = math.prod(map(len, columns))
    if combinations > MAX_COMBINATIONS:
        raise DesignError(
            ("settings",),
            f"The grid has {combinations:,} combinations, and the maximum is {MAX_COMBINATIONS:,}.",
            f"Give fewer values, or draw up to {MAX_CELLS:,} of them: "
            'kind = "latin-hypercube" and n.',
        )
    names = [p.name for p in space.parameters]
    every = (
        bound.without_inactive(Configuration(dict(zip(names, values, strict=True))))
        for values in itertools.product(*columns)
    )
    cells = dict.fromkeys(every)
    kept: list[Configuration] = []
    for cell in cells:
        if bound.valid(cell):
            kept.append(cell)
        if len(kept) > MAX_CELLS:
            raise DesignError(
                ("settings",),
                f"The grid has {combinations:,} combinations and more than {MAX_CELLS:,} cells, "
                "the maximum.",
                'Give fewer values, or draw from them: kind = "latin-hypercube" and n.',
            )
    return kept, _lost(len(cells) - len(kept), len(cells))


def _listed(parameter: Parameter) -> tuple[Value, ...]:
    values = parameter.domain.values()
    if values is None:
        raise DesignError(
            ("settings", parameter.name),
            f"{parameter.name}={parameter.domain} has a continuous domain.",
            "A grid needs a step, or a list of values.",
        )
    return values


def _lost(lost: int, number: int) -> list[str]:
    return [excluded_cells_note(lost, number)] if lost else []
