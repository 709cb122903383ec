"""Errors of opening and using a store: each is reported, and no data is lost."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.records import Status
from assay.store import Store, open_store, revisions
from assay.store.errors import StoreUnusableError
from assay.store.sql import SqlStore
from assay.store.sqlite import ErrorTranslator
from assay.testing.store_contracts import (
    make_conclusion,
    make_sample,
    make_stratum,
    tune_spec,
)

Unprivileged = Callable[[], AbstractContextManager[None]]

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("BEGIN EXCLUSIVE")
connection.execute("CREATE TABLE IF NOT EXISTS other (x)")
print("held", flush=True)
sys.stdin.readline()
"""

FILL = """
import resource, sys
from assay.errors import NotPossibleError
from assay.store import open_store
from assay.testing.store_contracts import make_sample, tune_spec, make_stratum
store = open_store(sys.argv[1])
study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
stored = 0
try:
    while stored < 10_000:
        store.add_sample(study_id, 0, make_sample(stored))
        stored += 1
except NotPossibleError as error:
    print(stored, study_id, error, sep="\\n")
store.close()
"""


def filled(path: Path, samples: int = 60) -> str:
    with open_store(path) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for block in range(samples):
            store.add_sample(study_id, 0, make_sample(block))
    return study_id


def refused(path: Path, kind: type[AssayError] = NotPossibleError) -> str:
    """Return the error message of opening a store, which must not modify the file."""
    before = path.read_bytes()
    with pytest.raises(kind) as caught:
        open_store(path, busy_timeout_s=0.1).close()
    assert path.read_bytes() == before
    assert caught.value.remedy is not None
    return str(caught.value)


def test_state_directory_is_private(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    open_store(env=env).close()
    made = tmp_path / "state" / "assay"
    assert (made / "assay.db").is_file()
    assert made.stat().st_mode & 0o777 == 0o700


def test_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="mkdir -p") as caught:
        open_store(tmp_path / "absent" / "assay.db")
    assert str(tmp_path / "absent") in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_missing_store_is_not_created_without_create(database: Path) -> None:
    with pytest.raises(InvalidInputError, match="does not exist") as caught:
        open_store(database, create=False)
    assert caught.value.remedy == (
        "Create a study: `assay tune -- COMMAND`. "
        "Or specify another store with --db PATH or ASSAY_DB."
    )
    assert not database.exists()
    open_store(database).close()
    open_store(database, create=False).close()


def test_missing_usual_store_needs_no_mkdir(tmp_path: Path) -> None:
    """The first study creates its folder."""
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with pytest.raises(InvalidInputError, match=r"The store .* does not exist") as caught:
        open_store(create=False, env=env)
    assert "Create a study: `assay tune -- COMMAND`." in str(caught.value)


def test_directory_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="a directory"):
        open_store(tmp_path)


def test_device_is_rejected() -> None:
    with pytest.raises(InvalidInputError, match="not a regular file"):
        open_store("/dev/null")


def test_path_below_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="is a file"):
        open_store(tmp_path / "file" / "assay.db")


def test_uncreatable_state_directory_is_named(
    open_folder: Path, unprivileged: Unprivileged
) -> None:
    open_folder.chmod(0o555)
    with unprivileged(), pytest.raises(NotPossibleError, match="Cannot create the directory"):
        open_store(env={"XDG_STATE_HOME": str(open_folder / "state")})


def test_inaccessible_directory_is_named(open_folder: Path, unprivileged: Unprivileged) -> None:
    (open_folder / "closed").mkdir(mode=0o000)
    with (
        unprivileged(),
        pytest.raises(NotPossibleError, match=r"Cannot access the store .*: Permission denied"),
    ):
        open_store(open_folder / "closed" / "assay.db")
    (open_folder / "closed").chmod(0o700)


