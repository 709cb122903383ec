"""Requests to irqbalance, answered by a substitute for the daemon."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assay.host import irqbalance
from assay.host.actions import observe, perform, target_value
from assay.records import IrqBalance
from assay.testing.recorded_host import RecordedHost

PID = 700


@dataclass
class Daemon:
    """Substitute for the daemon: a request takes effect after one more question."""

    listening: socket.socket
    obeys: bool = True
    banned: str = "00000000"
    coming: str | None = None
    asked: list[str] = field(default_factory=list)

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                question = connection.recv(500).decode()
                self.asked.append(question)
                if question == "setup":
                    text = f"SLEEP 1 IRQ 24 LOAD 0 BANNED {self.banned}"
                    connection.sendall(text.encode())
                    if self.coming is not None and self.obeys:
                        self.banned = self.coming
                elif numbers := re.fullmatch("settings cpus (NULL|[0-9 ]+)", question):
                    words = numbers[1].replace("NULL", "").split()
                    self.coming = f"{sum(1 << int(word) for word in words):08x}"


@pytest.fixture
def host(tmp_path: Path) -> RecordedHost:
    for pid, name in ((1, "init"), (PID, "irqbalance")):
        (tmp_path / f"proc/{pid}").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/comm").write_text(f"{name}\n")
        (tmp_path / f"proc/{pid}/status").write_text("Name:\tx\nUid:\t0\t0\t0\t0\n")
    return RecordedHost(tmp_path)


@pytest.fixture
def daemon(host: RecordedHost, tmp_path: Path) -> Iterator[Daemon]:
    folder = tmp_path / "run" / "irqbalance"
    folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(folder / f"irqbalance{PID}.sock"))
        listening.listen(8)
        found = Daemon(listening)
        thread = threading.Thread(target=found.serve)
        thread.start()
        yield found
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_ban_is_sent_and_withdrawn(host: RecordedHost, daemon: Daemon) -> None:
    action = IrqBalance(cpus=(2, 3))
    assert observe(host, action) == "none"
    perform(host, action, target_value(action))
    assert "settings cpus 2 3" in daemon.asked
    assert observe(host, action) == target_value(action) == "2-3"
    perform(host, action, "none")
    assert daemon.asked.count("settings cpus NULL") == 1
    assert observe(host, action) == "none"


def test_unchanged_ban_sends_no_request(host: RecordedHost, daemon: Daemon) -> None:
    daemon.banned = "0000000c"
    perform(host, IrqBalance(cpus=(2, 3)), "2-3")
    assert daemon.asked == ["setup"]


@pytest.mark.rotating
def test_daemon_that_ignores_request_is_named(
    host: RecordedHost, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irqbalance, "_START_TIMEOUT_S", 0.0)
    daemon.obeys = False
    with pytest.raises(OSError, match="did not apply the request"):
        irqbalance.ban(host, [1])


@pytest.mark.parametrize("with_socket", [True, False])
def test_running_daemon_balances_interrupts_alone(tmp_path: Path, *, with_socket: bool) -> None:
    host = RecordedHost(tmp_path)
    path = "/proc/irq/24/smp_affinity_list"
    assert not irqbalance.balances(host, path)
    (tmp_path / f"proc/{PID}").mkdir(parents=True)
    (tmp_path / f"proc/{PID}/comm").write_text("irqbalance\n")
    (tmp_path / f"proc/{PID}/status").write_text("Name:\tx\nUid:\t0\t0\t0\t0\n")
    if with_socket:
        (tmp_path / "run/irqbalance").mkdir(parents=True)
        (tmp_path / f"run/irqbalance/irqbalance{PID}.sock").touch()
    assert irqbalance.balances(host, path)
    assert not irqbalance.balances(host, "/proc/irq/default_smp_affinity")


def test_missing_daemon_has_no_ban(tmp_path: Path) -> None:
    host = RecordedHost(tmp_path)
    assert irqbalance.banned(host) is None
    with pytest.raises(OSError, match="does not answer"):
        irqbalance.ban(host, [1])


def test_program_of_another_user_is_ignored(
    host: RecordedHost, daemon: Daemon, tmp_path: Path
) -> None:
    status = tmp_path / f"proc/{PID}/status"
    status.write_text("Name:\tirqbalance\nUid:\t1000\t1000\t1000\t1000\n")
    assert irqbalance.banned(host) is None
    assert daemon.asked == []


def test_stale_socket_is_not_a_running_daemon(host: RecordedHost, tmp_path: Path) -> None:
    folder = tmp_path / "run" / "irqbalance"
    folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as gone:
        gone.bind(str(folder / f"irqbalance{PID}.sock"))
    assert irqbalance.banned(host) is None


@pytest.mark.parametrize("text", ["", "SLEEP 10", "SLEEP x BANNED 1", "SLEEP 10 BANNED xyz"])
def test_unreadable_answer_is_none(
    host: RecordedHost, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(host, "ask", lambda *_: text)
    assert irqbalance.banned(host) is None


def test_late_answer_is_awaited_by_separate_process(host: RecordedHost, tmp_path: Path) -> None:
    """Read the whole answer even if its value is unused: a closed connection kills irqbalance."""
    folder = tmp_path / "run" / "irqbalance"
    folder.mkdir(parents=True)
    path = f"/run/irqbalance/irqbalance{PID}.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(tmp_path / path.lstrip("/")))
        listening.listen(1)
        listening.settimeout(20)
        assert host.ask(path, "setup", 0.0) == ""
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(20)
            assert connection.recv(500) == b"setup"
            connection.sendall(b"SLEEP 10 BANNED 0")  # no EPIPE, nor a signal
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
