"""The broker: shares of a partition for users without root, with this host's control groups."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.reader import read_machine
from assay.partition.broker import AlreadyReservedError, BrokerClient, free_cpus
from assay.partition.reservation import ReservedResources, reserve_share
from assay.partition.share_request import Amount, ShareRequest, parse_share_request

V1 = Path("/sys/fs/cgroup/cpuset")
NOBODY = 65534
HOST = read_machine()
CPUS = sorted(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes partitions"),
    pytest.mark.skipif(
        not (V1 / "cpuset.cpus").exists(), reason="the guests try control groups of version 2"
    ),
    pytest.mark.skipif(len(CPUS) < 2, reason="two CPUs are shared out"),
]


def listed(cpus: list[int]) -> str:
    return ",".join(map(str, cpus))


def packets() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@dataclass
class Client:
    """A connection to the broker."""

    socket: socket.socket

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def raw(self, packet: bytes) -> dict[str, Any]:
        self.socket.send(packet)
        found = json.loads(self.socket.recv(1 << 16))
        assert isinstance(found, dict)
        return found

    def ask(self, do: str, **more: object) -> dict[str, Any]:
        return self.raw(json.dumps({"request": do, **more}).encode())


@dataclass
class Partition:
    """A partition of the CPUs of this process, with a broker that a test may end."""

    folder: Path
    group: Path
    broker: Path
    process: subprocess.Popen[str] | None = None

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        document = {
            "schema": 2,
            "name": "test",
            "hierarchies": [{"controller": "cpuset", "mount": str(V1), "folder": str(self.group)}],
            "cpus": listed(CPUS),
            "memory_bytes": 1 << 30,
            "gpus": "0",
        }
        path = self.folder / "partition.json"
        path.write_text(json.dumps(document))
        self.process = subprocess.Popen(
            [self.broker, path, self.socket], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        status = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None
        return status

    def client(self) -> Client:
        found = packets()
        found.connect(str(self.socket))  # waits behind many other requests, unlike:
        found.settimeout(20.0)
        return Client(found)

    @property
    def leases(self) -> list[str]:
        return sorted(path.name for path in self.group.glob("lease-*"))


@pytest.fixture
def partition(assay_broker: Path) -> Iterator[Partition]:
    group = V1 / f"assay-test-{os.getpid()}"
    group.mkdir()
    (group / "cpuset.mems").write_text((V1 / "cpuset.mems").read_text())
    (group / "cpuset.cpus").write_text(listed(CPUS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        found = Partition(folder, group, assay_broker)
        try:
            found.start()
            yield found
        finally:
            if found.process is not None:
                found.end()
            assert not found.leases
            group.rmdir()


@contextlib.contextmanager
def group_in(above: Path, name: str) -> Iterator[Path]:
    """A group of the v1 cpuset hierarchy, of the CPUs and nodes of the one above."""
    found = above / name
    found.mkdir()
    try:
        for file in ("cpuset.mems", "cpuset.cpus"):
            (found / file).write_text((above / file).read_text())
        yield found
    finally:
        with contextlib.suppress(FileNotFoundError):  # it ended with its share
            found.rmdir()


@contextlib.contextmanager
def numbered(pid: int) -> Iterator[subprocess.Popen[bytes]]:
    """Return a process of another user with the given id."""
    for _ in range(1000):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
        with subprocess.Popen(["sleep", "600"], user=NOBODY) as process:
            try:
                if process.pid == pid:
                    yield process
                    return
            finally:
                process.kill()
    pytest.skip("others begin too many processes to get the number")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def group_of(pid: int) -> str:
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line.split(":", 2)[2] for line in lines if ":cpuset:" in line)


def until(holds: Any, what: str) -> None:
    end = time.monotonic() + 20.0
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def as_nobody(partition: Partition, code: str, *arguments: str) -> str:
    """Return the output of a Python program of another user, with a connection in ``c``."""
    done = subprocess.run(
        [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("/usr/bin/python3", "-c", _CLIENT + code, str(partition.socket), *arguments),
        ],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


_CLIENT = """\
import json, os, socket, sys
class C:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.connect(sys.argv[1])
    def ask(self, do, **more):
        self.s.send(json.dumps({"request": do, **more}).encode())
        return json.loads(self.s.recv(65536))
