"""Samples of earlier sessions: a race that takes them in continues as if never interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.records import Arm, Budget, Configuration, Kind, Sample, Stage, StudySpec, Workload
from assay.search.history import packed_samples
from assay.search.history.packed_samples import PackedSamples
from assay.search.races.block_runner import BlockRunner
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import BlockRace
from assay.store import Store, open_store
from assay.study import earlier_samples
from assay.study.earlier_samples import EarlierSamples
from assay.testing.search_contracts import SimulatedProgram, run_race
from assay.testing.store_contracts import make_stratum

ARMS = tuple(Arm(name=name, configuration=Configuration({"env.A": name})) for name in "ab")
BUDGET = Budget(launches=200)
PAGE, MAX_OBJECTS = 4, 10
PROGRAM = SimulatedProgram(
    takes_s=lambda c: 1.0 if c["env.A"] == "a" else 1.02,
    fails=lambda c: 0.05 if c["env.A"] == "b" else 0.0,
    others=lambda launch: 1.0 if launch.block % 7 == 3 else 0.0,
)
"""Program with failed launches and disturbed blocks."""


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read samples in small pages, and keep few of them as objects."""
    for module in (packed_samples, earlier_samples):
        monkeypatch.setattr(module, "CHUNK", PAGE)
        monkeypatch.setattr(module, "MAX_OBJECTS", MAX_OBJECTS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "assay.db") as opened:
        yield opened


def race_of(kind: Kind) -> BlockRace:
    spec = StudySpec(
        kind=kind,
        workload=Workload(argv=("true",)),
        arms=ARMS[:1] if kind is Kind.MEASURE else ARMS,
        budget=BUDGET,
        precision=1e-9 if kind is Kind.MEASURE else None,
        margin=1e-6,
        seed=1,
        disturbed_above=0.1,
    )
    return MeasureRace(spec) if kind is Kind.MEASURE else CompareRace(spec)


def stored(store: Store, spec: StudySpec, samples: list[Sample]) -> str:
    study_id = store.create_study(spec, make_stratum(), 1.0)
    for sample in samples:
        store.add_sample(study_id, 0, sample)
    return study_id


def state(race: BlockRace) -> list[object]:
    """Return the counts that decisions between launches rest on."""
    history, confirm = race.history, Stage.CONFIRM
    found: list[object] = [
        list(history.samples),
        history.complete(confirm),
        history.disturbed(confirm),
        history.cost(race.spec.arms),
        history.upper_quartile_cost(race.spec.arms),
        race.stage,
    ]
    for arm in race.spec.arms:
        counts = dict(vars(history.counts_of(arm.name)), units=None)
        found += [counts, history.wall_s(arm.name), history.successful_wall_s(arm.name)]
        found += [history.known(confirm, arm.name), history.foreign_load(confirm, arm.name)]
        found += [history.has_failed_block(confirm, arm.name), list(history.launches_of(arm.name))]
        found += [history.first_wall_s(arm.name, whole=whole) for whole in (False, True)]
    return found


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE])
@pytest.mark.parametrize("launches", [3, 4, 13, 14, 59, 60])
def test_resumed_race_has_the_state_of_the_uninterrupted_one(
    store: Store, kind: Kind, launches: int
) -> None:
    whole = race_of(kind)
    samples = run_race(whole, PROGRAM, BUDGET, until=launches).samples
    study_id = stored(store, whole.spec, samples)
    resumed = race_of(kind)
    earlier = EarlierSamples(store, study_id, 0, resumed)
    assert earlier.launches == launches
    assert state(resumed) == state(whole)
    left = Budget(launches=200 - launches)
    for _ in range(30):
        answers = [race.ask(1, left) for race in (whole, resumed)]
        assert answers[0] == answers[1]
        assert isinstance(answers[0], list)
        for race in (whole, resumed):
            race.tell(PROGRAM.run(answers[0][0]))
    assert state(resumed) == state(whole)


def test_old_samples_are_decoded_once_and_stay_packed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = race_of(Kind.MEASURE)
    samples = run_race(race, PROGRAM, BUDGET, until=60).samples
    study_id = stored(store, race.spec, samples)
    calls: dict[str, int] = {}

    def counted(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def call(*words: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return function(*words)

        monkeypatch.setattr(owner, name, call)

    counted(earlier_samples, "decode_once")
    counted(packed_samples, "encode")
    counted(PackedSamples, "append")
    counted(BlockRunner, "_lay_out")
    resumed = race_of(Kind.MEASURE)
    EarlierSamples(store, study_id, 0, resumed)
    resumed.ask(1, BUDGET)
    assert calls == {"decode_once": 48, "append": 12, "_lay_out": 2}
    assert list(resumed.history.samples) == samples
