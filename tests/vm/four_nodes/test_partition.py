"""Partitions of control groups v2 as the kernel makes them, and the broker that shares one out.

`Documentation/admin-guide/cgroup-v2.rst`, "Cpuset Interface Files".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.machine.profile_file import read_profile
from assay.errors import NotPossibleError
from assay.host.control_groups import remove_group
from assay.machine.checks import Finding, Host, Status, examine
from assay.machine.document import Machine
from assay.partition.broker import AlreadyReservedError, BrokerClient, free_cpus
from assay.partition.reservation import reserve_share
from assay.partition.share_request import parse_share_request
from assay.records import GrantStatus
from vm.alive import Alive
from vm.relay import relayed
from vm.trees import WHAT_CHECKS_READ, look
from vm.trial import attempt

pytestmark = pytest.mark.vm

TOP = "/sys/fs/cgroup"
GROUP = f"{TOP}/assay-test"
SIBLING = f"{TOP}/sibling"
PARTITION = f"{GROUP}/cpuset.cpus.partition"
SOCKET = "/tmp/broker.sock"
CPUS, OTHERS = (4, 5, 6, 7), (0, 1, 2, 3)
MEMORY_BYTES = 32 << 20
INVALID = "isolated invalid (Cpu list in cpuset.cpus not exclusive)"
"""Messages of Linux 6.1."""


@pytest.fixture
def partition(guest: Alive) -> Iterator[str]:
    """Create the folder of an isolated partition, as the kernel's documentation describes."""
    guest.host.mkdir(GROUP)
    try:
        guest.host.write(f"{GROUP}/cpuset.cpus", "4-7")
        guest.host.write(PARTITION, "isolated")
        assert guest.host.read(PARTITION) == "isolated"
        guest.host.write(f"{GROUP}/cgroup.subtree_control", "+cpuset +memory")
        yield GROUP
    finally:
        # The kernel destroys a group some time after its removal: until then its CPUs are not
        # available.
        guest.host.write(PARTITION, "member")
        for folder in (SIBLING, GROUP):
            if guest.host.listdir(folder):
                guest.host.rmdir(folder)


@pytest.fixture
def broker(guest: Alive, partition: str, tmp_path: Path) -> Iterator[Path]:
    """Return the socket on this host of a broker in the guest."""
    document = {
        "schema": 2,
        "name": "test",
        "hierarchies": [{"controller": "", "mount": TOP, "folder": partition}],
        "cpus": "4-7",
        "memory_bytes": MEMORY_BYTES,
    }
    start = (
        f"rm -f /tmp/ready; echo '{json.dumps(document)}' > /tmp/partition.json\n"
        f"assay-broker /tmp/partition.json {SOCKET} > /tmp/ready 2>&1 < /dev/null &\n"
        "echo $!; until grep -qs ready /tmp/ready; do usleep 10000; done"
    )
    pid = guest.output(start).strip()
    with relayed(guest.line, SOCKET, tmp_path / "socket") as socket:
        yield socket
    guest.output(f"kill {pid}; while [ -d /proc/{pid} ]; do usleep 10000; done")
    assert leases(guest) == []


def leases(guest: Alive) -> list[str]:
    return [name for name in guest.host.listdir(GROUP) if name.startswith("lease-")]


def sleeper(guest: Alive) -> int:
    return int(guest.output("sleep 600 > /dev/null 2>&1 < /dev/null & echo $!"))


def end(guest: Alive, pid: int) -> None:
    guest.output(f"kill -9 {pid}; while [ -d /proc/{pid} ]; do usleep 10000; done")


def group_of(guest: Alive, pid: int) -> str:
    text = guest.host.read(f"/proc/{pid}/cgroup") or ""
    return text.removeprefix("0::")


# --- the kernel's own -----------------------------------------------------------------------------


def test_partition_removes_cpus_from_other_groups(guest: Alive, partition: str) -> None:
    assert guest.host.read(PARTITION) == "isolated"
    assert guest.host.read(f"{partition}/cpuset.cpus.effective") == "4-7"
    assert guest.host.read(f"{TOP}/cpuset.cpus.effective") == "0-3"
    assert guest.host.affinity(1) == OTHERS, "what ran there before runs elsewhere"
    with pytest.raises(OSError):
        guest.host.set_affinity(1, CPUS)


def test_processes_of_other_groups_leave_partition_cpus(guest: Alive, partition: str) -> None:
    """Linux 6.1 lets processes moved into the first group run everywhere."""
    other, pid = f"{TOP}/assay-other", sleeper(guest)
    try:
        guest.host.mkdir(other)
        guest.host.write(f"{other}/cpuset.cpus", "2-3")
        guest.host.write(f"{other}/cpuset.cpus.partition", "isolated")
        guest.host.write(f"{other}/cgroup.procs", str(pid))
        assert guest.host.affinity(pid) == (2, 3)
        remove_group(guest.host, other)
        assert group_of(guest, pid) == "/"
        assert guest.host.affinity(pid) == OTHERS
        assert guest.host.read(f"{TOP}/cpuset.cpus.effective") == "0-3", "at once"
    finally:
        end(guest, pid)
        if guest.host.listdir(other):
            guest.host.rmdir(other)


