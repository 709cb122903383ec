"""Typical wall time of a command from stored studies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.records import Outcome, Stage
from assay.store import Store, open_store
from assay.study import typical_wall_time
from assay.study.typical_wall_time import typical_wall_s
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "studies.db"), create=True) as opened:
        yield opened


def studied(
    store: Store,
    command: str,
    at_s: float,
    *walls_s: float,
    stage: Stage = Stage.SEARCH,
    outcome: Outcome = Outcome.OK,
) -> None:
    study = store.create_study(tune_spec(command), make_stratum(), at_s)
    for block, wall_s in enumerate(walls_s):
        sample = make_sample(block)
        launch = msgspec.structs.replace(sample.launch, stage=stage)
        store.add_sample(
            study, 0, msgspec.structs.replace(sample, launch=launch, outcome=outcome, wall_s=wall_s)
        )


def test_newest_study_of_command_is_used(store: Store) -> None:
    studied(store, "./app", 1.0, 9.0)
    studied(store, "./app", 2.0, 1.0, 4.0, 2.0, 100.0)
    studied(store, "./other", 3.0, 7.0)
    assert typical_wall_s(store, "./app") == 3.0
    assert typical_wall_s(store, "./unknown") is None


def test_surveys_and_failures_are_ignored(store: Store) -> None:
    studied(store, "./app", 1.0, 9.0)
    studied(store, "./app", 2.0, 1.0, stage=Stage.SURVEY)
    studied(store, "./app", 3.0, 1.0, outcome=Outcome.FAILED)
    assert typical_wall_s(store, "./app") == 9.0


def test_long_study_is_read_in_part(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typical_wall_time, "MAX_LAUNCHES", 3)
    studied(store, "./app", 1.0, 1.0, 1.0, 1.0, *[100.0] * 7)
    assert typical_wall_s(store, "./app") == 1.0
