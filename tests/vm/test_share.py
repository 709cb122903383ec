"""Launches in a share of an isolated partition of control groups v2, by a user without root."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .batch import Batch, run_batch
from .guest import Guest

pytestmark = [pytest.mark.vm, pytest.mark.rotating("small guests", together="share")]

TOP = "/sys/fs/cgroup"
PARTITION = {
    "schema": 2,
    "name": "lab",
    "hierarchies": [{"controller": "", "mount": TOP, "folder": f"{TOP}/lab"}],
    "cpus": "1-2",
    "memory_bytes": 64 << 20,
}
MADE = (
    f"cd {TOP}; echo +cpuset > cgroup.subtree_control; mkdir lab; echo 1-2 > lab/cpuset.cpus;"
    " echo isolated > lab/cpuset.cpus.partition; echo +cpuset > lab/cgroup.subtree_control;"
    " chmod 777 /out; (assay-broker /partition.json /tmp/socket > /dev/null 2>&1 &);"
    " until [ -e /tmp/socket ]; do usleep 20000; done; cd /;"
)
SHARE = "share /tmp/socket 1000 2 assay-exec --plan /plans/{}.json --record /out/record.json"
FREED = (
    f"for i in $(seq 50); do [ -e {TOP}/lab/lease-1 ] || break; usleep 100000; done;"
    f" find {TOP}/lab -type d > /out/groups; cp {TOP}/lab/cpuset.cpus.partition /out/partition;"
    f" ps -o pid,comm > /out/processes; killall assay-broker; usleep 200000;"
    f" echo member > {TOP}/lab/cpuset.cpus.partition; rmdir {TOP}/lab"
)
WHERE = (
    f"cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status;"
    f" cat {TOP}/lab/cpuset.cpus.partition {TOP}/lab/lease-1/cpuset.cpus.effective"
)
PLANS: dict[str, dict[str, Any]] = {
    "where": {"argv": ["sh", "-c", WHERE], "stdout": "/out/stdout"},
    "daemons": {"argv": ["sh", "-c", "daemonise 2 0; touch /tmp/ready; sleep 15"]},
}
KILLED = (
    "rm -f /tmp/ready; (" + SHARE.format("daemons") + " &);"
    " until [ -e /tmp/ready ]; do usleep 20000; done; "
)
SCRIPTS = {
    "placed": f". /made; {SHARE.format('where')}; . /freed",
    # Remains of a launcher that is killed with its supervisor: a group below the share, with
    # processes in it. They hold no connection, and move back to the group of the caller.
    "killed": f". /made; {KILLED} killall -KILL assay-exec; usleep 300000; . /freed;"
    " cat /proc/$(pidof daemonise | cut -d ' ' -f 1)/cgroup > /out/left; killall -KILL daemonise",
}


@pytest.fixture(scope="module")
def batch(
    guest_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    assay_exec: Path,
    assay_broker: Path,
) -> Batch:
    files = {
        **guest_programs,
        "/bin/assay-exec": assay_exec,
        "/bin/assay-broker": assay_broker,
        "/made": MADE.encode(),
        "/freed": FREED.encode(),
        "/partition.json": json.dumps(PARTITION).encode(),
        "/etc/passwd": b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n",
    }
    guest = Guest(kernel=guest_kernel, cgroup="v2", cpus=3)
    return run_batch(guest, files, PLANS, SCRIPTS, left_out=PLANS)


def test_unprivileged_launcher_contains_tree_in_share(batch: Batch) -> None:
    record = batch.record("placed")
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["mode"] == "v2"
    assert record["containment"]["guarantee"] == "complete"
    group, allowed, partition, effective = batch.text("placed", "/out/stdout").splitlines()
    assert re.fullmatch(r"0::/lab/lease-1/assay-\d+-0", group)
    assert allowed.split() == ["Cpus_allowed_list:", "2"]
    assert (partition, effective) == ("isolated", "2")


@pytest.mark.parametrize("name", ["placed", "killed"])
def test_no_group_of_share_remains(batch: Batch, name: str) -> None:
    assert batch.text(name, "/out/groups").split() == [f"{TOP}/lab"]
    assert batch.text(name, "/out/partition") == "isolated\n"


def test_remaining_processes_move_to_group_of_caller(batch: Batch) -> None:
    assert batch.text("killed", "/out/left") == "0::/\n"
