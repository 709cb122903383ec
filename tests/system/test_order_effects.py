"""A server whose port is in use for a while, and a program that leaves another one running."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from rotation import others_in_turns

SERVER = """\
import socket, sys
server = socket.socket()
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
client = socket.create_connection(server.getsockname())
connection, _ = server.accept()
connection.close()
"""
"""It closes the connection first, so its port waits a minute (TIME_WAIT, RFC 9293)."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> tuple[str, ...]:
    import socket

    (tmp_path / "server.py").write_text(SERVER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return (sys.executable, "-S", "server.py", str(port))


@pytest.mark.parametrize(
    "words",
    others_in_turns(
        ("measure", "--runs", "9"), ("compare", "--runs", "20", "--arm", "", "--arm", "nice=1")
    ),
)
def test_port_in_use_is_reported_as_order_effect(
    cli: CommandLine, server: tuple[str, ...], words: tuple[str, ...]
) -> None:
    answer = cli(*words, "--", *server)
    assert answer.status == 1
    assert "worked once, and failed since" in answer.err
    assert "--prepare" in answer.err and "at every attempt" not in answer.err
    assert "Address already in use" in answer.err


def test_always_failing_arm_is_reported(cli: CommandLine) -> None:
    words = ("compare", "--runs", "20", "--arm", "", "--arm", "env.A=1")
    answer = cli(*words, "--", "sh", "-c", 'test -z "$A"')
    assert answer.status == 1
    assert "'env.A=1' failed in every launch" in answer.err
    assert "--prepare" not in answer.err


@pytest.mark.rotating
def test_terminated_daemon_is_named(cli: CommandLine) -> None:
    words = ("--", "sh", "-c", "setsid sleep 60 </dev/null >/dev/null 2>&1 & sleep 0.2")
    answer = cli("measure", "--runs", "3", *words)
    assert "assay ended processes that the program left running: 3 processes (" in answer.out, (
        answer.out
    )
    assert "sleep" in answer.out
    document = cli("study", "resume", "last", "--runs", "1", "--json").document
    assert any("left running" in note for note in document["notes"])
