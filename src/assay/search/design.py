"""Design: the cells of a sweep, laid out from a space.

A *cell* sets every parameter of the space, but those whose condition does not hold in it. Its
values are those of the file, the default's own among them: what a sweep shows is a table of values.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from assay.errors import BadInput
from assay.records import (
    Arm,
    Configuration,
    Design,
    DesignKind,
    Parameter,
    Range,
    Space,
    Value,
)
from assay.search.fraction import BadGenerator, Fraction, fraction_of
from assay.search.space import SearchSpace
from assay.units import show_count

MOST_CELLS = 1000
"""More cells than this are no design: one block of them takes longer than most budgets."""
MOST_COMBINATIONS = 100_000
"""Of a grid, that are held against conditions and constraints."""
DRAWS_EACH = 100
"""Random configurations that are tried for each cell that is asked for."""
CANDIDATES = 30
"""Latin hypercubes of which the one is taken whose nearest points lie farthest apart."""


class Unfit(BadInput):
    """A space and a design that do not go together.

    Attributes:
        key: what has to be changed, as the path to it in a sweep file.
    """

    def __init__(self, key: tuple[str, ...], cause: str, remedy: str | None = None) -> None:
        super().__init__(cause, remedy)
        self.key = key


@dataclass(frozen=True)
class Layout:
    """The arms of a sweep, the baseline first, and the design with what it left out."""

    arms: tuple[Arm, ...]
    design: Design


def lay_out(
    design: Design, space: Space, bound: SearchSpace, baseline: Configuration, seed: int
) -> Layout:
    """The arms that a design asks for.

    Args:
        design: as asked.
        space: what cells are drawn from.
        bound: the same space with what can be granted here.
        baseline: the reference; where it is no cell it stands beside them.
        seed: of every random choice.

    Raises:
        Unfit: they do not go together; names the key.
    """
    if not space.parameters:
        raise Unfit(("settings",), "There is nothing to vary.", "Name settings with their values.")
    cells, notes = _cells(design, space, bound, seed)
    if not cells:
        raise Unfit(
            ("constraints",) if space.constraints else ("settings",),
            "There is no cell: every one is ruled out by a constraint, or cannot be granted here.",
            "`assay settings list` shows what can be granted.",
        )
    reference = bound.canonical(baseline)
    first = next((cell for cell in cells if bound.canonical(cell) == reference), baseline)
    configurations = [first, *(cell for cell in cells if cell != first)]
    if len(configurations) < 2:
        raise Unfit(
            ("settings",),
            "There is only one cell, and nothing to hold it against"
            f"{f' ({notes[0]})' if notes else ''}.",
            "Give a setting a second value.",
        )
    arms = tuple(Arm(name=str(c), configuration=c) for c in configurations)
    return Layout(arms, msgspec.structs.replace(design, notes=tuple(notes)))


def _cells(
    design: Design, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """The cells without duplicates, and what is to be said of those that are missing."""
    match design.kind:
        case DesignKind.GRID:
            return _grid(space, bound)
        case DesignKind.FACTORIAL:
            return _factorial(design, space, bound)
        case DesignKind.RANDOM:
            return _random(_number(design), space, bound, seed)
        case DesignKind.LATIN_HYPERCUBE:
            return _latin_hypercube(_number(design), space, bound, seed)


def _number(design: Design) -> int:
    if design.n is None:
        raise Unfit(
            ("design",), f"A {design.kind} design needs n, the number of cells.", "Write n = 20."
        )
    if not 2 <= design.n <= MOST_CELLS:
        raise Unfit(
            ("design", "n"),
            f"n = {design.n} is no number of cells.",
            f"It takes 2 to {MOST_CELLS:,}.",
        )
    return design.n


# --- grid -----------------------------------------------------------------------------------------


def _grid(space: Space, bound: SearchSpace) -> tuple[list[Configuration], list[str]]:
    """Every combination of all values, the last setting changing fastest."""
    columns = [_listed(p) for p in space.parameters]
    combinations = math.prod(map(len, columns))
    if combinations > MOST_COMBINATIONS:
        raise Unfit(
            ("settings",),
            f"The grid has {combinations:,} combinations.",
            f"Give fewer values, or draw up to {MOST_CELLS:,} of them: "
            'kind = "latin-hypercube" and n.',
        )
    names = [p.name for p in space.parameters]
    every = (
        bound.without_idle(Configuration(dict(zip(names, values, strict=True))))
        for values in itertools.product(*columns)
    )
    cells = list(dict.fromkeys(every))
    kept = [cell for cell in cells if bound.valid(cell)]
    if len(kept) > MOST_CELLS:
        raise Unfit(
            ("settings",),
            f"The grid has {len(kept):,} cells, and a sweep takes {MOST_CELLS:,} at most.",
            'Give fewer values, or draw from them: kind = "latin-hypercube" and n.',
        )
    return kept, _lost(len(cells) - len(kept), len(cells), "cell")


def _listed(parameter: Parameter) -> tuple[Value, ...]:
    values = parameter.domain.values()
    if values is None:
        raise Unfit(
            ("settings", parameter.name),
            f"{parameter.name}={parameter.domain} has no values that could be counted.",
            "A grid needs a step, or a list of values.",
        )
    return values


def _lost(lost: int, number: int, noun: str) -> list[str]:
    if not lost:
        return []
    verb = "is" if lost == 1 else "are"
    return [
        f"{lost} of {show_count(number, noun)} {verb} ruled out by a constraint, or cannot be "
        "granted here"
    ]


# --- factorial ------------------------------------------------------------------------------------


def levels(parameter: Parameter) -> tuple[Value, Value]:
    """The low and the high level of a setting in a two-level design.

    Raises:
        Unfit: its domain has not two ends.
    """
    domain = parameter.domain
    values = domain.values()
    if isinstance(domain, Range) and domain.low < domain.high:
        values = (values[0], values[-1]) if values else (domain.low, domain.high)
    if values is None or len(values) != 2:
        raise Unfit(
            ("settings", parameter.name),
            f"A factorial design takes two levels of each setting, and {parameter.name} has "
            f"{len(values or ())}.",
            f'Write {parameter.name} = [LOW, HIGH], or kind = "grid".',
        )
    return values[0], values[1]


def _factorial(
    design: Design, space: Space, bound: SearchSpace
) -> tuple[list[Configuration], list[str]]:
    ends = [levels(p) for p in space.parameters]
    names = [p.name for p in space.parameters]
    for parameter in space.parameters:
        if parameter.when:
            raise Unfit(
                ("settings", parameter.name),
                f"{parameter.name} has a condition, and a factorial design needs every setting in "
                "every cell.",
                'Leave `when` out, or write kind = "grid".',
            )
    try:
        fraction = fraction_of(names, design.generators)
    except BadGenerator as error:
        raise Unfit(("design", "generators"), error.cause, error.remedy) from error
    if fraction.cells > MOST_CELLS:
        raise Unfit(
            ("design",),
            f"The full factorial design has {fraction.cells:,} cells.",
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
            raise Unfit(
                ("constraints",) if space.constraints else ("settings",),
                f"{cell} is ruled out by a constraint, or cannot be granted here, and a factorial "
                "design needs every cell.",
                'Give levels that go together, or write kind = "grid".',
            )
    return cells, notes


def _fraction_notes(fraction: Fraction) -> list[str]:
    if fraction.resolution is None:
        return []
    return [
        f"a fraction of {fraction.cells} out of {2**fraction.factors:,} cells, of resolution "
        f"{fraction.resolution}"
    ]


def _centre(
    parameters: Sequence[Parameter], ends: Sequence[tuple[Value, Value]]
) -> Iterator[Configuration]:
    """The middle of all that has one, once for each combination of what has none."""
    middles = [_middle(p, *pair) for p, pair in zip(parameters, ends, strict=True)]
    if all(middle is None for middle in middles):
        raise Unfit(
            ("design", "centre"),
            "No setting has a value in the middle between its ends.",
            "Leave centre out.",
        )
    columns = [
        pair if middle is None else (middle,) for middle, pair in zip(middles, ends, strict=True)
    ]
    names = [p.name for p in parameters]
    for values in itertools.product(*columns):
        yield Configuration(dict(zip(names, values, strict=True)))


def _middle(parameter: Parameter, low: Value, high: Value) -> Value | None:
    """The value in the middle: of a logarithmic range the geometric mean, as near as it goes.

    ``None`` for what is no number, and for numbers with nothing between them.
    """
    if not (_is_number(low) and _is_number(high)):
        return None
    domain = parameter.domain
    if not isinstance(domain, Range):
        least, most = sorted((float(low), float(high)))
        domain = Range(least, most, integer=isinstance(low, int) and isinstance(high, int))
    listed = [v for v in domain.values() or () if isinstance(v, int | float)]
    middle: Value = domain.at(0.5)
    if listed:
        middle = min(listed, key=lambda v: abs(domain.place(v) - 0.5))
    return None if middle in (low, high) else middle


def _is_number(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- random ---------------------------------------------------------------------------------------


def _random(
    n: int, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """Distinct cells, each value of a setting as likely as any other."""
    rng = random.Random(f"{seed}/random")
    axes = _axes(space)
    found: dict[Configuration, None] = {}
    for _ in range(DRAWS_EACH * n):
        if len(found) == n:
            break
        cell = _cell_at(axes, bound, [rng.random() for _ in axes])
        if bound.valid(cell):
            found.setdefault(cell)
    return list(found), _few(len(found), n)


def _few(found: int, n: int) -> list[str]:
    if found == n:
        return []
    return [
        f"the settings have no more than {show_count(found, 'cell')} of the {n} that were asked for"
    ]


@dataclass(frozen=True)
class _Axis:
    """A setting as one dimension of the unit cube; of listed values all get the same room."""

    name: str
    domain: Range | None
    values: tuple[Value, ...]

    def at(self, share: float) -> Value:
        """The value at ``share``, from 0 and below 1."""
        if self.domain is not None:
            return self.domain.at(share)
        return self.values[int(share * len(self.values))]


def _axes(space: Space) -> list[_Axis]:
    found = []
    for parameter in space.parameters:
        values = parameter.domain.values()
        continuous = parameter.domain if isinstance(parameter.domain, Range) else None
        found.append(_Axis(parameter.name, None if values else continuous, values or ()))
    return found


def _cell_at(axes: Sequence[_Axis], bound: SearchSpace, place: Sequence[float]) -> Configuration:
    """The cell at a place in the unit cube."""
    values = {axis.name: axis.at(share) for axis, share in zip(axes, place, strict=True)}
    return bound.without_idle(Configuration(values))


# --- Latin hypercube ------------------------------------------------------------------------------


def _latin_hypercube(
    n: int, space: Space, bound: SearchSpace, seed: int
) -> tuple[list[Configuration], list[str]]:
    """Of a few Latin hypercubes the one that loses the fewest cells, then the most spread out.

    Points that fall into one cell of a coarse domain are one; so a list of four values and n = 10
    gives the two to three points that each value has.
    """
    rng = random.Random(f"{seed}/latin-hypercube")
    axes = _axes(space)
    best: tuple[int, float, list[Configuration]] | None = None
    for _ in range(CANDIDATES):
        points = latin_hypercube(n, len(axes), rng)
        drawn = dict.fromkeys(_cell_at(axes, bound, point) for point in points)
        cells = [cell for cell in drawn if bound.valid(cell)]
        rank = (len(cells), least_distance(points))
        if best is None or rank > best[:2]:
            best = (*rank, cells)
    assert best is not None
    cells = best[2]
    if len(cells) == n:
        return cells, []
    return cells, [
        f"{n} points fall into {show_count(len(cells), 'cell')}: others have the same values, "
        "break a constraint, or cannot be granted here"
    ]


def latin_hypercube(n: int, dimensions: int, rng: random.Random) -> list[tuple[float, ...]]:
    """``n`` points in the unit cube, one in each of ``n`` equal slices of every dimension.

    McKay, Beckman and Conover, Technometrics 21:239 (1979).
    """
    columns = []
    for _ in range(dimensions):
        slices = list(range(n))
        rng.shuffle(slices)
        columns.append([(at + rng.random()) / n for at in slices])
    return list(zip(*columns, strict=True))


def least_distance(points: Sequence[tuple[float, ...]]) -> float:
    """Between the two nearest points: the larger the more evenly they fill the cube.

    Johnson, Moore and Ylvisaker, Journal of Statistical Planning and Inference 26:131 (1990).
    """
    import numpy as np

    places = np.array(points)
    nearest = math.inf
    for at in range(1, len(places)):
        nearest = min(nearest, float(np.min(np.sum((places[:at] - places[at]) ** 2, axis=1))))
    return math.sqrt(nearest)
