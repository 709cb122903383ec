from __future__ import annotations

import math
import random

import pytest

from assay.errors import InvalidInputError
from assay.records import DEFAULT, Choices, Configuration, Parameter, Range, Space
from assay.search.space.search_space import SearchSpace
from assay.search.space.setting_count import MAX_SETTINGS, demand_searchable
from assay.testing.search_contracts import RandomSearcher, mixed_space, small_space


def of(*parameters: Parameter, constraints: tuple[str, ...] = ()) -> SearchSpace:
    return SearchSpace(Space(parameters=parameters, constraints=constraints))


def test_enumeration_is_complete_with_default_first() -> None:
    found = small_space().enumerate(1000)
    assert found is not None
    assert found[0] == DEFAULT
    expected = {
        (a, b, t)
        for a in (1, 2, 3)
        for b in (1, 2)
        for t in (None, 1, 2)
        if a + b < 5 and (a < 3 or t is None)
    }
    assert len(found) == len(set(found)) == len(expected)
    assert {(c.get("arg.a", 1), c.get("arg.b", 1), c.get("threads")) for c in found} == expected


def test_enumeration_stops_at_maximum() -> None:
    assert small_space().enumerate(12) is None
    assert len(small_space().enumerate(13) or []) == 13
    huge = of(*(Parameter(name=f"arg.p{i}", domain=Range(0, 99, step=1)) for i in range(9)))
    assert huge.enumerate(10_000) is None


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_nested_conditions_are_independent_of_order(order: tuple[int, ...]) -> None:
    parameters = (
        Parameter(name="arg.a", domain=Choices((0, 1)), default=0),
        Parameter(name="arg.b", domain=Choices((0, 1)), default=0, condition="arg.a == 1"),
        Parameter(name="arg.c", domain=Choices((0, 1)), default=0, condition="arg.b == 1"),
    )
    space = of(*(parameters[i] for i in order))
    assert space.canonical(Configuration({"arg.b": 1, "arg.c": 1})) == DEFAULT
    whole = Configuration({"arg.a": 1, "arg.b": 1, "arg.c": 1})
    assert space.canonical(whole) == whole
    assert len(space.enumerate(100) or []) == 4


def test_default_value_is_omitted() -> None:
    space = of(Parameter(name="arg.n", domain=Range(1, 4, step=1), default=1))
    assert space.canonical(Configuration({"arg.n": 1})) == DEFAULT
    assert space.canonical(Configuration({"arg.n": 2})) == Configuration({"arg.n": 2})


def test_true_differs_from_one() -> None:
    space = of(Parameter(name="arg.n", domain=Choices((1, 2)), default=1))
    assert space.canonical(Configuration({"arg.n": True})) != DEFAULT


def test_names_in_expressions_are_known() -> None:
    with pytest.raises(InvalidInputError, match="thraeds") as caught:
        of(Parameter(name="threads", domain=Choices((1, 2))), constraints=("thraeds < 2",))
    assert caught.value.remedy == "Did you mean threads?"
    with pytest.raises(InvalidInputError, match="nice"):
        of(Parameter(name="threads", domain=Choices((1, 2)), condition="nice == 0"))


def test_expressions_are_checked_before_a_study() -> None:
    """A value that cannot be compared would otherwise end the study midway."""
    mixed = Parameter(name="threads", domain=Choices((1, 2, "auto")))
    with pytest.raises(InvalidInputError, match="cannot be evaluated"):
        of(mixed, constraints=("threads < 2",))
    real = Parameter(name="arg.x", domain=Range(0.0, 1.0, integer=False))
    with pytest.raises(InvalidInputError, match="cannot be evaluated"):
        of(real, constraints=("1 / arg.x < 2",))


@pytest.mark.rotating
def test_narrow_constraints_end_a_draw() -> None:
    wide = Choices(tuple(range(100)))
    space = of(
        *(Parameter(name=f"arg.p{i}", domain=wide, default=0) for i in range(3)),
        constraints=("arg.p0 + arg.p1 + arg.p2 == 1000",),
    )
    assert space.draw(random.Random(0)) is None
    assert space.repair(Configuration({"arg.p0": 1}), random.Random(0)) == DEFAULT
    assert RandomSearcher().propose(space, [], 4, seed=0) == []


def test_repair_changes_as_few_settings_as_possible() -> None:
    space = mixed_space()
    broken = Configuration({"threads": 16, "arg.n": 2, "nice": 5})
    repaired = space.repair(broken, random.Random(1))
    assert space.valid(repaired)
    changed = {n for n in {*broken, *repaired} if broken.get(n) != repaired.get(n)}
    assert len(changed) == 1


def test_optional_real_number_can_become_unset() -> None:
    space = of(Parameter(name="arg.x", domain=Range(0.0, 1.0, integer=False)))
    assert DEFAULT in list(space.neighbours(Configuration({"arg.x": 0.5})))


def test_product_of_many_settings_is_infinite_without_overflow() -> None:
    many = [Parameter(name=f"arg.s{n}", domain=Choices((1, 2, 3, 4))) for n in range(600)]
    assert of(*many).raw_size() == math.inf
    assert of(*many).enumerate(10) is None


def test_settings_above_the_maximum_are_refused_with_the_number() -> None:
    parameters = tuple(
        Parameter(name=f"arg.s{n}", domain=Choices((1, 2))) for n in range(MAX_SETTINGS + 1)
    )
    demand_searchable(Space(parameters=parameters[1:]))
    with pytest.raises(InvalidInputError, match="301 settings, and the maximum is 300"):
        demand_searchable(Space(parameters=parameters))