c = C()
"""


def test_share_is_group_for_moved_processes(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    before = group_of(sleeper.pid)
    with partition.client() as client:
        shown = client.ask("show")
        assert (shown["cpus"], shown["free_cpus"]) == (shown["free_cpus"], shown["cpus"])
        given = client.ask("reserve", cpus=str(CPUS[1]), memory_bytes=1 << 20, gpus="0")
        assert given == {"lease": 1, "folders": [str(partition.group / "lease-1")]}
        assert client.ask("move", pid=sleeper.pid) == {}
        assert group_of(sleeper.pid).endswith("/lease-1")
        assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
        shown = client.ask("show")
        assert shown["free_bytes"] == (1 << 30) - (1 << 20)
        assert shown["free_gpus"] == ""
        (share,) = shown["shares"]
        assert share["cpus"] == str(CPUS[1])
        assert share["pid"] == os.getpid()
    until(lambda: not partition.leases, "the share ends with the connection")
    assert group_of(sleeper.pid) == before
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)
    assert sleeper.poll() is None


def test_cpus_are_reserved_once(partition: Partition) -> None:
    with partition.client() as first, partition.client() as second:
        assert "lease" in first.ask("reserve", cpus=str(CPUS[0]), memory_bytes=1 << 30, gpus="0")
        everything = second.ask("reserve", cpus=listed(CPUS))
        assert (everything["error"], everything["resource"]) == ("busy", "cpus")
        assert everything["detail"] == str(CPUS[0])
        memory = second.ask("reserve", cpus=str(CPUS[1]), memory_bytes=1)
        assert (memory["error"], memory["resource"], memory["detail"]) == (
            "busy",
            "memory_bytes",
            "0",
        )
        gpu = second.ask("reserve", cpus=str(CPUS[1]), gpus="0")
        assert (gpu["error"], gpu["resource"]) == ("busy", "gpus")
        # Refused requests reserve no CPUs.
        assert "lease" in second.ask("reserve", cpus=str(CPUS[1]))
        assert second.ask("reserve", cpus=str(CPUS[1]))["error"] == "held"
        assert len(partition.leases) == 2
        first.socket.close()
        assert second.ask("show")["free_cpus"] == str(CPUS[0])
        assert len(partition.leases) == 1


def test_cpus_outside_partition_are_refused(partition: Partition) -> None:
    with partition.client() as client:
        foreign = client.ask("reserve", cpus=f"{CPUS[0]},999")
        assert (foreign["error"], foreign["detail"]) == ("unknown", "999")
        assert client.ask("reserve", cpus="")["error"] == "empty"
        assert client.ask("reserve", cpus=str(CPUS[0]), gpus="3")["error"] == "unknown"
        assert client.ask("reserve", cpus=str(CPUS[0]), memory_bytes=1 << 40)["error"] == "unknown"
        assert client.ask("move", pid=os.getpid())["error"] == "none"
        assert not partition.leases


def test_other_user_moves_only_own_processes(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    code = f"""
assert "lease" in c.ask("reserve", cpus="{CPUS[1]}")
assert c.ask("move", pid=int(sys.argv[2]))["error"] == "foreign"
assert c.ask("move", pid=1)["error"] == "foreign"
assert c.ask("move", pid=os.getpid()) == {{}}
assert os.sched_getaffinity(0) == {{{CPUS[1]}}}
child = os.popen("grep -c . /proc/self/status; cat /proc/self/cgroup").read()
assert "/lease-1" in child
print("done")
"""
    assert as_nobody(partition, code, str(sleeper.pid)) == "done\n"
    until(lambda: not partition.leases, "the share ends with its user")


def test_shares_of_other_users_hide_process(partition: Partition) -> None:
    with partition.client() as client:
        client.ask("reserve", cpus=str(CPUS[0]))
        message = as_nobody(partition, 'print(json.dumps(c.ask("show")["shares"]))')
    (share,) = json.loads(message)
    assert share["uid"] == 0 and "pid" not in share


def test_partition_being_deleted_grants_no_share(partition: Partition) -> None:
    refused = as_nobody(partition, 'print(c.ask("delete")["error"])')
    assert refused == "foreign\n"
    with BrokerClient(partition.socket) as other:
        with BrokerClient(partition.socket) as deleting:
            assert deleting.begin_deletion().shares == ()
            with pytest.raises(NotPossibleError, match="the partition is being deleted"):
                other.reserve(CPUS[:1])
        assert other.reserve(CPUS[:1]).folders  # its caller was stopped


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"x",
        b"[]",
        b"{}",
        b'{"request": 1}',
        b'{"request": "reserve", "cpus": 3}',
        b'{"request": "reserve", "cpus": "a"}',
        b'{"request": "release"}',
        b'{"request": "reserve", "cpus": "%s"}' % b",".join([b"0-65536"] * 1500),
        b'{"request": "reserve", "cpus": "0", "memory_bytes": -1}',
        b'{"request": "reserve", "cpus": "0", "memory_bytes": 1e3}',
        b'{"request": "move", "pid": "1"}',
        b"[" * 8000,
        b"\xff\xfe\0" * 100,
        b"{" + b" " * (1 << 15),
    ],
)
def test_malformed_packet_affects_no_client(partition: Partition, packet: bytes) -> None:
    with partition.client() as first, partition.client() as client:
        if packet:
            assert client.raw(packet)["error"] == "unreadable"
        else:
            client.socket.send(packet)  # an empty packet reads as an end
        assert first.ask("show")["name"] == "test"


def test_connections_of_one_user_are_limited(partition: Partition) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(partition.client()) for _ in range(140)]
        served = 0
        for client in clients:
            with contextlib.suppress(OSError, json.JSONDecodeError):
                served += "name" in client.ask("show")
        assert served == 128
        assert as_nobody(partition, 'print(c.ask("show")["name"])') == "test\n"


def test_killed_client_frees_its_share(partition: Partition) -> None:
    code = f"""
