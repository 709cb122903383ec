"""Races over programs of any kind satisfy their contract."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    Design,
    DesignKind,
    Kind,
    Outcome,
    Parameter,
    Space,
    Stage,
    Statistic,
    StudySpec,
    Workload,
    encode,
)
from assay.search.conclusion.conclude import conclude
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import Ending, Race
from assay.search.races.sweep import SweepRace
from assay.search.races.tune import TuneRace
from assay.search.space.design import lay_out
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import (
    RandomSearcher,
    SimulatedProgram,
    remaining_of,
    run_race,
    spent_s,
)

FEW = Space(
    parameters=(
        Parameter(name="nice", domain=Choices((0, 5, 10))),
        Parameter(name="malloc", domain=Choices(("jemalloc", "tcmalloc"))),
    )
)
MANY = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{i}", domain=Choices(tuple(range(9))), default=0) for i in range(4)
    ),
    constraints=("arg.p0 + arg.p1 < 12",),
)
TWO = Space(
    parameters=(
        Parameter(name="arg.a", domain=Choices((1, 20)), default=1),
        Parameter(name="arg.b", domain=Choices((1, 2)), default=1),
    )
)


@st.composite
def programs(draw: st.DrawFn) -> SimulatedProgram:
    """Quick and slow, steady and noisy, failing and drifting."""
    usual_s = draw(st.sampled_from([0.002, 0.5, 20.0]))
    slow = draw(st.sampled_from([0.5, 1.0, 1.3, 30.0]))
    odd = draw(st.sampled_from([0, 1]))
    failing = draw(st.sampled_from([0.0, 0.0, 0.2, 0.7]))
    default_fails = draw(st.sampled_from([0.0, 0.0, 0.2]))
    busy = draw(st.sampled_from([0, 0, 3, 1]))
    return SimulatedProgram(
        takes_s=lambda c: usual_s * (slow if c and len(str(c)) % 2 == odd else 1.0),
        fails=lambda c: failing if c else default_fails,
        noise=draw(st.sampled_from([0.0, 0.01, 0.3])),
        drift=draw(st.sampled_from([0.0, 0.01])),
        seed=draw(st.integers(0, 99)),
        others=(lambda launch: float(launch.block % busy == 0)) if busy else None,
    )


@st.composite
def specs(draw: st.DrawFn) -> StudySpec:
    kind = draw(st.sampled_from([Kind.TUNE, Kind.COMPARE, Kind.MEASURE, Kind.SWEEP]))
    budget = draw(
        st.one_of(
            st.integers(1, 130).map(lambda n: Budget(launches=n)),
            st.sampled_from([1.0, 30.0, 400.0]).map(lambda s: Budget(time_s=s, launches=130)),
        )
    )
    names = ({}, {"nice": 5}, {"nice": 10}) if kind is Kind.COMPARE else ({},)
    arms = [Configuration(values) for values in names] if kind is not Kind.TUNE else []
    found = StudySpec(
        kind=kind,
        workload=Workload(argv=("./p",), timeout_s=draw(st.sampled_from([None, None, 1.0]))),
        budget=budget,
        space=draw(st.sampled_from([FEW, MANY])) if kind is Kind.TUNE else Space(),
        arms=tuple(Arm(name=str(c), configuration=c) for c in arms),
        seed=draw(st.integers(0, 9)),
        statistic=draw(st.sampled_from(list(Statistic))),
        disturbed_above=draw(st.sampled_from([None, 0.1])),
        warmup=draw(st.sampled_from([None, 1, 3])),
        null=draw(st.booleans()) and kind is not Kind.MEASURE,
    )
    return draw(sweeps(found)) if kind is Kind.SWEEP else found


@st.composite
def sweeps(draw: st.DrawFn, spec: StudySpec) -> StudySpec:
    """A sweep in place of another study."""
    asked = Design(
        kind=draw(st.sampled_from([DesignKind.GRID, DesignKind.FACTORIAL])),
        repeats=draw(st.sampled_from([None, None, 1, 4, 12])),
    )
    layout = lay_out(asked, TWO, SearchSpace(TWO), Configuration(), spec.seed)
    return msgspec.structs.replace(
        spec,
        space=TWO,
        arms=layout.arms,
        design=layout.design,
        precision=draw(st.sampled_from([None, None, 0.02])),
        warmup=draw(st.sampled_from([None, 0, 2])),
    )


def race_of(spec: StudySpec) -> Race:
    if spec.kind is Kind.TUNE:
        return TuneRace(spec, SearchSpace(spec.space), RandomSearcher())
    races = {Kind.COMPARE: CompareRace, Kind.MEASURE: MeasureRace, Kind.SWEEP: SweepRace}
    return races[spec.kind](spec)


@pytest.mark.rotating
@given(specs(), programs(), st.integers(1, 4))
@settings(max_examples=120, deadline=None)
def test_budgets_and_blocks(spec: StudySpec, program: SimulatedProgram, slots: int) -> None:
    completed_race = run_race(race_of(spec), program, spec.budget, slots=slots)
    assert spec.budget.launches is not None
    assert len(completed_race.samples) <= spec.budget.launches
    if spec.budget.time_s is not None and slots == 1:
        assert spent_s(completed_race.samples[:-1]) < spec.budget.time_s
    places = [(la.block, la.position, la.attempt) for la in completed_race.launches]
    assert len(set(places)) == len(places)
    assert [la.block for la in completed_race.launches] == sorted(
        la.block for la in completed_race.launches
    )
    for sample in completed_race.samples:
        cap_s = sample.launch.timeout_s
        assert sample.outcome is not Outcome.TIMED_OUT or sample.wall_s == cap_s
        if spec.workload.timeout_s is not None:
            assert cap_s is not None
            assert cap_s <= spec.workload.timeout_s


@given(specs(), programs(), st.data())
@settings(max_examples=80, deadline=None)
def test_resumed_study_equals_uninterrupted_one(
    spec: StudySpec, program: SimulatedProgram, data: st.DataObject
) -> None:
    whole = run_race(race_of(spec), program, spec.budget)
    count = data.draw(st.integers(0, len(whole.samples)))
    race = race_of(spec)
    for sample in whole.samples[:count]:
        race.tell(sample)
    answer = race.ask(1, remaining_of(spec.budget, whole.samples[:count]))
    if count == len(whole.samples):
        assert answer == whole.done
    else:
        assert not isinstance(answer, Ending)
        assert answer == [whole.launches[count]]


@given(specs(), programs())
@settings(max_examples=60, deadline=None)
def test_every_study_has_a_conclusion(spec: StudySpec, program: SimulatedProgram) -> None:
    completed_race = run_race(race_of(spec), program, spec.budget)
    space = SearchSpace(spec.space)
    documents = {
        encode(conclude(spec, completed_race.samples, space, RandomSearcher(), completed_race.done))
        for _ in range(2)
    }
    assert len(documents) == 1
    found = conclude(spec, completed_race.samples, space, RandomSearcher(), completed_race.done)
    assert found.launches == len(completed_race.samples)
    for claim in found.claims:
        confirming = [s for s in completed_race.samples if s.launch.stage is Stage.CONFIRM]
        assert claim.blocks <= len({s.launch.block for s in confirming})
        assert claim.blocks >= 6 or claim.verdict == "unclear"
    if found.recommendation is not None and found.recommendation.settings:
        assert found.claims[0].verdict == "faster"
