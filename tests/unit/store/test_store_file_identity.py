"""Deletion and replacement of the store while it is used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.records import Status
from assay.store import Store, open_store
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec


@pytest.fixture
def database(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder / "studies.db"


def begun(database: Path) -> tuple[Store, str]:
    store = open_store(database)
    study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
    store.add_sample(study_id, 0, make_sample(0))
    return store, study_id


def uses(study_id: str) -> list[Callable[[Store], object]]:
    return [
        lambda store: store.add_sample(study_id, 0, make_sample(1)),
        lambda store: store.add_elapsed(study_id, 1.0),
        lambda store: store.set_status(study_id, Status.DONE),
        lambda store: store.samples(study_id),
        lambda store: store.create_study(tune_spec(), make_stratum(), 2.0),
    ]


def test_deleted_store_is_reported_and_not_recreated(database: Path) -> None:
    store, study_id = begun(database)
    database.unlink()
    with store:
        for use in uses(study_id):
            with pytest.raises(NotPossibleError, match=r"kept/studies\.db is missing") as error:
                use(store)
            assert "measured again" in (error.value.remedy or "")
    assert not database.exists()


def test_deleted_directory_is_reported_and_not_recreated(database: Path) -> None:
    store, study_id = begun(database)
    shutil.rmtree(database.parent)
    with store:
        for use in uses(study_id):
            with pytest.raises(
                NotPossibleError, match=r"The directory .*/kept of the store studies\.db"
            ):
                use(store)
    assert not database.parent.exists()


def test_replaced_store_is_not_modified(database: Path) -> None:
    store, study_id = begun(database)
    other = database.with_name("other.db")
    open_store(other).close()
    before = other.read_bytes()
    other.rename(database)
    with store:
        for use in uses(study_id):
            with pytest.raises(NotPossibleError, match="replaced by another file"):
                use(store)
    assert database.read_bytes() == before


def test_restored_store_has_acknowledged_samples(database: Path) -> None:
    store, study_id = begun(database)
    database.rename(database.with_name("elsewhere.db"))
    with store, pytest.raises(NotPossibleError, match="is missing"):
        store.add_sample(study_id, 0, make_sample(1))
    database.with_name("elsewhere.db").rename(database)
    with open_store(database) as again:
        assert again.samples(study_id)[:1] == [make_sample(0)]
        again.acquire(study_id)
