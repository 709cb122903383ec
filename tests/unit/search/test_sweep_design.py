"""Designs: the cells of a sweep."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Choices, Configuration, Design, DesignKind, Parameter, Range, Space, Value
from assay.search.space.design import Layout, lay_out
from assay.search.space.errors import MAX_CELLS, DesignError
from assay.search.space.factorial import levels
from assay.search.space.fraction import Fraction, InvalidGeneratorError, fraction_of, generators_for
from assay.search.space.search_space import SearchSpace
from assay.search.space.space_filling import latin_hypercube, min_distance

DEFAULT = Configuration()


def choices(name: str, *values: Value, condition: str | None = None) -> Parameter:
    """Return a setting with listed values; the first of ``arg.NAME`` is its default."""
    default = values[0] if name.startswith("arg.") else None
    return Parameter(name=name, domain=Choices(values), default=default, condition=condition)


def laid(
    design: Design,
    *parameters: Parameter,
    baseline: Configuration = DEFAULT,
    constraints: tuple[str, ...] = (),
    seed: int = 0,
) -> Layout:
    space = Space(parameters=parameters, constraints=constraints)
    return lay_out(design, space, SearchSpace(space), baseline, seed)


def cells(layout: Layout) -> list[dict[str, Value]]:
    return [dict(arm.configuration) for arm in layout.arms]


GRID = Design(kind=DesignKind.GRID)


def test_baseline_among_the_cells_is_not_repeated() -> None:
    n, malloc = choices("arg.n", 1, 2), choices("malloc", "jemalloc", "tcmalloc")
    found = cells(laid(GRID, n, malloc))
    assert found[0] == {}
    assert len(found) == 5
    chosen = Configuration({"arg.n": 2, "malloc": "tcmalloc"})
    found = cells(laid(GRID, n, malloc, baseline=chosen))
    assert found[0] == {"arg.n": 2, "malloc": "tcmalloc"}
    assert len(found) == 4
    # The default of arg.n is known, so leaving it out gives the same launch.
    partly = Configuration({"malloc": "tcmalloc"})
    assert cells(laid(GRID, n, malloc, baseline=partly))[0] == {"arg.n": 1, "malloc": "tcmalloc"}


def test_cells_differing_in_inactive_settings_are_merged() -> None:
    threads = choices("threads", 1, 2)
    bind = choices("omp.bind", "close", "spread", condition="threads > 1")
    found = cells(laid(GRID, threads, bind))
    assert found == [
        {},
        {"threads": 1},
        {"threads": 2, "omp.bind": "close"},
        {"threads": 2, "omp.bind": "spread"},
    ]


def test_factorial_levels_are_domain_ends() -> None:
    assert levels(Parameter(name="a", domain=Range(1, 10, step=2, log=True))) == (1, 8)
    assert levels(Parameter(name="a", domain=Range(0.1, 10, log=True, integer=False))) == (0.1, 10)
    assert levels(choices("a", "x", "y")) == ("x", "y")
    for domain in (Choices((1,)), Choices((1, 2, 3)), Range(3, 3, step=1)):
        with pytest.raises(DesignError) as caught:
            levels(Parameter(name="a", domain=domain))
        assert caught.value.key == ("settings", "a")


def test_centre_is_midway_between_numeric_levels() -> None:
    design = Design(kind=DesignKind.FACTORIAL, centre=True)
    found = cells(
        laid(
            design,
            Parameter(name="arg.a", domain=Range(1, 64, step=2, log=True), default=1),
            choices("arg.b", 10, 20),
            choices("arg.c", 0.5, 1.0),
            choices("arg.d", 1, 2),
        )
    )
    assert found[16:] == [{"arg.a": 8, "arg.b": 15, "arg.c": 0.75, "arg.d": d} for d in (1, 2)]


@given(st.integers(0, 99), st.integers(2, 40), st.integers(1, 5))
def test_latin_hypercubes_have_one_point_in_each_slice(seed: int, n: int, dimensions: int) -> None:
    points = latin_hypercube(n, dimensions, random.Random(seed))
    for column in zip(*points, strict=True):
        assert sorted(int(u * n) for u in column) == list(range(n))
    every = itertools.combinations(points, 2)
    assert min_distance(points) == pytest.approx(min(math.dist(*pair) for pair in every))


def test_latin_hypercube_covers_each_setting_evenly() -> None:
    design = Design(kind=DesignKind.LATIN_HYPERCUBE, n=30)
    wide = Parameter(name="arg.n", domain=Range(1, 10_000, log=True), default=1)
    layout = laid(design, wide, choices("malloc", "a", "b", "c"), seed=4)
    drawn = cells(layout)[1:]
    assert len(drawn) == 30
    assert not layout.design.notes
    for letter in "abc":
        assert sum(cell["malloc"] == letter for cell in drawn) == 10
    logs = sorted(math.log10(float(cell["arg.n"])) for cell in drawn)
    assert all(abs(log - 4 * (at + 0.5) / 30) < 0.25 for at, log in enumerate(logs))


def test_drawn_cells_satisfy_constraints_and_missing_ones_are_noted() -> None:
    pair = (choices("arg.a", *range(8)), choices("arg.b", *range(8)))
    for kind in (DesignKind.RANDOM, DesignKind.LATIN_HYPERCUBE):
        design = Design(kind=kind, n=20)
        layout = laid(design, *pair, constraints=("arg.a <= arg.b",))
        found = cells(layout)[1:]
        assert all(cell["arg.a"] <= cell["arg.b"] for cell in found)
        assert len({tuple(cell.items()) for cell in found}) == len(found)
        if kind is DesignKind.RANDOM:
            assert len(found) >= 19  # the baseline may be one of the twenty
    few = laid(Design(kind=DesignKind.RANDOM, n=200), *pair)
    assert len(few.arms) == 64
    assert few.design.notes == ("the settings have only 64 cells of the 200 requested",)


@pytest.mark.parametrize("n", [None, 1, MAX_CELLS + 1])
def test_drawn_design_requires_number_of_cells(n: int | None) -> None:
    with pytest.raises(DesignError):
        laid(Design(kind=DesignKind.RANDOM, n=n), choices("arg.a", 1, 2))


# --- fractions ------------------------------------------------------------------------------------


def test_full_design_is_in_standard_order() -> None:
    rows = list(Fraction(3).rows())
    assert rows[:4] == [(-1, -1, -1), (1, -1, -1), (-1, 1, -1), (1, 1, -1)]
    assert len(set(rows)) == 8
    assert Fraction(3).resolution is None


@pytest.mark.parametrize(
    ("factors", "generators", "resolution"),
    [
        # Box, Hunter and Hunter 2005, table 6.22
        ("abc", ["c = a * b"], "III"),
        ("abcd", ["d = a * b * c"], "IV"),
        ("abcde", ["e = a * b * c * d"], "V"),
        ("abcde", ["d = a * b", "e = a * c"], "III"),
        ("abcdef", ["e = a * b * c", "f = b * c * d"], "IV"),
        ("abcdefg", ["d = a*b", "e = a*c", "f = b*c", "g = a*b*c"], "III"),
        ("abcdefgh", ["g = a*b*c*d", "h = -a*b*e*f"], "V"),
    ],
)
def test_resolutions_match_published_tables(
    factors: str, generators: list[str], resolution: str
) -> None:
    found = fraction_of(list(factors), generators)
    assert found.resolution == resolution
    rows = list(found.rows())
    assert len(set(rows)) == len(rows) == 2 ** (len(factors) - len(generators))
    for column in zip(*rows, strict=True):
        assert sum(column) == 0
    for a, b in itertools.combinations(zip(*rows, strict=True), 2):
        assert sum(x * y for x, y in zip(a, b, strict=True)) == 0


def test_generated_factor_is_product_of_its_generator() -> None:
    for sign in (1, -1):
        found = fraction_of(["x.a", "b", "c"], [f"c = {'-' if sign < 0 else ''}x.a * b"])
        assert all(c == sign * a * b for a, b, c in found.rows())


@pytest.mark.parametrize(
    ("factors", "resolution", "cells"),
    # The smallest existing fractions, from the same table.
    [(3, 3, 4), (5, 3, 8), (7, 3, 8), (7, 4, 16), (8, 4, 16), (5, 5, 16), (8, 5, 64), (11, 5, 128)],
)
def test_smallest_fraction_is_found(factors: int, resolution: int, cells: int) -> None:
    names = [f"f{number}" for number in range(factors)]
    found = fraction_of(names, generators_for(names, resolution))
    assert found.cells == cells
    assert (found.min_word_length or 99) >= resolution


def test_insufficient_fraction_gives_full_design() -> None:
    assert generators_for(["a", "b", "c"], 4) == ()


@pytest.mark.parametrize(
    ("generators", "match"),
    [
        (["c"], "Invalid generator"),
        (["c = a"], "resolution 2"),
        (["c = a * d"], ": d"),
        (["q = a * b"], ": q"),
        (["c = a * a"], "twice"),
        (["c = c * a"], "by itself"),
        (["c = a * b", "c = a * b"], "two generators"),
        (["c = a * b", "b = a * c"], "generator itself"),
        (["b = a", "c = a"], "resolution 2"),
    ],
)
def test_invalid_generators_are_rejected(generators: list[str], match: str) -> None:
    with pytest.raises(InvalidGeneratorError, match=match):
        fraction_of(["a", "b", "c"], generators)


def test_too_many_factors_are_rejected_immediately() -> None:
    names = [f"f{number}" for number in range(40)]
    with pytest.raises(InvalidGeneratorError, match="not supported"):
        generators_for(names, 3)
    with pytest.raises(InvalidGeneratorError, match="not supported"):
        fraction_of(names, [f"f{n} = f0 * f1" for n in range(2, 40)])
    with pytest.raises(DesignError, match=r"1,099,511,627,776 cells"):
        laid(Design(kind=DesignKind.FACTORIAL), *(choices(f"arg.{n}", 0, 1) for n in names))
