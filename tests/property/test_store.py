"""Stored data read back, and damaged data raise an error."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from assay.errors import AssayError, InvalidInputError
from assay.records import (
    Configuration,
    Evidence,
    Grant,
    GrantStatus,
    Launch,
    Level,
    Outcome,
    Sample,
    Stage,
    Status,
)
from assay.store import Store, open_store
from assay.testing.store_contracts import make_conclusion, make_sample, make_stratum, tune_spec

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.one_of(TEXT, st.integers(-(2**63), 2**63 - 1), NUMBER, st.booleans())
MAYBE_NUMBER = st.none() | NUMBER

SAMPLE = st.builds(
    Sample,
    launch=st.builds(
        Launch,
        configuration=st.dictionaries(TEXT, VALUE, max_size=4).map(Configuration),
        arm=TEXT,
        stage=st.sampled_from(Stage),
        block=st.integers(0, 5),
        position=st.integers(0, 5),
        attempt=st.integers(0, 2),
        timeout_s=MAYBE_NUMBER,
    ),
    outcome=st.sampled_from(Outcome),
    message=st.none() | TEXT,
    exit_status=st.none() | st.integers(0, 255),
    wall_s=MAYBE_NUMBER,
    peak_bytes=st.none() | st.integers(0, 2**63 - 1),
    metrics=st.dictionaries(TEXT, NUMBER, max_size=3),
    settings=st.dictionaries(
        TEXT,
        st.builds(
            Grant,
            value=VALUE,
            status=st.sampled_from(GrantStatus),
            level=st.sampled_from(Level),
            reason=st.none() | TEXT,
        ),
        max_size=3,
    ),
    evidence=st.lists(
        st.builds(Evidence, kind=TEXT, value=MAYBE_NUMBER, external=st.booleans()), max_size=3
    ).map(tuple),
    started_at=NUMBER,
    node=TEXT,
    launcher_version=TEXT,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "a.db") as store:
        yield store


@pytest.fixture(scope="module")
def many_studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("studies") / "a.db") as store:
        for number in range(60):
            store.create_study(tune_spec(), make_stratum(), float(number))
        yield store


def place(sample: Sample) -> tuple[int, int, int]:
    return (sample.launch.block, sample.launch.position, sample.launch.attempt)


@settings(max_examples=60, deadline=None)
@given(st.lists(SAMPLE, max_size=12))
def test_samples_read_back_equal_ordered_and_unique(store: Store, samples: list[Sample]) -> None:
    kept: dict[tuple[int, int, int], Sample] = {}
    study_id = store.create_study(tune_spec(), make_stratum(), 0.0)
    for sample in samples:
        try:
            store.add_sample(study_id, 0, sample)
        except InvalidInputError:
            assert place(sample) in kept
        else:
            assert kept.setdefault(place(sample), sample) is sample
    assert store.samples(study_id) == list(kept.values())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_shortest_unique_prefix_finds_an_id(many_studies: Store, data: st.DataObject) -> None:
    known = [head.id for head in many_studies.studies()]
    wanted = data.draw(st.sampled_from(known))
    beginning = wanted[: data.draw(st.integers(1, len(wanted)))]
    sharing = [one for one in known if one.startswith(beginning)]
    if len(sharing) == 1:
        assert many_studies.find(beginning) == wanted
    else:
        with pytest.raises(InvalidInputError) as found:
            many_studies.find(beginning)
        assert any(one in str(found.value) for one in sharing)


@cache
def stored_bytes() -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        with open_store(path) as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 0.0)
            for block in range(20):
                store.add_sample(study_id, 0, make_sample(block))
            store.set_conclusion(study_id, make_conclusion())
        return path.read_bytes(), study_id


@pytest.mark.rotating
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=200)), min_size=1, max_size=8
    )
)
def test_damage_raises_explained_error_or_is_harmless(
    damage: list[tuple[float, bytes]],
) -> None:
    whole, study_id = stored_bytes()
    content = bytearray(whole)
    for where, what in damage:
        start = int(where * (len(content) - len(what)))
        content[start : start + len(what)] = what
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        path.write_bytes(content)
        try:
            with open_store(path, busy_timeout_s=0.05) as store:
                for read in (store.study, store.samples, store.conclusion, store.acquire):
                    try:
                        read(study_id)
                    except AssayError as error:
                        assert error.cause
                store.studies()
                store.find("last")
        except AssayError as error:
            assert error.cause


class Studies(RuleBasedStateMachine):
    """A store against a model of it, closed and opened in between."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.db"
        self.store = open_store(self.path)
        self.model: dict[str, dict[str, object]] = {}
        self.samples: dict[str, list[tuple[int, Sample]]] = {}

    @rule(target=ids)
    def create(self) -> str:
        study_id = self.store.create_study(tune_spec(), make_stratum(), float(len(self.model)))
        self.model[study_id] = {"status": Status.RUNNING, "elapsed": 0.0, "strata": 1}
        self.samples[study_id] = []
        return study_id

    @rule(study_id=ids)
    def add_stratum(self, study_id: str) -> None:
        count = self.model[study_id]["strata"]
        assert isinstance(count, int)
        self.store.add_stratum(study_id, make_stratum(count))
        self.model[study_id]["strata"] = count + 1

    @rule(study_id=ids, block=st.integers(0, 3), stratum=st.integers(0, 2))
    def add_sample(self, study_id: str, block: int, stratum: int) -> None:
        taken = any(n == stratum and s.launch.block == block for n, s in self.samples[study_id])
        strata = self.model[study_id]["strata"]
        assert isinstance(strata, int)
        try:
            self.store.add_sample(study_id, stratum, make_sample(block))
        except InvalidInputError:
            assert taken or stratum >= strata
        else:
            assert not taken and stratum < strata
            self.samples[study_id].append((stratum, make_sample(block)))

    @rule(study_id=ids, status=st.sampled_from(Status))
    def set_status(self, study_id: str, status: Status) -> None:
        self.store.set_status(study_id, status)
        self.model[study_id]["status"] = status

    @rule(study_id=ids, seconds=st.integers(0, 100))
    def add_elapsed(self, study_id: str, seconds: int) -> None:
        self.store.add_elapsed(study_id, float(seconds))
        self.model[study_id]["elapsed"] = self.model[study_id]["elapsed"] + seconds  # type: ignore[operator]

    @rule(study_id=consumes(ids))
    def delete(self, study_id: str) -> None:
        self.store.delete(study_id)
        del self.model[study_id], self.samples[study_id]

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = open_store(self.path)
        for study_id, known in self.model.items():
            if known["status"] is Status.RUNNING:
                assert self.store.study(study_id).status is Status.INTERRUPTED
            self.store.acquire(study_id)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        assert {head.id: head.launches for head in self.store.studies()} == {
            study_id: len(samples) for study_id, samples in self.samples.items()
        }
        for study_id, known in self.model.items():
            study = self.store.study(study_id)
            assert study.status is known["status"]
            assert study.elapsed_s == known["elapsed"]
            assert len(study.strata) == known["strata"]
            assert self.store.samples(study_id) == [s for _, s in self.samples[study_id]]

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


Studies.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestStudies = Studies.TestCase
