"""A guest that stays: after its commands it answers requests, until the test ends it."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .boot_watch import wait_for_first_process
from .guest import HERE, Guest, Result, compile_program
from .guest_host import GuestHost
from .line import Line, Silent

LIFE_S = 900.0
"""After this time a guest ends by itself, even without its tests."""
COMMAND_S = 60


@dataclass(frozen=True)
class Alive:
    """A running guest.

    Attributes:
        guest: how it was made.
        results: of the commands that it began with.
        host: to change it by.
        line: to its agent.
    """

    guest: Guest
    results: Sequence[Result]
    host: GuestHost
    line: Line

    def run(self, script: str) -> tuple[int, str]:
        """Run a shell script; return its exit status and its combined output.

        It returns after every process that holds its output open has ended.
        """
        status, _, text = self.line.ask("run", script).decode(errors="replace").partition("\n")
        return int(status), text

    def output(self, script: str) -> str:
        """Run a script that must succeed, and return its output."""
        status, text = self.run(script)
        assert status == 0, f"{script}\nstatus {status}\n{text}"
        return text


@contextmanager
def alive(
    guest: Guest,
    files: Mapping[str, Path | bytes],
    commands: Sequence[Sequence[str]] = (),
    *,
    timeout_s: float = LIFE_S,
) -> Iterator[Alive]:
    """Boot as `Guest.run` does, run the commands, then keep the guest."""
    agent = compile_program(HERE / "programs" / "agent.cpp")
    end_s = time.monotonic() + timeout_s
    here, there = socket.socketpair()
    with here, tempfile.TemporaryDirectory(prefix="assay-vm-") as name:
        folder = Path(name)
        with there, (folder / "qemu").open("wb") as message:
            argv = guest.prepare(
                folder, {**files, "/vm/agent": agent}, commands, timeout_s, COMMAND_S
            )
            argv += ["-chardev", f"socket,id=agent,fd={there.fileno()}", "-serial", "chardev:agent"]
            qemu = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=message,
                stderr=subprocess.STDOUT,
                pass_fds=[there.fileno()],
            )
        try:
            line = Line(here)
            if trouble := wait_for_first_process(qemu, folder / "console", end_s):
                guest.results(folder, commands, trouble)
            try:
                line.wait_for_agent(max(1.0, end_s - time.monotonic()))
            except Silent as error:
                said_last = (folder / "qemu").read_text().strip() or "nothing"
                guest.results(folder, commands, f"{error}; QEMU said: {said_last}")
                raise
            yield Alive(guest, guest.results(folder, commands), GuestHost(line), line)
            with suppress(Silent):
                line.end()
        finally:
            qemu.kill()
            qemu.wait()
