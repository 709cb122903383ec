"""Requests of an unprivileged assay to its root helper, and the answers."""

from __future__ import annotations

import json
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine.boot import BOOT_ID
from assay.machine.tunables import LATENCY
from assay.root_helper.server import MAX_BYTES, HelperServer, serve
from assay.testing.recorded_host import RecordedHost

STAT = "/proc/sys/vm/stat_interval"
SWAPS = "/proc/swaps"
WRITE = {"kind": "write_file", "path": STAT, "value": "7", "form": "number"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Provide a host with one file of the table, a device, and other files."""
    base = tmp_path / "host"
    for path, text in (
        (STAT, "1\n"),
        (LATENCY, ""),
        (BOOT_ID, "of no kernel that runs\n"),  # so that the guard leaves this machine alone
        ("/etc/passwd", "root\n"),
        ("/proc/sys/kernel/core_pattern", "core\n"),
        (SWAPS, "Filename\tType\tSize\tUsed\tPriority\n/swap\tfile\t1024\t0\t-2\n"),
    ):
        place = base / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return base


def ask(helping: HelperServer, question: Any) -> dict[str, Any]:
    text = question if isinstance(question, bytes) else json.dumps(question).encode()
    found: dict[str, Any] = json.loads(helping.answer(text))
    return found


def files(tree: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def test_held_actions_are_read_and_released(tree: Path) -> None:
    helping = HelperServer(RecordedHost(tree))
    before = files(tree)
    told = ask(helping, {"ask": "hold", "actions": [WRITE]})
    assert [o["status"] for o in told["outcomes"]] == ["granted"]
    assert (tree / STAT.lstrip("/")).read_text() == "7\n"
    seen = ask(helping, {"ask": "look", "actions": [WRITE]})
    assert seen == {"ask": "seen", "found": {STAT: "7"}}
    assert ask(helping, {"ask": "release"})["words"] == []
    assert files(tree) == before


def test_drift_is_in_the_answer(tree: Path) -> None:
    helping = HelperServer(RecordedHost(tree))
    ask(helping, {"ask": "hold", "actions": [WRITE]})
    (tree / STAT.lstrip("/")).write_text("9\n")
    (word,) = ask(helping, {"ask": "release"})["words"]
    assert (word["fate"], word["found"]) == ("drifted", "9")


def test_kept_actions_outlast_client_and_are_restored(tree: Path) -> None:
    helping = HelperServer(RecordedHost(tree))
    ask(helping, {"ask": "keep", "actions": [WRITE]})
    helping.close()
    assert (tree / STAT.lstrip("/")).read_text() == "7\n"
    foreseen = ask(HelperServer(RecordedHost(tree)), {"ask": "restore", "dry_run": True})
    assert [word["fate"] for word in foreseen["words"]] == ["undone"]
    assert (tree / STAT.lstrip("/")).read_text() == "7\n"
    ask(HelperServer(RecordedHost(tree)), {"ask": "restore"})
    assert (tree / STAT.lstrip("/")).read_text() == "1\n"


REFUSED = {
    "no JSON": b"\xff",
    "nothing": b"",
    "no object": [1],
    "no word": {},
    "an unknown word": {"ask": "run", "argv": ["id"]},
    "an answer": {"ask": "seen", "found": {}},
    "a further key": {"ask": "release", "path": "/etc/passwd"},
    "an action of a launch": {
        "ask": "hold",
        "actions": [{"kind": "env", "name": "A", "value": ""}],
    },
    "a command in front": {"ask": "hold", "actions": [{"kind": "wrap", "argv": ["id"]}]},
    "no list": {"ask": "hold", "actions": WRITE},
    "a number for a text": {"ask": "hold", "actions": [{**WRITE, "value": 7}]},
    "a file that is none of ours": {
        "ask": "hold",
        "actions": [{**WRITE, "path": "/etc/passwd", "form": "text"}],
    },
    "a file of the kernel that is none of ours": {
        "ask": "keep",
        "actions": [{**WRITE, "path": "/proc/sys/kernel/core_pattern", "form": "text"}],
    },
    "a way round": {"ask": "hold", "actions": [{**WRITE, "path": f"/proc/../{STAT}"}]},
    "no value of its form": {"ask": "hold", "actions": [{**WRITE, "value": "7\n/x"}]},
    "another form": {"ask": "hold", "actions": [{**WRITE, "form": "text"}]},
    "a file beside": {"ask": "hold", "actions": [{**WRITE, "resets": ["/etc/passwd"]}]},
    "another device": {
        "ask": "hold",
        "actions": [{"kind": "hold_fd", "path": "/etc/passwd", "value": 0}],
    },
    "a device's value": {
        "ask": "hold",
        "actions": [{"kind": "hold_fd", "path": LATENCY, "value": 1 << 31}],
    },
    "swap on a file": {"ask": "hold", "actions": [{"kind": "swap", "path": "/x", "on": True}]},
    "one of several": {"ask": "hold", "actions": [WRITE, {**WRITE, "path": "/etc/passwd"}]},
    "to look elsewhere": {"ask": "look", "actions": [{**WRITE, "path": "/etc/shadow"}]},
}


@pytest.mark.parametrize("question", REFUSED.values(), ids=REFUSED)
def test_forbidden_request_is_refused_without_change(tree: Path, question: Any) -> None:
    host = RecordedHost(tree)
    before = files(tree)
    answer = ask(HelperServer(host), question)
    assert (answer["ask"], bool(answer["cause"])) == ("refused", True)
    assert files(tree) == before
    assert host.devices == {}


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(text: bytes) -> None:
    answer = json.loads(HelperServer(RecordedHost(Path("/nonexistent"))).answer(text))
    assert answer["ask"] == "refused"


@pytest.mark.parametrize("how", ["closed", "in the middle", "too long"])
def test_end_of_client_restores_everything(tree: Path, how: str) -> None:
    ours, theirs = socket.socketpair()
    server = threading.Thread(target=serve, args=(theirs, HelperServer(RecordedHost(tree))))
    server.start()
    question = json.dumps({"ask": "hold", "actions": [WRITE]}).encode()
    ours.sendall(struct.pack("=I", len(question)) + question)
    (size,) = struct.unpack("=I", ours.recv(4, socket.MSG_WAITALL))
    assert b"granted" in ours.recv(size, socket.MSG_WAITALL)
    assert (tree / STAT.lstrip("/")).read_text() == "7\n"
    if how == "in the middle":
        ours.sendall(struct.pack("=I", 100) + b"{")
    if how == "too long":
        ours.sendall(struct.pack("=I", MAX_BYTES + 1))
        server.join(30)
    ours.close()
    server.join(30)
    theirs.close()
    assert (tree / STAT.lstrip("/")).read_text() == "1\n"
