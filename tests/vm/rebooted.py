"""A guest that stays until it is rebooted with another kernel command line.

Its one command is a shell that reads scripts from a second serial line and answers there, so that a
study on the host can send one launch at a time.
"""

from __future__ import annotations

import base64
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from .boot_watch import wait_for_first_process
from .guest import Guest, GuestError, _initramfs, find_kernel

LIFE_S = 300
ANSWER_S = 60.0
BOOT_S = 90.0
# base64 keeps control characters of a terminal off the line; busybox wraps it.
AGENT = """
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
echo "READY" >&3
while read -r line <&3; do
    echo "$line" | base64 -d >/tmp/script
    sh /tmp/script >/tmp/said 2>&1 </dev/null
    status=$?
    echo "$status $(base64 /tmp/said | tr -d '\\n')" >&3
done
"""
# One process for all files: each process takes a hundredth of a second here. Each line begins
# with its path.
MACHINE = """
find /sys/devices/system/cpu /sys/devices/system/node -maxdepth 3 -type f >/tmp/files
for file in /sys/kernel/mm/transparent_hugepage/* /sys/kernel/mm/hugepages/*/nr_hugepages \
    /proc/cmdline /proc/cpuinfo /proc/meminfo /proc/sys/kernel/osrelease /proc/sys/vm/nr_hugepages \
    /proc/sys/kernel/random/boot_id /proc/sys/kernel/randomize_va_space; do
    [ -f "$file" ] && echo "$file" >>/tmp/files
done
xargs grep -sH "" </tmp/files
# The options that most differences are in: a serial line is slow.
grep -sHE "HZ|PREEMPT|MITIGATION|TABLE_ISOLATION|LRU_GEN|VMA_LOCK|FREQ_DEF|HUGEPAGE" \
    "/boot/config-$(uname -r)"
true
"""


class RebootedGuest:
    """One guest at a time; `boot` ends the one before.

    Args:
        guest: how it is made; its own words come first on the command line.
        files: guest path to host file or content.
    """

    def __init__(self, guest: Guest, files: Mapping[str, Path | bytes]) -> None:
        """Prepare without starting a guest."""
        self._guest = guest
        self._files = {**files, "/vm/agent.sh": AGENT.encode()}
        self._folder = tempfile.TemporaryDirectory(prefix="assay-vm-")
        self._qemu: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._read = b""
        self.boots = 0

    def __enter__(self) -> RebootedGuest:
        """Return this object."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the guest."""
        self.end()
        self._folder.cleanup()

    def boot(self, words: str, kernel: Path | None = None) -> None:
        """Boot with additional arguments, and optionally another kernel."""
        self.end()
        folder = Path(self._folder.name)
        archive = _initramfs(
            self._guest.cgroup, self._files, [["sh", "/vm/agent.sh"]], LIFE_S, LIFE_S
        )
        (folder / "initramfs").write_bytes(archive)
        (folder / "console").unlink(missing_ok=True)  # else the boot before seems to be this one
        usual, self._guest.cmdline = self._guest.cmdline, f"{self._guest.cmdline} {words}"
        argv = self._guest._qemu(kernel or self._guest.kernel or find_kernel(), folder)
        self._guest.cmdline = usual
        here, there = socket.socketpair()
        with there:
            argv += ["-chardev", f"socket,id=agent,fd={there.fileno()}", "-serial", "chardev:agent"]
            self._qemu = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                pass_fds=[there.fileno()],
            )
        self._line, self._read = here, b""
        self.boots += 1
        end_s = time.monotonic() + BOOT_S
        if trouble := wait_for_first_process(self._qemu, folder / "console", end_s):
            raise GuestError(f"{trouble}; end of its console:\n{self._console_tail()}")
        while self._answer(BOOT_S) != "READY":
            pass

    def run(self, script: str) -> tuple[int, str]:
        """Run a script; return its exit status and its combined output."""
        assert self._line is not None
        self._line.sendall(base64.b64encode(script.encode()) + b"\n")
        status, _, text = self._answer(ANSWER_S).partition(" ")
        return int(status), base64.b64decode(text).decode(errors="replace")

    def output(self, script: str) -> str:
        """Run a script that must succeed, and return its output."""
        status, text = self.run(script)
        assert status == 0, f"{script}\nstatus {status}\n{text}"
        return text

    def record(self, folder: Path) -> Path:
        """Write the kernel's files about the machine as a tree; return its folder."""
        texts: dict[str, list[str]] = {}
        for line in self.output(MACHINE).splitlines():
            path, _, text = line.partition(":")
            if path.startswith("/"):
                texts.setdefault(path, []).append(text)
        for path, lines in texts.items():
            file = folder / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n")
        return folder

    def end(self) -> None:
        """End the guest, as a power cut would."""
        if self._line is not None:
            self._line.close()
        if self._qemu is not None:
            self._qemu.kill()
            self._qemu.wait()
        self._line = self._qemu = None

    def _answer(self, timeout_s: float) -> str:
        assert self._line is not None
        end_s = time.monotonic() + timeout_s
        while b"\n" not in self._read:
            self._line.settimeout(max(0.1, end_s - time.monotonic()))
            try:
                got = self._line.recv(65536)
            except TimeoutError:
                got = b""
            if not got:
                raise GuestError(
                    f"the guest does not answer; end of its console:\n{self._console_tail()}"
                )
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace").strip()

    def _console_tail(self) -> str:
        console = Path(self._folder.name) / "console"
        return console.read_text(errors="replace")[-2000:] if console.exists() else ""