import subprocess
c.ask("reserve", cpus="{CPUS[1]}")
c.ask("move", pid=os.getpid())
print(subprocess.Popen(["sleep", "600"], stdout=-3, stderr=-3).pid, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", _CLIENT + code, partition.socket],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL
    until(lambda: not partition.leases, "the share of a killed client ends")
    left = int(done.stdout)
    assert os.sched_getaffinity(left) == set(CPUS)  # its child lives on, where the client was
    os.kill(left, signal.SIGKILL)


def test_groups_nested_beyond_path_limit_are_removed(partition: Partition) -> None:
    """The owner of a share may nest groups below it to any depth."""
    with partition.client() as client:
        (folder,) = client.ask("reserve", cpus=str(CPUS[1]))["folders"]
        here = os.open(folder, os.O_RDONLY)
        for _ in range(1500):  # more than one pass of the broker reaches
            os.mkdir("one-in-another", dir_fd=here)
            here, above = os.open("one-in-another", os.O_RDONLY, dir_fd=here), here
            os.close(above)
        os.close(here)
    until(lambda: not partition.leases, "they are removed")


def test_fork_bomb_releases_cpus(partition: Partition, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    code = f"""
import time
c.ask("reserve", cpus="{CPUS[1]}")
c.ask("move", pid=os.getpid())
if os.fork() == 0:
    for number in (0, 1, 2, c.s.fileno()): os.close(number)
    end = time.monotonic() + 60
    while not os.path.exists(sys.argv[2]) and time.monotonic() < end:
        if os.fork(): os._exit(0)
    os._exit(0)
"""
    try:
        subprocess.run(
            [sys.executable, "-c", _CLIENT + code, partition.socket, stop], check=True, timeout=60
        )
        until(lambda: not partition.leases, "what it forks is moved or ended")
        with partition.client() as client:
            assert client.ask("show")["free_cpus"] == client.ask("show")["cpus"]
    finally:
        stop.touch()


@pytest.mark.rotating
def test_cpus_stay_reserved_until_processes_end(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    frozen = V1.parent / "freezer" / f"assay-test-{os.getpid()}"
    origin = V1 / f"assay-test-{os.getpid()}-origin"
    home = V1 / group_of(os.getpid()).lstrip("/")
    if not (frozen.parent / "cgroup.procs").exists():
        pytest.skip("this host has no freezer of version 1")
    frozen.mkdir()
    origin.mkdir()
    try:
        (origin / "cpuset.mems").write_text((V1 / "cpuset.mems").read_text())
        (origin / "cpuset.cpus").write_text(listed(CPUS))
        (origin / "cgroup.procs").write_text(str(os.getpid()))
        with partition.client() as client:
            client.ask("reserve", cpus=str(CPUS[1]))
            client.ask("move", pid=sleeper.pid)
            (home / "cgroup.procs").write_text(str(os.getpid()))
            # No process can be moved back into it, and a frozen process cannot be ended.
            (origin / "cpuset.cpus").write_text("\n")
            (frozen / "cgroup.procs").write_text(str(sleeper.pid))
            (frozen / "freezer.state").write_text("FROZEN")
        with partition.client() as other:
            until(lambda: other.ask("show")["shares"] == [], "the client is gone")
            assert other.ask("show")["free_cpus"] == str(CPUS[0])
            assert other.ask("reserve", cpus=str(CPUS[1]))["error"] == "busy"
            assert partition.leases == ["lease-1"]
            (frozen / "freezer.state").write_text("THAWED")
            assert sleeper.wait(20) == -signal.SIGKILL
            until(
                lambda: other.ask("show")["free_cpus"] == other.ask("show")["cpus"], "they are free"
            )
    finally:
        (home / "cgroup.procs").write_text(str(os.getpid()))
        (frozen / "freezer.state").write_text("THAWED")
        sleeper.kill()
        sleeper.wait()
        frozen.rmdir()
        origin.rmdir()


def test_waiting_request_does_not_block_others(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    """Groups made by a launcher below a share stay for a moment: the share is removed later."""

    def other_is_first() -> bool:
        with contextlib.ExitStack() as stack:
            asker, other = (stack.enter_context(partition.client()) for _ in range(2))
            with partition.client() as leaving:
                (folder,) = leaving.ask("reserve", cpus=str(CPUS[1]))["folders"]
                lower = stack.enter_context(group_in(Path(folder), "lower"))
                (lower / "cgroup.procs").write_text(str(sleeper.pid))
            asker.socket.send(b'{"request": "show"}')
            assert other.ask("move", pid=sleeper.pid)["error"] == "none"
            first = not select.select([asker.socket], [], [], 0)[0]
            shown = json.loads(asker.socket.recv(1 << 16))
            assert shown["free_cpus"] == shown["cpus"], "who asks finds free what was let go of"
            return first

    assert any(other_is_first() for _ in range(10))  # the other may be late on a busy machine


def test_waiting_request_of_closed_connection_is_dropped(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    with partition.client() as asker, partition.client() as leaving:
        (folder,) = leaving.ask("reserve", cpus=str(CPUS[1]))["folders"]
        with group_in(Path(folder), "lower") as lower:
            (lower / "cgroup.procs").write_text(str(sleeper.pid))
            leaving.socket.close()
            asker.ask("reserve", cpus=str(CPUS[0]))
            asker.socket.send(b'{"request": "show"}')
            asker.socket.close()
            with partition.client() as other:
                shown = other.ask("show")
                assert (shown["free_cpus"], shown["shares"]) == (shown["cpus"], [])


def test_reused_process_id_does_not_select_share(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    """The process that made a connection ends before the broker reads its id, and a process of
    another user gets the same id. Remaining processes of the share do not move to its group.
    """
    assert partition.process is not None
    status = Path(f"/proc/{partition.process.pid}/status")
    connects = "import socket, sys; socket.socket(fileno=int(sys.argv[1])).connect(sys.argv[2])"
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(Client(packets()))
        client.socket.settimeout(20.0)
        partition.process.send_signal(signal.SIGSTOP)
        stack.callback(partition.process.send_signal, signal.SIGCONT)
        until(lambda: "State:\tT" in status.read_text(), "the broker is stopped")
        number = client.socket.fileno()
        maker = subprocess.Popen(
            [sys.executable, "-c", connects, str(number), partition.socket], pass_fds=[number]
        )
        assert maker.wait(20) == 0
        group = stack.enter_context(group_in(V1, f"assay-test-{os.getpid()}-stranger"))
        stranger = stack.enter_context(numbered(maker.pid))
        (group / "cgroup.procs").write_text(str(stranger.pid))
        partition.process.send_signal(signal.SIGCONT)
        assert "lease" in client.ask("reserve", cpus=str(CPUS[1]))
        assert client.ask("move", pid=sleeper.pid) == {}
        client.socket.close()
        assert sleeper.wait(20) == -signal.SIGKILL
        assert stranger.poll() is None


def test_process_is_confined_to_cpus_of_share(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    with partition.client() as client:
        client.ask("reserve", cpus=listed(CPUS))
        assert client.ask("move", pid=sleeper.pid, cpus=str(CPUS[1])) == {}
        assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
        refused = client.ask("move", pid=sleeper.pid, cpus="999")
        assert (refused["error"], refused["resource"], refused["detail"]) == (
            "unknown",
            "cpus",
            "999",
        )
        assert client.ask("move", pid=sleeper.pid, cpus="x")["error"] == "unreadable"
        assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}


def test_terminated_broker_ends_all_shares(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    with partition.client() as client:
        client.ask("reserve", cpus=str(CPUS[1]))
        client.ask("move", pid=sleeper.pid)
        assert partition.end() == 0
        assert not partition.leases
        assert not partition.socket.exists()
        assert sleeper.poll() is None
        assert client.socket.recv(1) == b""


def test_broker_after_killed_one_cleans_up(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    with partition.client() as client:
        client.ask("reserve", cpus=str(CPUS[1]))
        client.ask("move", pid=sleeper.pid)
        partition.end(signal.SIGKILL)
        assert partition.leases == ["lease-1"]
    partition.start()
    assert not partition.leases
    assert sleeper.wait(20) == -signal.SIGKILL
    with partition.client() as client:
        assert "lease" in client.ask("reserve", cpus=listed(CPUS))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not a JSON object"),
        ("{}", "another version"),
        ('{"schema": "two"}', "another version"),
        ('{"schema": 2, "name": "a"}', "missing hierarchies"),
        (
            '{"schema": 2, "name": "a", "cpus": "0", "hierarchies": [{"controller": "", '
            '"mount": "/sys/fs/cgroup", "folder": "/etc"}]}',
            "is not below",
        ),
        (
            '{"schema": 2, "name": "a", "cpus": "0", "hierarchies": [{"controller": "", '
            '"mount": "/sys/fs/cgroup", "folder": "/sys/fs/cgroup/../../etc"}]}',
            "is not below",
        ),
    ],
)
def test_unreadable_partition_is_reported(
    assay_broker: Path, tmp_path: Path, document: str, message: str
) -> None:
    path = tmp_path / "partition.json"
    path.write_text(document)
    done = subprocess.run(
        [assay_broker, path, tmp_path / "socket"], capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 2 and message in done.stderr


# --- the client -----------------------------------------------------------------------------------


def test_client_reserves_moves_and_releases(
    partition: Partition, sleeper: subprocess.Popen[bytes]
) -> None:
    with BrokerClient(partition.socket) as broker, BrokerClient(partition.socket) as other:
        lease = broker.reserve([CPUS[1]], 1 << 20)
        assert lease.folders == (str(partition.group / "lease-1"),)
        broker.move(sleeper.pid)
        assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
        state = other.state()
        assert free_cpus(state) == (CPUS[0],)
        assert [share.pid for share in state.shares] == [os.getpid()]
        with pytest.raises(AlreadyReservedError, match=f"Other shares include CPU {CPUS[1]}"):
            other.reserve(CPUS)
        with pytest.raises(AlreadyReservedError, match="of memory are free"):
            other.reserve([CPUS[0]], 1 << 30)
        with pytest.raises(InvalidInputError, match="has no CPU 999"):
            other.reserve([999])
        with pytest.raises(NotPossibleError, match="no share"):
            other.move(sleeper.pid)
        broker.close()
        other.reserve(CPUS)
        assert os.sched_getaffinity(sleeper.pid) == set(CPUS)


def test_missing_broker_is_reported(partition: Partition) -> None:
    with BrokerClient(partition.socket) as broker:
        partition.end()
        with pytest.raises(NotPossibleError, match="does not answer"):
            broker.state()
    with pytest.raises(NotPossibleError, match="No broker answers"):
        BrokerClient(partition.socket)


def patiently(broker: BrokerClient, seed: int) -> ReservedResources:
    """Reserve a core as soon as one is free."""
    end = time.monotonic() + 60.0
    while True:
        try:
            return reserve_share(ShareRequest(cores=Amount(1)), broker, HOST.cpus, seed)
        except NotPossibleError:
            assert time.monotonic() < end
            time.sleep(0.002)


def test_concurrent_clients_never_share_a_cpu(partition: Partition) -> None:
    """Start processes that repeatedly reserve a core each, concurrently with others."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        held: list[set[int]] = []
        guard = threading.Lock()

        def once(number: int) -> int:
            with BrokerClient(partition.socket) as broker:
                share = patiently(broker, number)
                mine = set(share.choice.cpus)
                with guard:
                    assert not any(mine & other for other in held)
                    held.append(mine)
                time.sleep(0.002)
                with guard:
                    held.remove(mine)
            return 1

        assert sum(pool.map(once, range(40))) == 40


def test_reservation_is_granted_from_free_cpus(partition: Partition) -> None:
    with BrokerClient(partition.socket) as first, BrokerClient(partition.socket) as second:
        share = reserve_share(parse_share_request("share=1/2", {}), first, HOST.cpus)
        assert len(share.choice.cpus) == len(CPUS) // 2
        assert (share.memory_bytes, share.gpus) == (1 << 29, (0,))
        with pytest.raises(NotPossibleError, match="of the partition is free"):
            reserve_share(parse_share_request("cores=all", {}), second, HOST.cpus)
        with pytest.raises(NotPossibleError, match="Only 0 of the 1 GPUs"):
            reserve_share(parse_share_request("cores=1,gpus=1", {}), second, HOST.cpus)
        with pytest.raises(NotPossibleError, match="of memory are free"):
            reserve_share(parse_share_request("cores=1,mem=1G", {}), second, HOST.cpus)
        assert (
            reserve_share(parse_share_request("cores=1", {}), second, HOST.cpus).memory_bytes == 0
        )
