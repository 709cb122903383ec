"""Crashes of processes, and concurrent processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.records import Status
from assay.store import open_store
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec

WRITER = """
import os, sys
from assay.store import open_store
from assay.testing.store_contracts import make_sample, tune_spec, make_stratum
store = open_store(sys.argv[1])
study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
os.write(1, study_id.encode() + b"\\n")
for block in range(1_000_000):
    store.add_sample(study_id, 0, make_sample(block))
    os.write(1, b"%d\\n" % block)
"""

ONE_OF_MANY = """
import sys
from assay.store import open_store
from assay.testing.store_contracts import make_sample, tune_spec, make_stratum
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
    for block in range(30):
        store.add_sample(study_id, 0, make_sample(block))
"""


@pytest.mark.parametrize("acknowledged", [1, 50, 400])
def test_killed_writer_keeps_acknowledged_samples(
    database: Path, scripts, acknowledged: int
) -> None:
    writer = scripts.start(WRITER, database)
    study_id = writer.stdout.readline().strip()
    for _ in range(acknowledged):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    told = acknowledged + writer.stdout.read().count("\n")
    assert writer.wait() == -signal.SIGKILL

    with open_store(database) as store:
        samples = store.samples(study_id)
        assert told <= len(samples) <= told + 1
        assert samples == [make_sample(block) for block in range(len(samples))]
        assert store.study(study_id).status is Status.INTERRUPTED
        store.acquire(study_id)
        store.add_sample(study_id, 0, make_sample(len(samples)))


def test_running_study_is_locked_until_its_process_is_killed(database: Path, scripts) -> None:
    writer = scripts.start(WRITER, database)
    study_id = writer.stdout.readline().strip()
    with open_store(database) as store:
        assert store.studies()[0].status is Status.RUNNING
        with pytest.raises(NotPossibleError, match=rf"process \({writer.pid}\)"):
            store.acquire(study_id)
        with pytest.raises(NotPossibleError, match="in use"):
            store.delete(study_id)
        writer.kill()
        writer.communicate()
        assert store.studies()[0].status is Status.INTERRUPTED
        store.acquire(study_id)


def test_forked_child_does_not_inherit_locks(database: Path) -> None:
    owner = open_store(database)
    study_id = owner.create_study(tune_spec(), make_stratum(), 1.0)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            owner.add_sample(study_id, 0, make_sample())
        except NotPossibleError:
            os.write(write_end, b"refused")
        else:
            os.write(write_end, b"written")
        signal.pause()
    try:
        assert os.read(read_end, 7) == b"refused"
        with open_store(database) as other:
            with pytest.raises(NotPossibleError, match="in use"):
                other.acquire(study_id)
            owner.close()
            other.acquire(study_id)
            assert other.samples(study_id) == []
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read_end)
        os.close(write_end)


@pytest.mark.rotating
def test_concurrent_processes_create_one_store(database: Path, scripts) -> None:
    several = [scripts.start(ONE_OF_MANY, database) for _ in range(4)]
    for one in several:
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in several:
        _, err = one.communicate(timeout=60)
        assert one.returncode == 0, err
    with open_store(database) as store:
        heads = store.studies()
        assert [head.launches for head in heads] == [30] * 4
        for head in heads:
            assert store.samples(head.id) == [make_sample(block) for block in range(30)]


def test_missing_lock_file_is_recreated(database: Path) -> None:
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
    database.with_name("assay.db.lock").unlink()
    with open_store(database) as store:
        store.acquire(study_id)


def test_lock_file_has_mode_of_database(database: Path) -> None:
    open_store(database).close()
    lock = database.with_name("assay.db.lock")
    assert lock.stat().st_mode & 0o777 == database.stat().st_mode & 0o666
    assert lock.stat().st_uid == database.stat().st_uid
    assert lock.stat().st_size == 0


def test_symbolic_link_as_lock_file_is_rejected(database: Path) -> None:
    target = database.with_name("target")
    database.with_name("assay.db.lock").symlink_to(target)
    with pytest.raises(NotPossibleError, match="lock file"):
        open_store(database)
    assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_lock_file_created_by_root_belongs_to_owner_of_database(database: Path) -> None:
    lock = database.with_name("assay.db.lock")
    open_store(database).close()
    os.chown(database, 65534, 65534)
    open_store(database).close()
    assert lock.stat().st_uid == 0, "the owner of an existing file must not change"
    lock.unlink()
    open_store(database).close()
    assert (lock.stat().st_uid, lock.stat().st_gid) == (65534, 65534)
