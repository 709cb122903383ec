"""Spaces of any shape: canonical, valid, enumerated, repaired."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import DEFAULT, Choices, Configuration, Domain, Parameter, Range, Space, Value
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher

NAMES = ("arg.a", "arg.b", "arg.c", "arg.d")

domains: st.SearchStrategy[Domain] = st.one_of(
    st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True).map(
        lambda values: Choices(tuple(values))
    ),
    st.integers(0, 3).map(lambda low: Range(low, low + 3, step=1)),
    st.integers(0, 2).map(lambda k: Range(1, 2**k, step=2, log=True)),
)


@st.composite
def spaces(draw: st.DrawFn) -> SearchSpace:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    parameters = []
    for name in names:
        domain = draw(domains)
        values = domain.values() or ()
        default = draw(st.one_of(st.none(), st.sampled_from(values)))
        other = draw(st.sampled_from(names))
        when = draw(st.sampled_from([None, None, f"{other} > 1"]))
        parameters.append(Parameter(name=name, domain=domain, default=default, condition=when))
    texts = [f"{names[0]} + {names[-1]} < 6", f"{names[0]} <= {names[-1]}"]
    constraints = draw(st.lists(st.sampled_from(texts), max_size=1))
    return SearchSpace(Space(parameters=tuple(parameters), constraints=tuple(constraints)))


@st.composite
def settings_in(draw: st.DrawFn, space: SearchSpace) -> Configuration:
    values: dict[str, Value] = {}
    for name, parameter in space.parameters.items():
        value = draw(st.one_of(st.none(), st.sampled_from(parameter.domain.values() or ())))
        if value is not None:
            values[name] = value
    return Configuration(values)


@given(st.data())
def test_canonical_form_is_idempotent(data: st.DataObject) -> None:
    space = data.draw(spaces())
    canonical = space.canonical(data.draw(settings_in(space)))
    assert space.canonical(canonical) == canonical
    for name, value in canonical.items():
        assert value != space.parameters[name].default


@given(st.data())
def test_repair_returns_valid_configuration(data: st.DataObject) -> None:
    space = data.draw(spaces())
    asked = data.draw(settings_in(space))
    repaired = space.repair(asked, random.Random(0))
    assert space.valid(repaired) or repaired == DEFAULT
    assert space.canonical(repaired) == repaired
    if space.valid(space.canonical(asked)):
        assert repaired == space.canonical(asked)


@given(spaces())
@settings(max_examples=50)
def test_enumeration_and_draws_agree(space: SearchSpace) -> None:
    every = space.enumerate(10_000)
    assert every is not None
    assert every[0] == DEFAULT
    assert len(set(every)) == len(every)
    rng = random.Random(1)
    drawn = [space.draw(rng) for _ in range(30)]
    assert {c for c in drawn if c is not None} <= set(every)
    if any(space.valid(c) for c in every[1:]):
        assert None not in drawn


@given(spaces(), st.integers(1, 5), st.integers(0, 3))
@settings(max_examples=50)
def test_proposals_lie_in_the_space(space: SearchSpace, count: int, seed: int) -> None:
    every = space.enumerate(10_000) or []
    proposals = RandomSearcher().propose(space, [], count, seed)
    assert len(set(proposals)) == len(proposals) <= count
    assert set(proposals) <= set(every) - {DEFAULT}
    assert len(proposals) == min(count, len(every) - 1)


@given(spaces())
@settings(max_examples=50)
def test_neighbours_are_valid_and_one_parameter_away(space: SearchSpace) -> None:
    for configuration in (space.enumerate(10_000) or [])[:5]:
        for near in space.neighbours(configuration):
            assert near != configuration
            assert space.valid(near)
            assert space.canonical(near) == near
