"""Projection of earlier configurations to any later space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from test_space import settings_in, spaces

from assay.records import DEFAULT, Configuration, EarlierConfiguration, EarlierStudy
from assay.search.model.warm_start import first_proposals, limit_results, project
from assay.search.space.search_space import SearchSpace, same_value


def as_launched(configuration: Configuration, space: SearchSpace) -> dict[str, object]:
    """Return the values of a launch, including known defaults."""
    known = {n: p.default for n, p in space.parameters.items() if p.default is not None}
    return {**known, **configuration}


@given(st.data())
def test_projected_configuration_is_valid_and_equivalent(data: st.DataObject) -> None:
    theirs, ours = data.draw(spaces()), data.draw(spaces())
    before = theirs.canonical(data.draw(settings_in(theirs)))
    found = project(before, theirs.parameters.values(), ours)
    if found is None:
        return
    assert ours.valid(found)
    assert ours.canonical(found) == found
    launched = as_launched(before, theirs)
    for name, value in found.items():
        assert value in ours.parameters[name].domain
        assert same_value(value, launched[name])  # type: ignore[arg-type]


@given(st.data())
def test_projection_to_same_space_is_identity(data: st.DataObject) -> None:
    space = data.draw(spaces())
    before = space.canonical(data.draw(settings_in(space)))
    found = project(before, space.parameters.values(), space)
    if space.valid(before):
        assert found == before
    else:
        assert found is None


ratios = st.one_of(st.none(), st.floats(-2.0, 2.0))


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), ratios)), max_size=4),
    st.integers(0, 9),
)
def test_first_proposals_are_distinct_and_better(
    studies: list[list[tuple[int, int, float | None]]], count: int
) -> None:
    earlier = [
        EarlierStudy(
            study=str(i),
            command="x",
            known_configurations=tuple(
                EarlierConfiguration(configuration=Configuration({"a": a, "b": b}), log_ratio=ratio)
                for a, b, ratio in known
            ),
        )
        for i, known in enumerate(studies)
    ]
    found = first_proposals(earlier, count)
    assert len(found) == len(set(found)) <= count
    assert DEFAULT not in found
    better = {
        k.configuration
        for one in earlier
        for k in one.known_configurations
        if k.log_ratio is not None and k.log_ratio < 0.0
    }
    assert set(found) <= better
    assert len(found) == min(count, len(better)), "as many as there are"


@given(st.integers(2, 20), st.integers(0, 60))
def test_results_are_limited_to_maximum(most: int, size: int) -> None:
    known = [
        EarlierConfiguration(configuration=Configuration({"n": i}), log_ratio=float(i))
        for i in range(size)
    ]
    kept = limit_results(known, most)
    assert len(kept) == len({k.configuration for k in kept}) == min(most, size)
    assert kept[:1] == tuple(known[:1])
