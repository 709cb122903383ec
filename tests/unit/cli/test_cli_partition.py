"""JSON documents of ``assay partition``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from assay.cli.main import main
from assay.cli.partition import create, delete, start
from assay.cli.partition import list as listing
from assay.host.changes import ActionOutcome, ActionStatus, UpdateResult
from assay.host.journal import Note
from assay.host.undo import UndoOutcome
from assay.partition.broker import HeldShare, PartitionState
from assay.partition.lifecycle import CreatedPartition, StartedPartition
from assay.partition.registry import Memory, Partition
from assay.partition.status import KernelWorkStatus, PartitionStatus
from assay.records.action import ControlGroup, WriteFile
from json_schemas import assert_valid

GROUP = ControlGroup(path="/sys/fs/cgroup/assay-quiet", files=())
SMALL = Partition(
    name="small",
    boot_id="b",
    version=1,
    root_group="/sys/fs/cgroup/cpuset",
    cpus="0",
    nodes="0",
    groups=(GROUP,),
    broker=False,
)
QUIET = Partition(
    name="quiet",
    boot_id="b",
    version=2,
    root_group="/sys/fs/cgroup",
    cpus="2-3",
    nodes="0",
    groups=(GROUP,),
    memory=Memory(bytes=1 << 30, requested_bytes=1 << 30, guarantee="minimum"),
    gpus="0",
    idle_limit="poll",
)
STATE = PartitionState(
    name="quiet",
    version="1.0",
    cpus="2-3",
    free_cpus="3",
    memory_bytes=1 << 30,
    free_bytes=1 << 29,
    gpus="0",
    free_gpus="",
    shares=(
        HeldShare(lease=1, cpus="2", memory_bytes=1 << 29, gpus="0", uid=1000, pid=7),
        HeldShare(lease=2, cpus="", uid=1001),
    ),
)
KERNEL_WORK = (
    KernelWorkStatus("interrupts", 3, {"24": "the kernel refuses it"}, {"25": "0-3"}),
    KernelWorkStatus("workqueues", 2, {}, {}),
    KernelWorkStatus("threads", 9, {}, {}, lapsed=1),
    KernelWorkStatus("settings", 0, {}, {}),
)
FILE = WriteFile(path="/proc/sys/vm/stat_interval", value="120")
NOTE = Note(id=1, boot_id="b", owner="partitions", action=FILE, old="1")
UPDATE = UpdateResult(
    outcomes=(
        ActionOutcome(FILE, ActionStatus.REFUSED, reason="permission denied"),
        ActionOutcome(FILE, ActionStatus.DRIFTED),
        ActionOutcome(FILE, ActionStatus.KEPT),
    ),
    undone=(
        UndoOutcome(NOTE, "drifted", "5"),
        UndoOutcome(NOTE, "failed", "120", "permission denied"),
        UndoOutcome(NOTE, "undone"),
    ),
)
Call = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run an action with ``--json``; return its exit status and its document."""
    for module in (create, delete, start):
        monkeypatch.setattr(module, "terminate_in_order", lambda: None)
    for module in (create, listing):
        monkeypatch.setattr(module, "read_kernel_work", lambda *_: KERNEL_WORK)

    def run(*words: str) -> tuple[int, dict[str, Any]]:
        status = main(["partition", *words, "--json"])
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert_valid(f"partition-{words[0]}", document)
        return status, document

    return run


def test_list_json_has_partitions_in_every_state(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = (
        PartitionStatus("quiet", QUIET, None, STATE),
        PartitionStatus("silent", QUIET, "a CPU is offline", None),
        PartitionStatus("small", SMALL, None, None),
        PartitionStatus("unfinished", None, "it is incomplete", None),
    )
    monkeypatch.setattr(listing, "read_partitions", lambda *_: found)
    status, document = call("list")
    quiet, silent, small, unfinished = document["partitions"]
    assert status == 1
    assert list(quiet) == [
        *("name", "in_force", "cpus", "nodes", "cgroup", "groups", "idle_limit", "memory", "gpus"),
        *("boot", "broker", "version", "free", "shares"),
    ]
    assert quiet["free"] == {"cpus": "3", "memory_bytes": 1 << 29, "gpus": ""}
    assert quiet["shares"] == [
        {"cpus": "2", "memory_bytes": 1 << 29, "gpus": "0", "uid": 1000, "pid": 7},
        {"cpus": "", "memory_bytes": 0, "gpus": "", "uid": 1001},
    ]
    assert (silent["broker"], silent["fault"]) == ("silent", "a CPU is offline")
    assert (small["broker"], small["cgroup"], small["idle_limit"]) == ("none", "v1", "default")
    assert not {"memory", "gpus", "shares"} & set(small)
    assert unfinished == {"name": "unfinished", "in_force": False, "fault": "it is incomplete"}
    assert list(document["steered"]) == ["interrupts", "workqueues", "threads", "settings"]
    assert document["steered"]["workqueues"] == {"moved": 2, "refused": {}, "drifted": {}}
    assert document["steered"]["threads"]["lapsed"] == 1


def test_create_json_has_partition_and_kernel_work(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(create, "create_partition", lambda *_: CreatedPartition(QUIET, ()))
    status, document = call("create", "quiet", "--cpus", "2-3")
    assert status == 0
    assert list(document) == ["schema", "partition", "steered"]
    assert document["partition"]["memory"] == {
        "bytes": 1 << 30,
        "requested_bytes": 1 << 30,
        "guarantee": "minimum",
    }


def test_create_dry_run_json_has_paths(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(create, "plan_partition", lambda *_: SMALL)
    monkeypatch.setattr(create, "additional_actions", lambda *_: [GROUP, FILE])
    status, document = call("create", "small", "--cpus", "0", "--dry-run")
    assert status == 0
    assert list(document) == ["schema", "partition", "would"]
    assert document["would"] == [GROUP.path, FILE.path]


def test_start_json_has_unmet_requirements(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    started = StartedPartition(QUIET, UPDATE, broker_started=True, ended=2)
    monkeypatch.setattr(start, "start_partition", lambda *_: started)
    status, document = call("start", "quiet")
    assert (status, document["ended"]) == (1, 2)
    assert document["unmet"] == [
        {"path": FILE.path, "status": "refused", "reason": "permission denied"},
        {"path": FILE.path, "status": "drifted", "reason": None},
    ]


def test_delete_json_has_values_that_were_not_restored(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete, "delete_partition", lambda *_, **__: UPDATE)
    status, document = call("delete", "quiet")
    assert (status, document["deleted"]) == (1, "quiet")
    first, second = document["not_restored"]
    assert first == {"path": FILE.path, "original_value": "1", "status": "drifted"}
    assert (second["status"], second["reason"]) == ("failed", "permission denied")