def test_movable_kernel_threads_leave_partition(guest: Alive, partition: str) -> None:
    threads = kernel_threads(guest)
    assert guest.host.affinity(threads["kthreadd"]) == OTHERS
    assert guest.host.affinity(threads["khugepaged"]) == OTHERS
    assert guest.host.affinity(threads["ksoftirqd/5"]) == (5,), "what belongs to a CPU stays"


def kernel_threads(guest: Alive) -> dict[str, int]:
    lines = guest.output("ps -o pid,comm").splitlines()[1:]
    return {name: int(pid) for pid, name in (line.split(None, 1) for line in lines)}


def test_checks_report_partition(guest: Alive, partition: str, tmp_path: Path) -> None:
    """Before Linux 6.8 only the group itself shows that its CPUs are isolated."""
    found = findings(guest, tmp_path)
    assert found["isolation.partition"].status is Status.OK
    assert "active partitions: 1" in found["isolation.partition"].evidence
    assert "may run on 4-7" in found["isolation.workqueues"].evidence
    assert "isolated 4-7 without rcu_nocbs=" in found["isolation.rcu_nocbs"].evidence
    assert found["isolation.irqs"].status is not Status.OK, "new interrupts would come there"


def findings(guest: Alive, folder: Path) -> dict[str, Finding]:
    root = look(guest, WHAT_CHECKS_READ, folder)
    return {one.id: one for one in examine(Host(root), read_profile("latency"))}


def test_sibling_naming_its_cpus_invalidates_partition(
    guest: Alive, partition: str, tmp_path: Path
) -> None:
    guest.host.mkdir(SIBLING)
    guest.host.write(f"{SIBLING}/cpuset.cpus", "6-7")
    assert guest.host.read(PARTITION) == INVALID
    assert guest.host.read(f"{TOP}/cpuset.cpus.effective") == "0-7", "nothing is kept from others"
    guest.host.write(f"{SIBLING}/cpuset.cpus", "0-1")
    assert guest.host.read(PARTITION) == INVALID, "it stays so when the sibling has gone away"
    guest.host.write(PARTITION, "isolated")
    assert guest.host.read(PARTITION) == INVALID, "and when the same is asked for again"
    found = findings(guest, tmp_path)["isolation.partition"]
    assert found.status is not Status.OK and INVALID in found.evidence
    assert found.remedy is not None
    guest.output(found.remedy.text)
    assert guest.host.read(PARTITION) == "isolated", "what the check says to do does it"


def test_offline_cpu_is_missing_until_online(guest: Alive, partition: str) -> None:
    online = "/sys/devices/system/cpu/cpu7/online"
    guest.host.write(online, "0")
    try:
        assert guest.host.read(PARTITION) == "isolated"
        assert guest.host.read(f"{partition}/cpuset.cpus.effective") == "4-6"
    finally:
        guest.host.write(online, "1")
    assert guest.host.read(f"{partition}/cpuset.cpus.effective") == "4-7"


# --- the broker in it -----------------------------------------------------------------------------


def test_share_is_reserved_used_and_released(guest: Alive, broker: Path) -> None:
    pid = sleeper(guest)
    try:
        with BrokerClient(broker) as client:
            lease = client.reserve((5,), 8 << 20)
            (folder,) = lease.folders
            assert folder == f"{GROUP}/lease-1"
            assert guest.host.read(f"{folder}/cpuset.cpus.effective") == "5"
            assert guest.host.read(f"{folder}/memory.max") == str(8 << 20)
            assert guest.host.read(f"{folder}/memory.min") == str(8 << 20)
            client.move(pid)
            assert group_of(guest, pid) == "/assay-test/lease-1"
            assert guest.host.affinity(pid) == (5,)
            assert free_cpus(client.state()) == (4, 6, 7)
        with BrokerClient(broker) as other:
            assert other.state().shares == (), "who comes after another finds it gone"
        assert leases(guest) == []
        assert group_of(guest, pid) == "/", "where the client is"
        assert guest.host.affinity(pid) == OTHERS, "not where others have their shares"
    finally:
        end(guest, pid)