@pytest.mark.parametrize("exists", [True, False])
def test_read_only_directory_is_named(
    open_folder: Path, unprivileged: Unprivileged, exists: bool
) -> None:
    path = open_folder / "assay.db"
    if exists:
        filled(path, 1)
        path.chmod(0o666)
    open_folder.chmod(0o555)
    before = sorted(entry.name for entry in open_folder.iterdir())
    with (
        unprivileged(),
        pytest.raises(NotPossibleError, match="No permission to write the directory"),
    ):
        open_store(path)
    assert sorted(entry.name for entry in open_folder.iterdir()) == before


def test_store_of_another_user_is_named(open_folder: Path, unprivileged: Unprivileged) -> None:
    path = open_folder / "assay.db"
    filled(path, 1)
    path.chmod(0o400)
    open_folder.chmod(0o777)
    if os.geteuid() != 0:
        path.chmod(0o000)
    with unprivileged(), pytest.raises(NotPossibleError, match="No permission to read and write"):
        open_store(path)


def test_lock_file_of_another_user_is_named(open_folder: Path, unprivileged: Unprivileged) -> None:
    path = open_folder / "assay.db"
    filled(path, 1)
    path.chmod(0o666)
    open_folder.chmod(0o777)
    (open_folder / "assay.db.lock").chmod(0o000)
    with unprivileged(), pytest.raises(NotPossibleError, match=r"assay\.db\.lock"):
        open_store(path)


def test_file_of_other_format_is_not_modified(database: Path) -> None:
    database.write_bytes(b"a letter to my aunt\n" * 400)
    assert "not a SQLite database" in refused(database)


def test_damage_is_reported_on_access(database: Path) -> None:
    study_id = filled(database)
    content = bytearray(database.read_bytes())
    content[4096 * 3 :] = os.urandom(len(content) - 4096 * 3)
    database.write_bytes(content)
    with pytest.raises(NotPossibleError, match="damaged") as caught, open_store(database) as store:
        store.samples(study_id)
    assert ".recover" in str(caught.value)


def test_undecodable_message_of_sqlite_is_damage(database: Path) -> None:
    filled(database, 1)
    content = database.read_bytes()
    at = content.index(b"CREATE TABLE study")
    database.write_bytes(content[: at + 20] + b"\x80" + content[at + 21 :])
    with pytest.raises(NotPossibleError, match="damaged"), open_store(database) as store:
        store.studies()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE study SET status = 'asleep'", "unknown status 'asleep'"),
        ("UPDATE study SET kind = 'guess'", "unknown kind 'guess'"),
        ("UPDATE study SET spec = '{'", "StudySpec"),
        ("UPDATE stratum SET document = '[]', conditions = NULL", "Stratum"),
        ("DELETE FROM shared_document", "of a stratum is missing"),
        ("UPDATE shared_document SET content = x'00'", "damaged packed document"),
        ("UPDATE sample SET document = '{}', content = NULL WHERE block = 1", "Sample"),
        ("UPDATE sample SET content = substr(content, 1, 3)", "incomplete packed document"),
        ("DELETE FROM dictionary", "damaged packed document"),
        ("UPDATE dictionary SET content = x'ffff'", "damaged packed document"),
        ("UPDATE study SET conclusion = 'null'", "Conclusion"),
    ],
)
def test_unreadable_document_names_study(database: Path, change: str, message: str) -> None:
    study_id = filled(database, 3)
    connection = sqlite3.connect(database)
    with connection:
        connection.execute(change)
    connection.close()
    with open_store(database) as store:
        with pytest.raises(NotPossibleError, match=f"Cannot read study {study_id}") as caught:
            store.studies()
            store.study(study_id)
            store.samples(study_id)
        assert message in str(caught.value)


def test_truncated_file_is_damaged(database: Path) -> None:
    filled(database)
    os.truncate(database, 4096 * 2)
    assert "damaged" in refused(database)


def test_newer_schema_is_rejected_with_both_versions(database: Path) -> None:
    filled(database, 1)
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE assay_schema SET version_num = '9001'")
    connection.close()
    message = refused(database)
    assert "9001" in message
    assert revisions.HEAD in message


