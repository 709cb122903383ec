"""A decision between two launches reads the same amount of data after any number of launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Evidence,
    Kind,
    Launch,
    Outcome,
    Sample,
    SampleDecoder,
    Space,
    StudySpec,
    Workload,
)
from assay.records.sample import REMAINING_PROCESSES
from assay.search.conclusion.conclude import conclude
from assay.search.history import packed_samples
from assay.search.history.counts.arm_column import ArmColumn
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.packed_samples import (
    PackedSamples,
    figures_of,
    succeeded,
    with_evidence,
)
from assay.search.model.gp import GpSearcher
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import BlockRace, Ending
from assay.search.space.search_space import SearchSpace

ARMS = tuple(Arm(name=name, configuration=Configuration({"threads": name})) for name in "ab")
LAUNCHES = Budget(launches=1_000_000)


class Reads:
    """Counter of the observations and samples that are read."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for kind, name in (
            (ArmColumn, "__getitem__"),
            (ArmColumn, "get"),
            (PackedSamples, "__getitem__"),
        ):
            patch.setattr(kind, name, self._counting(getattr(kind, name)))
        patch.setattr(ArmColumn, "items", self._counting_each(ArmColumn.items))
        patch.setattr(PackedSamples, "__iter__", self._counting_each(PackedSamples.__iter__))

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.count += 1
            return function(*arguments)

        return counted

    def _counting_each(
        self, function: Callable[..., Iterator[Any]]
    ) -> Callable[..., Iterator[Any]]:
        def counted(*arguments: Any) -> Iterator[Any]:
            for item in function(*arguments):
                self.count += 1
                yield item

        return counted


def race_of(kind: Kind) -> BlockRace:
    arms = ARMS[:1] if kind is Kind.MEASURE else ARMS
    spec = StudySpec(
        kind=kind,
        workload=Workload(argv=("true",)),
        arms=arms,
        budget=LAUNCHES,
        precision=1e-9 if kind is Kind.MEASURE else None,
        margin=1e-6,
        seed=1,
    )
    return MeasureRace(spec) if kind is Kind.MEASURE else CompareRace(spec)


def sample_of(launch: Launch, number: int) -> Sample:
    wall_s = 1.0 + 0.01 * (number * 7919 % 101)
    return Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics={"wall_s": wall_s})


def next_launch(race: BlockRace) -> Launch:
    answer = race.ask(1, LAUNCHES)
    assert not isinstance(answer, Ending)
    (launch,) = answer
    return launch


def advance(race: BlockRace, launches: int, made: int) -> int:
    """Run a race until it made a number of launches, and then until no analysis is due."""
    arms = len(race.spec.arms)
    while made < launches or is_analysis_due((made - 2) // arms):
        race.tell(sample_of(next_launch(race), made))
        made += 1
    return made


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE])
def test_launch_reads_as_much_after_1000_launches_as_after_100(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    race, reads, made = race_of(kind), Reads(monkeypatch), 0
    found = []
    for launches in (100, 1_000):
        made = advance(race, launches, made)
        reads.count = 0
        race.tell(sample_of(next_launch(race), made))
        made += 1
        found.append(reads.count)
    assert found[0] == found[1] <= 20


def test_packed_samples_keep_few_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_samples, "MAX_OBJECTS", 64)
    monkeypatch.setattr(packed_samples, "CHUNK", 32)
    race = race_of(Kind.MEASURE)
    made = advance(race, 500, 0)
    samples = race.history.samples
    assert len(samples) == made
    assert len(samples._newest) < 96
    assert [s.wall_s for s in samples] == [
        sample_of(s.launch, n).wall_s for n, s in enumerate(samples)
    ]


def mixed_samples(arms: int, count: int) -> list[Sample]:
    """Return the samples of a study, some of them with evidence or without success."""
    race, found = race_of(Kind.MEASURE if arms == 1 else Kind.COMPARE), []
    for number in range(count):
        sample = sample_of(next_launch(race), number)
        evidence = [Evidence(kind="steal", value=0.001 * (number % 7), unit="s")]
        if number % 50 == 9:
            evidence.append(Evidence(kind=REMAINING_PROCESSES, value=1.0, note="sleep"))
        if number % 60 == 17:
            sample = msgspec.structs.replace(sample, outcome=Outcome.FAILED, metrics={})
        found.append(msgspec.structs.replace(sample, evidence=tuple(evidence)))
        race.tell(found[-1])
    return found


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE])
def test_conclusion_decodes_few_packed_samples_and_equals_that_of_a_list(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = race_of(kind).spec
    samples = mixed_samples(len(spec.arms), 600)
    expected = conclude(spec, samples, SearchSpace(Space()), GpSearcher(), None)
    monkeypatch.setattr(packed_samples, "MAX_OBJECTS", 64)
    monkeypatch.setattr(packed_samples, "CHUNK", 32)
    packed = PackedSamples(samples)
    decoded: list[Any] = []
    decode = SampleDecoder.decode

    def counted(decoder: SampleDecoder, document: bytes | str) -> Sample:
        decoded.append(document)
        return decode(decoder, document)

    monkeypatch.setattr(SampleDecoder, "decode", counted)
    assert conclude(spec, packed, SearchSpace(Space()), GpSearcher(), None) == expected
    assert expected.notes
    assert len(decoded) < 3 * len(samples)


def test_selection_of_packed_samples_decodes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = mixed_samples(1, 300)
    monkeypatch.setattr(packed_samples, "MAX_OBJECTS", 64)
    monkeypatch.setattr(packed_samples, "CHUNK", 32)
    packed = PackedSamples(samples)
    reads = Reads(monkeypatch)
    chosen = with_evidence(succeeded(packed), REMAINING_PROCESSES)
    figures = figures_of(succeeded(packed))
    assert reads.count == 0
    assert list(chosen) == list(with_evidence(succeeded(samples), REMAINING_PROCESSES))
    assert [s.wall_s for s in figures] == [s.wall_s for s in succeeded(samples)]


def test_recorded_form_of_samples_has_fractions() -> None:
    live = Sample(
        launch=next_launch(race_of(Kind.MEASURE)), outcome=Outcome.OK, metrics={"lines": 5}
    )
    assert [repr(s.metrics["lines"]) for s in PackedSamples([live]).as_recorded()] == ["5.0"]
