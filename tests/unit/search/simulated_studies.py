"""Whole studies on simulated programs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from assay.executors.evidence.same_work import output_evidence
from assay.records import (
    Arm,
    Budget,
    Choices,
    Claim,
    Conclusion,
    Configuration,
    Kind,
    Launch,
    Metric,
    Output,
    Parameter,
    Requirement,
    Sample,
    Space,
    Statistic,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.search.conclusion.conclude import conclude
from assay.search.races.calibrate import CalibrateRace
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import Ending, Race
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import SimulatedProgram, run_race


def space_of(**domains: tuple[int | str, ...]) -> Space:
    """Return a space of settings without a known default."""
    return Space(parameters=tuple(Parameter(name=n, domain=Choices(v)) for n, v in domains.items()))


def factors(**effects: dict[int | str, float]) -> Callable[[Configuration], float]:
    """Return a time of one second times a factor for each value."""

    def takes_s(configuration: Configuration) -> float:
        seconds = 1.0
        for name, value in configuration.items():
            seconds *= effects.get(name, {}).get(value, 1.0)  # type: ignore[call-overload]
        return seconds

    return takes_s


@dataclass(frozen=True)
class Study:
    spec: StudySpec
    samples: list[Sample]
    done: Ending
    conclusion: Conclusion

    @property
    def settings(self) -> dict[str, object]:
        assert self.conclusion.recommendation is not None
        return dict(self.conclusion.recommendation.settings)

    @property
    def claim(self) -> Claim | None:
        return self.conclusion.claims[0] if self.conclusion.claims else None


def carry_out(spec: StudySpec, program: SimulatedProgram) -> Study:
    space, searcher = SearchSpace(spec.space), TpeSearcher()
    races: dict[Kind, Callable[[], Race]] = {
        Kind.TUNE: lambda: TuneRace(spec, space, searcher),
        Kind.COMPARE: lambda: CompareRace(spec),
        Kind.MEASURE: lambda: MeasureRace(spec),
        Kind.CALIBRATE: lambda: CalibrateRace(spec),
    }
    completed_race = run_race(races[spec.kind](), program, spec.budget)
    return Study(
        spec,
        completed_race.samples,
        completed_race.done,
        conclude(spec, completed_race.samples, space, searcher, completed_race.done),
    )


def tune(
    space: Space,
    program: SimulatedProgram,
    budget: Budget,
    *,
    seed: int = 0,
    null: bool = False,
    timeout_s: float | None = None,
    statistic: Statistic = Statistic.MEAN,
    requirements: tuple[Requirement, ...] = (),
) -> Study:
    spec = StudySpec(
        kind=Kind.TUNE,
        statistic=statistic,
        requirements=requirements,
        workload=workload(program.metric, timeout_s),
        budget=budget,
        space=space,
        seed=seed,
        null=null,
    )
    return carry_out(spec, program)


def compare(
    program: SimulatedProgram,
    budget: Budget,
    *configurations: dict[str, int | str],
    seed: int = 0,
    null: bool = False,
    timeout_s: float | None = None,
    statistic: Statistic = Statistic.MEAN,
    disturbed_above: float | None = 0.1,
) -> Study:
    found = [Configuration(c) for c in configurations]
    spec = StudySpec(
        kind=Kind.COMPARE,
        statistic=statistic,
        disturbed_above=disturbed_above,
        workload=workload(program.metric, timeout_s),
        budget=budget,
        arms=tuple(Arm(name=str(c), configuration=c) for c in found),
        seed=seed,
        null=null,
    )
    return carry_out(spec, program)


def workload(metric: Metric = WALL, timeout_s: float | None = None) -> Workload:
    return Workload(argv=("./program",), metrics=(metric,), timeout_s=timeout_s)


@dataclass(frozen=True)
class Writing(SimulatedProgram):
    """A program that writes output.

    Attributes:
        writes: returns the standard output of a launch.
    """

    writes: Callable[[Launch], str] = lambda launch: ""

    def run(self, launch: Launch) -> Sample:
        return with_output(super().run(launch), self.writes(launch))


def with_output(sample: Sample, text: str) -> Sample:
    """Return a sample with this output of its program."""
    content = text.encode()
    output = Output(
        stream="stdout",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        head=content,
    )
    evidence = (*sample.evidence, output_evidence(output, ()))
    return msgspec.structs.replace(sample, evidence=evidence)
