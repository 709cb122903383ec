"""Compaction of a store of an older assay, also interrupted, and its vacuum."""

from __future__ import annotations

import lzma
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.records import Status, encode
from assay.store import Store, list_heads, open_store
from assay.store.base import FileUse
from assay.store.study_locks import StudyLocks, lock_file
from assay.store.vacuum import demand_space, file_use, temporary_folder
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec
from assay.units import show_bytes

V3 = Path(__file__).parent / "assets" / "v3.db.xz"
INTERRUPTED_UPGRADE = """
import os, signal, sys
from sqlalchemy import Connection
from alembic import op
create_index = op.create_index
def killed(*arguments):
    create_index(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
op.create_index = killed
from assay.store import open_store
open_store(sys.argv[1])
"""
COMPACTION = """
import os, sys
from assay.store import open_store
with open_store(sys.argv[1]) as store:
    for head in store.studies():
        for count in store.compact(head.id):
            os.write(1, b"%d\\n" % count)
    os.write(1, b"vacuum\\n")
    store.vacuum()
"""


def contents(store: Store) -> list[object]:
    """Return all data of a store."""
    found: list[object] = []
    for head in store.studies():
        study = store.study(head.id)
        found += [head, study, store.conclusions(head.id), store.samples(head.id)]
        for stratum in study.strata:
            found += [store.plans(head.id, stratum.number)]
            found += [list(store.outputs(head.id, stratum.number))]
    return found


@pytest.fixture
def v3(database: Path) -> Path:
    database.write_bytes(lzma.decompress(V3.read_bytes()))
    return database


@pytest.fixture
def plain(database: Path) -> Path:
    """Return a store with 600 samples in text, as schema 0004 had them."""
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for block in range(600):
            store.add_sample(study_id, 0, make_sample(block))
        documents = [(text, n) for n, text in enumerate(_documents(store, study_id), start=1)]
        store.set_status(study_id, Status.DONE)
    connection = sqlite3.connect(database)
    with connection:
        connection.executemany(
            "UPDATE sample SET document = ?, content = NULL, dictionary = NULL WHERE number = ?",
            documents,
        )
        connection.execute("DELETE FROM dictionary")
    connection.close()
    return database


def _documents(store: Store, study_id: str) -> list[str]:
    return [encode(sample).decode() for sample in store.samples(study_id)]


def text_rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    queries = ("sample WHERE content IS NULL", "output WHERE content IS NULL")
    queries += ("verdict WHERE content IS NULL", "stratum WHERE conditions IS NULL")
    queries += ("study WHERE conclusion IS NOT NULL",)
    found = sum(connection.execute(f"SELECT count(*) FROM {q}").fetchone()[0] for q in queries)
    connection.close()
    return found


def test_compaction_keeps_all_data(v3: Path) -> None:
    with open_store(v3) as store:
        before, use = contents(store), store.file_use()
        for head in store.studies():
            assert sum(store.compact(head.id)) == head.launches
            assert list(store.compact(head.id)) == []
        store.vacuum()
        assert contents(store) == before
        assert store.file_use().size_bytes < 0.4 * use.size_bytes
        assert store.file_use().free_bytes == 0
        sample = make_sample(10_000)
        study_id = store.studies()[0].id
        store.acquire(study_id)
        store.add_sample(study_id, 0, sample)
        assert store.samples(study_id)[-1] == sample
    assert text_rows(v3) == 0


def test_packed_rows_leave_space_for_new_samples_without_a_vacuum(v3: Path) -> None:
    with open_store(v3) as store:
        heads = store.studies()
        for head in heads:
            assert sum(store.compact(head.id)) == head.launches
        use = store.file_use()
        assert use.free_bytes > 0.5 * use.size_bytes
        longest = max(heads, key=lambda head: head.launches)
        bare = [
            msgspec.structs.replace(sample, evidence=(), metrics={})
            for sample in store.samples(longest.id, 0)
        ]
        store.acquire(longest.id)
        store.replace_samples(longest.id, 0, bare)
        assert store.file_use().free_bytes > use.free_bytes
        assert store.samples(longest.id, 0) == bare


