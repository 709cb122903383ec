"""Requirements read back, and laxer bounds are satisfied at least as often."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.records import Bound, Metric, Requirement, RequirementVerdict
from assay.records.workload import BUILT_IN
from assay.search.claims.requirement import decide_requirement, launches_needed, parse_requirement
from assay.search.history.slack import slack
from assay.stats.share import share_interval
from assay.wording.requirement import requirement_text

FPS = Metric(name="fps", unit="1/s", pattern="x")
METRICS = BUILT_IN | {"fps": FPS}
BOUNDS = st.sampled_from(list(Bound))
QUANTILES = st.integers(1, 999).map(lambda n: n / 1000)
SECONDS = st.floats(1e-9, 1e9)
BYTES = st.integers(1, 2**53).map(float)
NUMBERS = st.floats(-1e300, 1e300)


def requirements(metric: str, limits: st.SearchStrategy[float]) -> st.SearchStrategy[Requirement]:
    return st.builds(
        Requirement, metric=st.just(metric), bound=BOUNDS, limit=limits, quantile=QUANTILES
    )


ANY = st.one_of(
    requirements("wall_s", SECONDS),
    requirements("peak_anon_bytes", BYTES),
    requirements("peak_anon_bytes", st.integers(1, 2**40).map(lambda n: float(n * 2**17))),
    requirements("fps", NUMBERS),
    requirements("page_faults", st.floats(1e-9, 1e12)),
)


@given(ANY)
def test_written_requirement_reads_back(requirement: Requirement) -> None:
    unit = METRICS[requirement.metric].unit
    text = requirement_text(requirement, unit)
    found = parse_requirement(text, METRICS)
    assert (found.metric, found.bound, found.limit) == (
        requirement.metric,
        requirement.bound,
        requirement.limit,
    )
    assert abs(found.quantile - requirement.quantile) < 1e-9
    assert requirement_text(found, unit) == text


RANK = {
    RequirementVerdict.BROKEN: 0,
    RequirementVerdict.UNCLEAR: 1,
    RequirementVerdict.HOLDS: 2,
}


@given(
    st.lists(st.floats(0.1, 10.0), min_size=1, max_size=60),
    st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 10.0)),
    BOUNDS,
    st.sampled_from([0.5, 0.75, 0.9, 0.1]),
)
def test_laxer_bound_is_satisfied_at_least_as_often(
    values: list[float], limits: tuple[float, float], bound: Bound, quantile: float
) -> None:
    tight, lax = sorted(limits, reverse=bound is Bound.AT_LEAST)

    def verdict(limit: float) -> int:
        one = Requirement(metric="wall_s", bound=bound, limit=limit, quantile=quantile)
        kept = sum(map(one.is_met_by, values))
        return RANK[decide_requirement(kept, kept, len(values), one.share, 0.05)]

    assert verdict(tight) <= verdict(lax)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 20), st.sampled_from([0.5, 0.9]))
def test_unknown_launches_never_decide(kept: int, broke: int, lost: int, share: float) -> None:
    """Whichever way the launches without a value went, the verdict would not be the other one."""
    launches = kept + broke + lost
    found = decide_requirement(kept, kept + lost, launches, share, 0.05)
    for really in (kept, kept + lost):
        true = decide_requirement(really, really, launches, share, 0.05)
        assert {found, true} != {RequirementVerdict.HOLDS, RequirementVerdict.BROKEN}
    ends = share_interval(kept, kept + lost, launches, 0.05)
    assert 0.0 <= ends.lo <= ends.hi <= 1.0
    assert (found is RequirementVerdict.HOLDS) <= (ends.lo >= share - 1e-9)
    assert (found is RequirementVerdict.BROKEN) <= (ends.hi <= share + 1e-9)


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.5, 0.9]))
def test_stated_number_of_launches_decides(launches: int, beyond: int, share: float) -> None:
    kept = max(0, launches - beyond)
    needed = launches_needed(kept, launches, share, 0.05)
    if needed is not None:
        done = round(kept * needed / launches)
        assert needed >= launches
        assert decide_requirement(done, done, needed, share, 0.05) is not RequirementVerdict.UNCLEAR


@given(st.floats(-100, 100), st.floats(-100, 100), BOUNDS)
def test_slack_has_the_sign_of_the_requirement(value: float, limit: float, bound: Bound) -> None:
    one = Requirement(metric="fps", bound=bound, limit=limit)
    found = slack(one, value)
    assert (found >= 0.0) >= one.is_met_by(value)
    assert (found < 0.0) <= (not one.is_met_by(value))
