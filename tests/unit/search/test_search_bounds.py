"""Lower bounds of a metric: they prove no requirement and no claim."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest
from simulated_studies import space_of

from assay.executors.sample import build_sample
from assay.records import (
    Arm,
    Bound,
    Budget,
    Conclusion,
    Configuration,
    Kind,
    Launch,
    Metric,
    Outcome,
    Requirement,
    RequirementVerdict,
    RunFacts,
    Sample,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.records.workload import BUILT_IN, WALL
from assay.search.claims.objections import MAX_MISSING_SHARE
from assay.search.conclusion.conclude import conclude
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram, run_race
from assay.wording.requirement import requirement_evidence
from assay.wording.sentence import comparison

MIB = 2.0**20
MEMORY = BUILT_IN["peak_anon_bytes"]


@dataclass(frozen=True)
class Spilling:
    """A program whose peak is only partially known.

    Attributes:
        seen: sampled peak of the default and of the other arm, in MiB.
        most: upper bound of the peak, in MiB.
        share: share of the launches whose figure is a bound.
    """

    seen: tuple[float, float]
    most: tuple[float, float]
    share: float = 1.0

    def run(self, launch: Launch) -> Sample:
        sample = SimulatedProgram(takes_s=lambda c: 1.0).run(launch)
        place = int(bool(launch.configuration))
        metrics = {**sample.metrics, MEMORY.name: self.seen[place] * MIB}
        bounded = (launch.block * 37 % 100) < 100 * self.share
        most = {MEMORY.name: self.most[place] * MIB} if bounded else {}
        return msgspec.structs.replace(sample, metrics=metrics, upper_bounds=most)


def studied(program: Spilling, kind: Kind, *require: Requirement) -> tuple[StudySpec, Conclusion]:
    arms = [Arm(name="default", configuration=Configuration())]
    if kind is Kind.COMPARE:
        arms.append(Arm(name="nice=5", configuration=Configuration({"nice": 5})))
    metrics = (MEMORY, WALL) if kind is Kind.COMPARE else (WALL, MEMORY)
    spec = StudySpec(
        kind=kind,
        workload=Workload(argv=("x",), metrics=metrics),
        budget=Budget(launches=60),
        arms=tuple(arms),
        requirements=require,
    )
    race = CompareRace(spec) if kind is Kind.COMPARE else MeasureRace(spec)
    completed_race = run_race(race, program, spec.budget)
    space = SearchSpace(space_of())
    return spec, conclude(
        spec, completed_race.samples, space, RandomSearcher(), completed_race.done
    )


def below(mebibytes: float, bound: Bound = Bound.AT_MOST) -> Requirement:
    return Requirement(metric=MEMORY.name, bound=bound, limit=mebibytes * MIB)


@pytest.mark.parametrize(
    ("required", "verdict"),
    [
        (below(50), RequirementVerdict.UNCLEAR),
        (below(70), RequirementVerdict.HOLDS),
        (below(40), RequirementVerdict.BROKEN),
        (below(50, Bound.AT_LEAST), RequirementVerdict.UNCLEAR),
        (below(45, Bound.AT_LEAST), RequirementVerdict.HOLDS),
        (below(70, Bound.AT_LEAST), RequirementVerdict.BROKEN),
    ],
)
def test_requirement_on_lower_bounds_is_not_proven(
    required: Requirement, verdict: RequirementVerdict
) -> None:
    """Samples saw 45.4 MiB, and 63 may have been there."""
    spec, found = studied(Spilling((45.4, 0), (63, 0)), Kind.MEASURE, required)
    (result,) = found.requirements
    assert result.verdict is verdict
    assert (result.bounded_launches > 0) == (verdict is RequirementVerdict.UNCLEAR)
    if verdict is RequirementVerdict.UNCLEAR:
        assert (result.satisfied_launches, result.violating_launches, result.launches_needed) == (
            0,
            0,
            None,
        )
        assert "the value may have been higher between samples" in requirement_evidence(
            spec, result
        )
    assert any("is a lower bound in" in note for note in found.notes)


def test_requirement_is_met_despite_few_lower_bounds() -> None:
    _, found = studied(Spilling((45.4, 0), (63, 0), share=0.05), Kind.MEASURE, below(50))
    assert found.requirements[0].verdict is RequirementVerdict.HOLDS
    assert not any("is a lower bound in" in note for note in found.notes)


@pytest.mark.parametrize(
    ("most", "share", "verdict"),
    [
        (80.0, 1.0, Verdict.UNCLEAR),
        (80.0, MAX_MISSING_SHARE / 2, Verdict.FASTER),
        (55.0, 1.0, Verdict.FASTER),
    ],
)
def test_claim_of_less_memory_accounts_for_bounds(
    most: float, share: float, verdict: Verdict
) -> None:
    """The default uses 70 MiB; the sampled peak of the other arm is 45."""
    _, found = studied(Spilling((70, 45), (71, most), share), Kind.COMPARE)
    (claim,) = found.claims
    assert claim.verdict is verdict
    if verdict is Verdict.UNCLEAR:
        assert "as high as that of default" in comparison(claim, MEMORY)


@pytest.mark.parametrize(
    "metric", [MEMORY, WALL, msgspec.structs.replace(MEMORY, ignore_unit=True)]
)
def test_sample_contains_bound_of_requested_metric(metric: Metric) -> None:
    facts = RunFacts(
        outcome="exited",
        exit_status=0,
        wall_s=1.0,
        peak_anon_bytes=45,
        peak_anon_upper_bound_bytes=63,
    )
    launch = Launch(
        configuration=Configuration(), arm="a", stage=Stage.CONFIRM, block=0, position=0
    )
    work = Workload(argv=("x",), metrics=(metric,))
    sample = build_sample(launch, work, facts, (), {})
    assert sample.outcome is Outcome.OK
    asked = metric is MEMORY
    assert sample.upper_bounds == ({MEMORY.name: 63.0} if asked else {})
