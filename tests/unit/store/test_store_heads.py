"""Lists of studies without the database library."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.records import Kind, Status
from assay.store import StudyHead, StudySelection, list_heads, open_store
from assay.store.heads import read_heads
from assay.store.study_locks import StudyLocks
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec

ASSETS = Path(__file__).parent / "assets"
NOW_S = 1.7e9
SELECTIONS = (
    StudySelection(),
    StudySelection(limit=2),
    StudySelection(labels=("nightly",)),
    StudySelection(labels=("nightly", "a b", "nightly"), limit=1),
    StudySelection(labels=("nightly", "none")),
    StudySelection(command="p1"),
    StudySelection(since=NOW_S + 1.0, before=NOW_S + 2.0),
    StudySelection(machine="machine-0"),
    StudySelection(machine="EPYC", command="p", limit=3),
    StudySelection(machine="none"),
    StudySelection(kinds=(Kind.TUNE,), limit=2),
    StudySelection(kinds=(Kind.MEASURE,)),
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a store with four studies: three are finished, and one was interrupted."""
    path = tmp_path / "a store%20.db"
    with open_store(path) as store:
        for number in range(4):
            spec = tune_spec(f"./p{number}")
            study_id = store.create_study(spec, make_stratum(), NOW_S + number)
            for block in range(number):
                store.add_sample(study_id, 0, make_sample(block))
            if number:
                store.set_status(study_id, Status.DONE)
            if number % 2:
                for label in ("nightly", "a b"):
                    store.add_label(study_id, label)
            store.release(study_id)
    return path


@pytest.mark.parametrize("selection", SELECTIONS)
def test_heads_equal_those_of_the_store(database: Path, selection: StudySelection) -> None:
    heads = read_heads(database, selection)
    with open_store(database) as store:
        assert heads == store.studies(selection)
    assert list_heads(database, selection) == heads


def test_running_study_is_locked_by_its_owner(database: Path) -> None:
    with open_store(database) as owner:
        study_id = owner.create_study(tune_spec("./slow"), make_stratum(), NOW_S + 9.0)
        assert newest(database).status is Status.RUNNING
        owner.add_sample(study_id, 0, make_sample())
        assert newest(database).launches == 1
    assert newest(database).status is Status.INTERRUPTED


def test_study_that_ends_while_it_is_listed_is_done(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_locked = StudyLocks.is_locked

    def status(read: Callable[[], Status]) -> Status:
        """Return the status of a study that ends between the query and the look at its lock."""
        owner = open_store(database)
        study_id = owner.create_study(tune_spec(), make_stratum(), NOW_S + 9.0)

        def ending(locks: StudyLocks, number: int) -> bool:
            monkeypatch.setattr(StudyLocks, "is_locked", is_locked)
            owner.set_status(study_id, Status.DONE)
            owner.close()
            return is_locked(locks, number)

        monkeypatch.setattr(StudyLocks, "is_locked", ending)
        return read()

    last = StudySelection(limit=1)
    with open_store(database) as store:
        readers = (
            lambda: newest(database).status,
            lambda: store.studies(last)[0].status,
            lambda: store.study(store.find("last")).status,
        )
        for read in readers:
            assert status(read) is Status.DONE
            store.delete(store.find("last"))


def test_missing_store_is_created(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    assert read_heads(path, StudySelection()) is None
    assert list_heads(path) == []
    assert path.exists()


def test_store_of_an_older_schema_is_upgraded(tmp_path: Path) -> None:
    path = Path(shutil.copy(ASSETS / "v1.db", tmp_path / "v1.db"))
    assert read_heads(path, StudySelection()) is None
    assert list_heads(path)
    assert read_heads(path, StudySelection()) == list_heads(path)


def test_damaged_store_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("no database" * 999)
    with pytest.raises(NotPossibleError, match="not a SQLite database"):
        list_heads(path)


def test_unknown_status_is_refused(database: Path) -> None:
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE study SET status = 'frozen'")
    connection.close()
    with pytest.raises(NotPossibleError, match="unknown status 'frozen'"):
        list_heads(database)


def test_list_imports_no_database_library(database: Path) -> None:
    script = (
        "import sys\nfrom assay.cli.main import main\n"
        f"assert main(['study', 'list', '--db', {str(database)!r}, '--limit', '2']) == 0\n"
        "assert 'sqlite3' in sys.modules\n"
        "assert not {'sqlalchemy', 'alembic', 'numpy', 'rich'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=60)


def newest(database: Path) -> StudyHead:
    (head,) = list_heads(database, StudySelection(limit=1))
    return head