def test_running_study_is_not_compacted(plain: Path) -> None:
    with open_store(plain) as owner, open_store(plain) as store:
        study_id = owner.studies()[0].id
        owner.acquire(study_id)
        with pytest.raises(NotPossibleError, match="in use"):
            list(store.compact(study_id))
        owner.add_sample(study_id, 0, make_sample(600))
        owner.release(study_id)
        assert sum(store.compact(study_id)) == 600
        assert store.samples(study_id) == [make_sample(block) for block in range(601)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("line", ["256", "vacuum"])
def test_interrupted_compaction_continues(
    plain: Path, scripts, number: signal.Signals, line: str
) -> None:
    process = scripts.start(COMPACTION, plain)
    assert line in (text.strip() for text in process.stdout)
    time.sleep(0.002)
    process.send_signal(number)
    process.communicate(timeout=60)
    with open_store(plain) as store:
        expected = [make_sample(block) for block in range(600)]
        study_id = store.studies()[0].id
        assert store.samples(study_id) == expected
        for _ in store.compact(study_id):
            pass
        store.vacuum()
        assert store.samples(study_id) == expected
    assert text_rows(plain) == 0


def test_upgrade_is_refused_while_a_study_of_an_older_assay_runs(v3: Path) -> None:
    connection = sqlite3.connect(v3)
    query = "SELECT number, id FROM study ORDER BY number DESC"
    number, study_id = connection.execute(query).fetchone()
    with closing(StudyLocks(lock_file(v3), v3)) as owner:
        assert owner.lock(number)
        for use in (open_store, list_heads):
            with pytest.raises(NotPossibleError, match=f"study {study_id} runs in an older assay"):
                use(v3)
        assert connection.execute("SELECT version_num FROM assay_schema").fetchone() == ("0003",)
    connection.close()
    with open_store(v3) as store:
        assert store.samples(study_id)


def test_killed_upgrade_goes_back(v3: Path, scripts) -> None:
    process = scripts.start(INTERRUPTED_UPGRADE, v3)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    connection = sqlite3.connect(v3)
    assert connection.execute("SELECT version_num FROM assay_schema").fetchone() == ("0003",)
    connection.close()
    with open_store(v3) as store:
        assert all(store.samples(head.id) for head in store.studies())


@pytest.mark.parametrize(
    ("free_gib", "remedy"),
    [(15, "set SQLITE_TMPDIR to"), (7, "beside the store takes up to 8.05 GiB, which SQLITE_TMP")],
)
def test_vacuum_without_space_is_refused_with_sizes(
    tmp_path: Path, free_gib: int, remedy: str
) -> None:
    use = FileUse(size_bytes=10 * 2**30, free_bytes=2 * 2**30)
    env = {"SQLITE_TMPDIR": str(tmp_path)}
    database = tmp_path / "assay.db"
    with pytest.raises(NotPossibleError) as caught:
        demand_space(database, use, env=env, free_in=lambda folder: free_gib * 2**30)
    assert "up to 16.0 GiB" in caught.value.cause
    assert f"{show_bytes(free_gib * 2**30)} are free" in caught.value.cause
    assert remedy in str(caught.value.remedy)
    assert "--no-vacuum" in str(caught.value.remedy)
    demand_space(database, use, env=env, free_in=lambda folder: 17 * 2**30)


def test_vacuum_writes_the_data_to_the_journal(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE part AS SELECT zeroblob(1 << 20) AS content")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute("VACUUM")
    size = file_use(connection).size_bytes
    assert size <= (tmp_path / "a.db-wal").stat().st_size <= size * 1.02
    connection.close()


def test_temporary_files_are_in_the_first_usable_folder(tmp_path: Path) -> None:
    env = {"SQLITE_TMPDIR": str(tmp_path / "none"), "TMPDIR": str(tmp_path)}
    assert temporary_folder(env) == tmp_path
    assert temporary_folder({}).is_dir()
