"""A service that systemd starts with its sockets finds them behind ``assay run``."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

SERVICE = """
import os, socket
assert int(os.environ["LISTEN_PID"]) == os.getpid(), "the sockets are for another process"
assert "LISTEN_PIDFDID" not in os.environ
with socket.socket(fileno=3) as listening:
    connection, _ = listening.accept()
    connection.sendall(b"served")
"""


def test_service_finds_its_activation_socket(assay_exec: Path, tmp_path: Path) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    words = " ".join(f"'{word}'" for word in cli.argv("run", "--", sys.executable, "service.py"))
    (tmp_path / "service.py").write_text(SERVICE)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        # As with systemd: the process that becomes the service knows its own id.
        script = (
            f"exec 3<&{listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$ LISTEN_PIDFDID=1; "
            f"exec {words}"
        )
        process = subprocess.Popen(
            ["bash", "-c", script], env=cli.env, cwd=tmp_path, pass_fds=(listening.fileno(),)
        )
        try:
            with socket.create_connection(listening.getsockname(), timeout=30) as client:
                client.settimeout(30)
                assert client.recv(16) == b"served"
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
            process.wait()


def test_variables_for_other_process_are_unchanged(assay_exec: Path, tmp_path: Path) -> None:
    cli = CommandLine(assay_exec, tmp_path, more={"LISTEN_PID": "1", "WATCHDOG_PID": "2"})
    result = cli("run", "--", "sh", "-c", "echo $LISTEN_PID $WATCHDOG_PID").out
    assert result.split() == ["1", "2"]