def test_two_clients_never_share_a_cpu(guest: Alive, broker: Path, known: Machine) -> None:
    with BrokerClient(broker) as first, BrokerClient(broker) as second:
        one = reserve_share(parse_share_request("cores=1", {}), first, known.cpus)
        other = reserve_share(parse_share_request("cores=1", {}), second, known.cpus)
        assert len(one.choice.cpus) == len(other.choice.cpus) == 2, "whole cores"
        assert not set(one.choice.cpus) & set(other.choice.cpus)
        with BrokerClient(broker) as third:
            with pytest.raises(NotPossibleError, match="none of the "):
                reserve_share(parse_share_request("cores=1", {}), third, known.cpus)
            with pytest.raises(AlreadyReservedError):
                third.reserve(one.choice.cpus)
            first.close()
            third.reserve(one.choice.cpus)
            assert free_cpus(second.state()) == ()
            assert len(leases(guest)) == 2


def test_share_lies_on_one_node_if_possible(guest: Alive, broker: Path, known: Machine) -> None:
    with BrokerClient(broker) as client:
        share = reserve_share(parse_share_request("cpus=2,mem=1/2", {}), client, known.cpus)
        assert len({cpu.node for cpu in known.cpus if cpu.id in share.choice.cpus}) == 1
        assert share.memory_bytes == MEMORY_BYTES // 2


def test_concurrent_clients_never_share_a_cpu(guest: Alive, broker: Path) -> None:
    """Each keeps its share until all have their answers."""
    asks = "\n".join(
        f"ask-broker {SOCKET} /tmp/enough "
        f'\'{{"request": "reserve", "cpus": "{4 + number % 4}"}}\' > /tmp/told.{number} &'
        for number in range(12)
    )
    script = (
        f"rm -f /tmp/enough /tmp/told.*\n{asks}\n"
        "until [ $(cat /tmp/told.* 2> /dev/null | wc -l) = 12 ]; do usleep 20000; done\n"
        "cat /tmp/told.*; touch /tmp/enough; wait"
    )
    answers = [json.loads(line) for line in guest.output(script).splitlines()]
    given = [answer for answer in answers if "lease" in answer]
    assert len(given) == 4, answers
    assert {answer["error"] for answer in answers if "lease" not in answer} == {"busy"}


def test_killed_client_frees_its_share(guest: Alive, broker: Path) -> None:
    script = (
        "rm -f /tmp/enough; : > /tmp/told; "
        f'ask-broker {SOCKET} /tmp/enough \'{{"request": "reserve", "cpus": "6"}}\' '
        '\'{"request": "move", "pid": PID}\' > /tmp/told < /dev/null 2>&1 & client=$!; '
        "until [ $(wc -l < /tmp/told) = 2 ]; do usleep 10000; done; cat /tmp/told; "
        "cat /proc/$client/cgroup; kill -9 $client; wait $client; "
        f"while [ -d {GROUP}/lease-1 ]; do usleep 10000; done"
    )
    reserved, moved, where = guest.output(script).splitlines()[:3]
    assert json.loads(reserved)["lease"] == 1 and json.loads(moved) == {}
    assert where == "0::/assay-test/lease-1"
    assert leases(guest) == []


def test_other_user_gets_share_and_cannot_move_root_processes(guest: Alive, broker: Path) -> None:
    script = (
        'touch /tmp/enough; su user -s /bin/sh -c "ask-broker ' + SOCKET + " /tmp/enough "
        '\'{\\"request\\": \\"reserve\\", \\"cpus\\": \\"4\\"}\' '
        '\'{\\"request\\": \\"move\\", \\"pid\\": 1}\' '
        '\'{\\"request\\": \\"move\\", \\"pid\\": PID}\'"'
    )
    reserved, foreign, own = (json.loads(line) for line in guest.output(script).splitlines())
    assert "lease" in reserved and foreign["error"] == "foreign" and own == {}


def test_launch_stays_in_share(guest: Alive, broker: Path, known: Machine) -> None:
    """assay-exec creates its own groups below the share's, and contains all processes in it."""
    with BrokerClient(broker) as client:
        client.reserve((6, 7))
        agent = int(guest.output("echo $PPID"))
        client.move(agent)
        try:
            trial = attempt(guest, known, {"cpus": "7"}, ["sh", "-c", SHOW])
            everywhere = attempt(guest, known, {}, ["sh", "-c", SHOW])
            outside = attempt(guest, known, {"cpus": "2"}, ["sh", "-c", SHOW])
        finally:
            guest.output(f"echo {agent} > {TOP}/cgroup.procs")
    group, cpus = trial.stdout.split()
    assert group.startswith("0::/assay-test/lease-1/") and cpus == "7"
    assert trial.facts.containment is not None and trial.facts.containment.mode == "v2"
    assert everywhere.stdout.split()[1] == "6-7"
    assert outside.facts.outcome == "setup_failed" or (
        outside.grants["cpus"].status is not GrantStatus.GRANTED
    )


SHOW = "cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status | cut -f 2; sleep 0.3"