def test_database_of_another_program_is_rejected(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.executescript(
        "PRAGMA journal_mode=WAL; CREATE TABLE alembic_version (version_num);"
        "INSERT INTO alembic_version VALUES ('0001');"
    )
    connection.close()
    assert "another program" in refused(database)


def test_empty_file_becomes_store(database: Path) -> None:
    database.touch()
    filled(database, 1)


def test_store_written_by_another_process_is_locked(database: Path, scripts) -> None:
    study_id = filled(database, 3)
    with open_store(database, busy_timeout_s=0.2, patience_s=0.4) as store:
        store.acquire(study_id)
        holder = scripts.start(HOLDER, database, "SELECT 1")
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(NotPossibleError, match=r"locked by another process, also after 0\.4 s"):
            store.add_sample(study_id, 0, make_sample(3))
        assert store.waited_s >= 0.4
        with pytest.raises(NotPossibleError, match=r"locked by another process, also after 0\.2 s"):
            store.add_label(study_id, "nightly")
        assert len(store.samples(study_id)) == 3
        holder.communicate("done\n")
        store.add_sample(study_id, 0, make_sample(3))
        assert len(store.samples(study_id)) == 4


def test_writes_of_a_held_study_wait_longer_than_others(database: Path, scripts) -> None:
    study_id = filled(database, 3)
    with open_store(database, busy_timeout_s=0.0, patience_s=60.0) as store:
        store.acquire(study_id)
        waited_s = store.waited_s
        holder = scripts.start(HOLDER, database, "SELECT 1")
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(NotPossibleError, match="locked by another process") as caught:
            store.add_label(study_id, "nightly")
        assert str(database) in caught.value.cause
        letting_go = threading.Timer(0.3, holder.communicate, ["done\n"])
        letting_go.start()
        store.add_sample(study_id, 0, make_sample(3))
        letting_go.join()
        assert store.waited_s > waited_s
        assert len(store.samples(study_id)) == 4


def test_end_of_a_study_waits_for_the_lock(database: Path, scripts) -> None:
    """Otherwise a backup of some seconds would leave it interrupted, without a conclusion."""
    study_id = filled(database, 3)

    def end(store: Store) -> None:
        store.set_conclusion(study_id, make_conclusion())
        store.add_elapsed(study_id, 1.0)
        store.set_status(study_id, Status.DONE)

    with open_store(database, busy_timeout_s=0.0, patience_s=60.0) as store:
        store.acquire(study_id)
        for write in (end, lambda store: store.add_stratum(study_id, make_stratum(1))):
            holder = scripts.start(HOLDER, database, "SELECT 1")
            assert holder.stdout.readline() == "held\n"
            letting_go = threading.Timer(0.3, holder.communicate, ["done\n"])
            letting_go.start()
            write(store)
            letting_go.join()
    with open_store(database) as store:
        found = store.study(study_id)
    assert (found.status, found.conclusion) == (Status.DONE, make_conclusion())
    assert found.elapsed_s == 1.0
    assert [one.number for one in found.strata] == [0, 1]


def test_waiting_for_write_lock_is_interruptible(database: Path, scripts) -> None:
    """SQLite itself would wait without handling the signal."""
    study_id = filled(database, 3)
    with open_store(database) as store:
        store.acquire(study_id)
        holder = scripts.start(HOLDER, database, "SELECT 1")
        assert holder.stdout.readline() == "held\n"
        interrupting = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            store.add_sample(study_id, 0, make_sample(3))
        holder.communicate("done\n")
        assert len(store.samples(study_id)) == 3
        store.add_sample(study_id, 0, make_sample(3))


def test_exclusively_locked_store_is_reported(database: Path, scripts) -> None:
    filled(database, 1)
    holder = scripts.start(HOLDER, database, "PRAGMA locking_mode=EXCLUSIVE")
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(NotPossibleError, match="locked by another process"):
        open_store(database, busy_timeout_s=0.1)


def test_locked_new_file_is_waited_for(database: Path, scripts) -> None:
    holder = scripts.start(HOLDER, database, "SELECT 1")
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(NotPossibleError, match="locked by another process"):
        open_store(database, busy_timeout_s=0.1)


def test_file_size_limit_keeps_stored_samples(database: Path, scripts) -> None:
    stored, study_id, *message = scripts.run(FILL, database, str(256 * 1024)).splitlines()
    assert 10 < int(stored) < 10_000
    assert "ulimit -f" in "".join(message)
    with open_store(database) as store:
        assert store.samples(study_id) == [make_sample(block) for block in range(int(stored))]


@pytest.mark.parametrize("holds", [False, True])
def test_full_disk_names_resume_only_for_a_held_study(tmp_path: Path, holds: bool) -> None:
    path = tmp_path / "assay.db"
    translating_errors = ErrorTranslator(path, 0.1)
    translating_errors.check_holds_with(lambda: holds)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA max_page_count=2")
        connection.execute("CREATE TABLE part (content)")
        with pytest.raises(StoreUnusableError, match="is full") as caught, translating_errors():
            connection.execute("INSERT INTO part VALUES (zeroblob(100000))")
    remedy = str(caught.value.remedy)
    assert f"move the store's files (`{path}*`)" in remedy
    assert ("assay study resume" in remedy) == holds


def test_store_holds_a_study_until_its_release(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    with open_store(path) as store:
        assert isinstance(store, SqlStore) and not store.holds_study
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        assert store.holds_study
        store.release(study_id)
        assert not store.holds_study


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 512 KiB."""
    point = tmp_path / "disk"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)


def _fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError as error:
            assert error.errno == errno.ENOSPC
    return filler


@pytest.mark.system
@pytest.mark.skipif(
    os.environ.get("ASSAY_TEST_SYSTEM") != "1" or os.geteuid() != 0,
    reason="mounts a file system: ASSAY_TEST_SYSTEM=1, as root",
)
class TestFullDisk:
    def test_full_disk_keeps_samples_and_continues_with_free_space(self, small_disk: Path) -> None:
        path = small_disk / "assay.db"
        with open_store(path) as store:
            study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
            stored = 0
            with pytest.raises(NotPossibleError, match=r"disk of the store .* is full"):
                while stored < 10_000:
                    store.add_sample(study_id, 0, make_sample(stored))
                    stored += 1
            assert 10 < stored < 10_000
            assert store.samples(study_id) == [make_sample(block) for block in range(stored)]
            subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
            store.add_sample(study_id, 0, make_sample(stored))
        with open_store(path) as store:
            assert store.samples(study_id) == [make_sample(block) for block in range(stored + 1)]

    def test_full_store_keeps_samples_when_reopened(self, small_disk: Path) -> None:
        path = small_disk / "assay.db"
        study_id = filled(path, 20)
        filler = _fill(small_disk)
        with pytest.raises(NotPossibleError) as caught:
            filled(path, 20)
        assert caught.value.remedy is not None
        filler.unlink()
        with open_store(path) as store:
            assert store.samples(study_id) == [make_sample(block) for block in range(20)]

    def test_new_store_on_full_disk_is_rejected(self, small_disk: Path) -> None:
        _fill(small_disk)
        with pytest.raises(NotPossibleError, match="full"):
            open_store(small_disk / "assay.db")


def test_read_only_file_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root can write everywhere except on a read-only mount."""
    path = tmp_path / "studies.db"
    open_store(path).close()
    real = os.statvfs

    def read_only(where: str | os.PathLike[str]) -> object:
        found = list(real(where))
        found[8] |= os.ST_RDONLY
        return os.statvfs_result(found)

    monkeypatch.setattr(os, "statvfs", read_only)
    with pytest.raises(NotPossibleError, match="mounted read-only") as caught:
        open_store(path, create=False)
    assert f"cp {path}* DIR" in str(caught.value.remedy)
    with pytest.raises(NotPossibleError, match="mounted read-only"):
        open_store(tmp_path / "other.db")


def test_specified_store_does_not_need_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    for given in (
        {"url_or_path": tmp_path / "a.db"},
        {"env": {"ASSAY_DB": str(tmp_path / "b.db")}},
    ):
        with open_store(**{"env": {}, **given}) as store:
            assert store.studies() == []
    with pytest.raises(NotPossibleError, match="no home directory"):
        open_store(env={})
