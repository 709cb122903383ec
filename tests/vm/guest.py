"""Boot a small Linux guest under software emulation, run commands in it, bring back the results.

A guest is a Debian kernel, a statically linked busybox as its user space, and the files that the
test hands over. Its first process (`init.sh`) mounts control groups as asked, runs the commands
one after another as its own children, and sends exit statuses, outputs and files back over
QEMU's debug console. It has no network, no disk but those that are asked for, and nothing of it
stays on the host.
"""

from __future__ import annotations

import io
import logging
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .boot_watch import wait_for_first_process

_LOG = logging.getLogger(__name__)

CgroupMode = Literal["v2", "v1", "hybrid", "none"]

HERE = Path(__file__).resolve().parent
LOADER = "/lib64/ld-linux-x86-64.so.2"
"""Stands for all libraries: a guest with it also has the libraries of its programs."""
CACHE = HERE.parents[1] / "build" / "vm"
QEMU = "qemu-system-x86_64"
# Packages whose dependency is the current kernel image: Debian's first, then Ubuntu's.
KERNEL_PACKAGES = ("linux-image-cloud-amd64", "linux-image-virtual")
NEWER_PACKAGES = ("linux-image-6.12-cloud-amd64", "linux-image-virtual-hwe-24.04")
NEWER_SINCE = (6, 9)
TRACING_PACKAGES = ("linux-image-rt-amd64", "linux-image-amd64")
"""Kernels with the tracers osnoise and timerlat; the first available one is used."""
CMDLINE = "console=ttyS0 panic=-1 no_timer_check tsc=unstable printk.devkmsg=on"
"""Kernel command line of all guests.

On a busy host the clock's interrupts are too late for the kernel's test of them (`no_timer_check`),
and for its measurement of the frequency of the time stamp counter: 361 MHz was found instead of
2596. The kernel's watchdog of clocks then declares the counter unstable while processors start. A
guest hung there once. By its source, Linux before 6.5 can: the starting processor skips the
comparison of unstable counters (check_tsc_sync_target in arch/x86/kernel/tsc_sync.c) for which the
first one waits with interrupts off (check_tsc_sync_source). `tsc=unstable` skips it on both, and
the guest uses the HPET. With `tsc=nowatchdog` a guest would keep the wrong frequency: its clock ran
at up to 3.4 times the speed.
"""
CONSOLE_LINES_SHOWN = 30
STACK_LINES_SHOWN = 400
TELL_S = 20
"""The guest gives up this long before QEMU is killed, and reports its blocking calls."""


class UnavailableError(Exception):
    """A guest is not available on this host; the text names the missing part."""


class GuestError(AssertionError):
    """The guest did not complete; the text contains the end of its console."""


@dataclass(frozen=True)
class Node:
    """A NUMA node; without CPUs it is a memory-only node, which `initiator` is the nearest to."""

    memory_mib: int
    cpus: str = ""
    initiator: int | None = None


@dataclass(frozen=True)
class Speed:
    """Speed of access to a node from another, for the firmware's table (ACPI HMAT)."""

    latency_ns: int
    gib_s: int


@dataclass(frozen=True)
class Disk:
    """An NVMe disk with an empty ext4: `/mnt/0` of the first, `/mnt/1` of the second."""

    size_mib: int
    bytes_per_s: int = 0
    """Bytes per second; 0 for no limit."""


@dataclass(frozen=True)
class Result:
    """Result of one command. A signal shows as 128 + its number, as in a shell."""

    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes
    files: Mapping[str, bytes]

    def __str__(self) -> str:
        """Return the command with its status and the ends of its outputs."""
        out, err = (text[-2000:].decode(errors="replace") for text in (self.stdout, self.stderr))
        return f"{shlex.join(self.argv)}\nstatus {self.status}\nstdout: {out}\nstderr: {err}"


@dataclass
class Guest:
    """A machine that boots once for each call of `run`.

    `nodes` replaces `memory_mib`; `distances` maps (from, to) to an entry of the distance table,
    `speeds` to one of the HMAT. `cpus` is the value of QEMU's -smp: a number, or
    `8,sockets=2,cores=2,threads=2`.
    """

    cgroup: CgroupMode = "v2"
    cpus: int | str = 1
    memory_mib: int = 512
    nodes: Sequence[Node] = ()
    distances: Mapping[tuple[int, int], int] = field(default_factory=dict)
    speeds: Mapping[tuple[int, int], Speed] = field(default_factory=dict)
    cmdline: str = ""
    disks: Sequence[Disk] = ()
    kernel: Path | None = None
    console: str = ""

    def run(
        self,
        files: Mapping[str, Path | bytes],
        commands: Sequence[Sequence[str]],
        *,
        timeout_s: float = 180,
        command_timeout_s: int = 60,
    ) -> list[Result]:
        """Boot, copy `files` (guest path to host file or content) in, run `commands` in order.

        Each command starts with an empty folder /out; `Result.files` has its later content.
        Programs are found in /bin, the applets of busybox included. QEMU is killed
        `timeout_s` after the boot. A command is killed after `command_timeout_s`, with status 137;
        the console then shows the kernel's stacks of blocked threads.
        """
        with tempfile.TemporaryDirectory(prefix="assay-vm-") as name:
            folder = Path(name)
            argv = self.prepare(folder, files, commands, timeout_s, command_timeout_s)
            return self.results(folder, commands, _boot(argv, folder / "console", timeout_s))

    def prepare(
        self,
        folder: Path,
        files: Mapping[str, Path | bytes],
        commands: Sequence[Sequence[str]],
        timeout_s: float,
        command_timeout_s: int,
    ) -> list[str]:
        """Write the input files of QEMU into a folder; return the command that starts it."""
        kernel = self.kernel or find_kernel()
        archive = _initramfs(self.cgroup, files, commands, timeout_s, command_timeout_s)
        (folder / "initramfs").write_bytes(archive)
        for number, disk in enumerate(self.disks):
            _format(_image(folder, number), disk)
        return self._qemu(kernel, folder)

    def results(
        self, folder: Path, commands: Sequence[Sequence[str]], trouble: str = ""
    ) -> list[Result]:
        """Return the guest's results; raise `GuestError` if they are missing or failed."""
        console = folder / "console"
        sent = folder / "results"
        self.console = console.read_text(errors="replace") if console.exists() else ""
        if "vm: stacks:" in self.console:
            _LOG.warning("something hung in the guest:\n%s", _last_words(self.console))
        if not trouble and re.search(r"^\S* *\S* vm: done", self.console, re.MULTILINE):
            return _results(sent.read_bytes(), commands)
        why = trouble or "the guest ended before it had sent its results"
        raise GuestError(f"{why}; end of its console:\n{_last_words(self.console)}")

    def _qemu(self, kernel: Path, folder: Path) -> list[str]:
        nodes = self.nodes or (Node(self.memory_mib),)
        argv = [
            *(_on_one_cpu() if self.disks else ()),
            *(
                QEMU,
                "-M",
                f"q35,hmat={'on' if self.speeds else 'off'}",
                "-no-user-config",
                "-nodefaults",
            ),
            # One thread for all processors: on a busy host guests with a thread for each crawl.
            *("-accel", "tcg,thread=single"),
            # With the vendor that -cpu max has by default, SMT siblings vanish.
            *("-cpu", "max,vendor=GenuineIntel", "-smp", str(self.cpus)),
            *("-m", str(sum(node.memory_mib for node in nodes))),
            *("-nic", "none", "-display", "none", "-no-reboot"),
            *("-kernel", str(kernel), "-initrd", str(folder / "initramfs")),
            *("-append", f"{CMDLINE} {self.cmdline}"),
            *("-serial", f"file:{folder / 'console'}"),
            *("-chardev", f"file,id=results,path={folder / 'results'}"),
            *("-device", "isa-debugcon,iobase=0xe9,chardev=results"),
        ]
        for number, disk in enumerate(self.disks):
            file = f"file={_image(folder, number)},if=none,format=raw,id=d{number}"
            speed = f",throttling.bps-total={disk.bytes_per_s}" if disk.bytes_per_s else ""
            argv += ["-drive", file + speed, "-device", f"nvme,drive=d{number},serial={number}"]
        for number, node in enumerate(self.nodes):
            cpus = "".join(f",cpus={part}" for part in node.cpus.split(",") if part)
            argv += ["-object", f"memory-backend-ram,id=m{number},size={node.memory_mib}M"]
            near = f",initiator={node.initiator}" if node.initiator is not None else ""
            argv += ["-numa", f"node,nodeid={number},memdev=m{number}{cpus}{near}"]
        for (source, target), value in self.distances.items():
            argv += ["-numa", f"dist,src={source},dst={target},val={value}"]
        for (source, target), speed in self.speeds.items():
            entry = f"hmat-lb,initiator={source},target={target},hierarchy=memory,data-type=access-"
            argv += ["-numa", f"{entry}latency,latency={speed.latency_ns}"]
            argv += ["-numa", f"{entry}bandwidth,bandwidth={speed.gib_s}G"]
        return argv


def _last_words(console: str) -> str:
    """Return the end of the console, and the stacks that the guest reported."""
    lines = console.splitlines()
    reported = [number for number, line in enumerate(lines) if "vm: stacks:" in line]
    end = lines[-CONSOLE_LINES_SHOWN:]
    if reported and reported[0] < len(lines) - len(end):
        end = [*lines[reported[0] :][:STACK_LINES_SHOWN], "...", *end]
    return "\n".join(end)


def _on_one_cpu() -> tuple[str, ...]:
    """Return the command prefix of a QEMU whose guest has disks.

    With one thread for all processors, QEMU before 8.1 omits the guest's memory barriers
    (mfence), although its own thread for disks runs concurrently. In about one of a million
    requests the guest's driver reads that QEMU is still awake before QEMU reads the new entry of
    the queue. The driver then rings no doorbell, and the request waits until the driver resets
    the disk, after a minute. On one CPU the threads see each other's writes in order.
    """
    cpus = sorted(os.sched_getaffinity(0))
    return ("taskset", "-c", str(cpus[os.getpid() % len(cpus)]))


def _image(folder: Path, number: int) -> Path:
    return folder / f"disk{number}"


def _format(image: Path, disk: Disk) -> None:
    with image.open("wb") as stream:
        stream.truncate(disk.size_mib << 20)
    argv = [shutil.which("mke2fs") or "/sbin/mke2fs", "-q", "-t", "ext4", str(image)]
    subprocess.run(argv, check=True, capture_output=True)


def find_kernel() -> Path:
    """Return a kernel image: $ASSAY_VM_KERNEL, the cached one, or a freshly fetched one."""
    if platform.machine() != "x86_64":
        raise UnavailableError(f"guests are x86-64 only, this host is {platform.machine()}")
    if not shutil.which(QEMU):
        raise UnavailableError(f"{QEMU} is not installed (Debian package qemu-system-x86)")
    if chosen := os.environ.get("ASSAY_VM_KERNEL"):
        return Path(chosen)
    return _cached_kernel(CACHE, KERNEL_PACKAGES)


def find_newer_kernel() -> Path:
    """Return a kernel image of 6.9 or later: the usual one, one of a later package."""
    chosen = find_kernel()
    if _version(chosen) >= NEWER_SINCE:
        return chosen
    return _cached_kernel(CACHE / "newer", NEWER_PACKAGES)


def find_tracing_kernel() -> Path:
    """Return a kernel image that is built with the tracers of noise."""
    return _cached_kernel(CACHE / "tracing", TRACING_PACKAGES)


def _cached_kernel(folder: Path, packages: Sequence[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    cached = sorted(folder.glob("vmlinuz-*"))
    return cached[-1] if cached else _fetch_kernel(folder, packages)


def release_of(image: Path) -> str:
    """Return the release of a kernel, as `uname -r` prints it, by the name of its image."""
    return image.name.removeprefix("vmlinuz-")


def find_config(image: Path) -> Path:
    """Return the configuration of a fetched kernel, which is kept beside its image."""
    config = image.with_name(f"config-{release_of(image)}")
    if not config.exists():
        raise UnavailableError(f"{config} is missing: remove {image}, and it is fetched again")
    return config


def _version(image: Path) -> tuple[int, int]:
    """Return the version in an image's name, `vmlinuz-6.1.0-56-cloud-amd64`; (0, 0) without one."""
    found = re.match(r"vmlinuz-(\d+)\.(\d+)", image.name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def with_libraries(programs: Mapping[str, Path]) -> dict[str, Path]:
    """Return programs by their path in a guest, and their shared libraries."""
    files = dict(programs)
    for program in programs.values():
        shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for found in re.findall(r"(?:=> )?(/\S+) \(0x", shown):
            files[f"/lib/{Path(found).name}"] = Path(found)
    files[LOADER] = Path(LOADER)
    return files


def compile_program(source: Path) -> Path:
    """Compile one C++ file to a static program in the cache, unless it is there already."""
    target = CACHE / "programs" / source.stem
    newest = max(file.stat().st_mtime for file in (source, *source.parent.glob("*.hpp")))
    if not target.exists() or target.stat().st_mtime < newest:
        if not shutil.which("g++"):
            raise UnavailableError("g++ is not installed (Debian package g++)")
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        flags = ["-std=c++20", "-O1", "-static", "-s", "-pthread", "-Wall", "-Wextra"]
        subprocess.run(["g++", *flags, "-o", str(fresh), str(source)], check=True)
        fresh.replace(target)
    return target


def _fetch_kernel(cache: Path, packages: Sequence[str]) -> Path:
    with tempfile.TemporaryDirectory(dir=cache) as name:
        folder = Path(name)
        for package in packages:
            shown = _output(["apt-cache", "depends", package], folder)
            images = [w for w in shown.split() if w.startswith("linux-image-") and w != package]
            if images and _output(["apt-get", "download", images[0]], folder, None):
                break
        for deb in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", deb.name, "unpacked"], cwd=folder, check=True)
        for config in folder.glob("unpacked/boot/config-*"):
            config.replace(cache / config.name)
        for image in folder.glob("unpacked/boot/vmlinuz-*"):
            return image.replace(cache / image.name)
    raise UnavailableError(
        f"no kernel for guests: apt-get could download none of {', '.join(packages)}; "
        "set ASSAY_VM_KERNEL to an x86-64 kernel image with cgroups and a serial console"
    )


def _output(argv: list[str], folder: Path, timeout_s: float | None = 60) -> str:
    """Return the output of a command; empty if it is missing or fails."""
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr if done.returncode == 0 else ""


def find_busybox() -> Path:
    """Return a statically linked busybox."""
    for name in ("busybox", "busybox-static"):
        if found := shutil.which(name):
            path = Path(found).resolve()
            if not _is_dynamic(path.read_bytes()):
                return path
    raise UnavailableError("no static busybox (Debian package busybox-static)")


def _is_dynamic(content: bytes) -> bool:
    return content[:4] == b"\x7fELF" and b"/ld-linux" in content[:4096]


def _boot(argv: list[str], console: Path, timeout_s: float) -> str:
    """Run QEMU to its end; return a description of the failure, or an empty text."""
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as qemu:
        try:
            end_s = time.monotonic() + timeout_s
            if trouble := wait_for_first_process(qemu, console, end_s):
                return trouble
            # The guest limits its own time from its first process on, however slow its boot was.
            result, _ = qemu.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return f"the guest was killed after {timeout_s:g} s"
        finally:
            qemu.kill()
    if qemu.returncode:
        return f"QEMU ended with {qemu.returncode}: {result.decode(errors='replace').strip()}"
    return ""


def _initramfs(
    cgroup: CgroupMode,
    files: Mapping[str, Path | bytes],
    commands: Sequence[Sequence[str]],
    timeout_s: float,
    command_timeout_s: int,
) -> bytes:
    contents = {
        "/init": (HERE / "init.sh").read_bytes(),
        "/bin/busybox": find_busybox().read_bytes(),
        "/vm/send": compile_program(HERE / "programs" / "send.cpp").read_bytes(),
        "/vm/cgroup": cgroup.encode(),
        "/vm/limit": str(int(timeout_s) - (TELL_S if timeout_s > 2 * TELL_S else 0)).encode(),
        "/vm/wait": str(command_timeout_s).encode(),
    }
    for number, argv in enumerate(commands):
        script = f"#!/bin/busybox sh\nexec {shlex.join(argv)}\n"
        contents[f"/vm/command/{number:03}"] = script.encode()
    for target, source in files.items():
        content = source if isinstance(source, bytes) else source.read_bytes()
        if LOADER not in files and _is_dynamic(content):
            raise ValueError(f"{target} is dynamically linked, and its libraries are not there")
        contents[target] = content
    archive = Newc()
    for target, content in contents.items():
        archive.add_file(target, content)
    for folder in ("/proc", "/sys"):
        archive.add_folder(folder)
    archive.add_character_device("/dev/console", 5, 1)
    return archive.finish()


class Newc:
    """Write a cpio archive of the format that the kernel unpacks ("newc"); needs no root."""

    def __init__(self) -> None:
        """Start an empty archive."""
        self._parts: list[bytes] = []
        self._folders = {""}

    def add_folder(self, path: str) -> None:
        """Add a folder and those above it."""
        path = path.strip("/")
        if path not in self._folders:
            self._folders.add(path)
            self.add_folder(path.rpartition("/")[0])
            self._add(path, stat.S_IFDIR | 0o755)

    def add_file(self, path: str, content: bytes) -> None:
        """Add an executable file and its folders."""
        self.add_folder(path.rpartition("/")[0])
        self._add(path.strip("/"), stat.S_IFREG | 0o755, content)

    def add_character_device(self, path: str, major: int, minor: int) -> None:
        """Add a device node and its folders."""
        self.add_folder(path.rpartition("/")[0])
        self._add(path.strip("/"), stat.S_IFCHR | 0o600, device=(major, minor))

    def finish(self) -> bytes:
        """Return the archive."""
        self._add("TRAILER!!!", 0)
        return b"".join(self._parts)

    def _add(
        self, name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        raw = name.encode() + b"\0"
        # inode, mode, owner, group, links, time; size, disk; device; length of the name, checksum
        numbers = [len(self._parts) + 1, mode, 0, 0, 1, 0]
        numbers += [len(content), 0, 0, *device, len(raw), 0]
        header = b"070701" + b"".join(b"%08x" % number for number in numbers) + raw
        self._parts.append(_padded(header) + _padded(content))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _results(blob: bytes, commands: Sequence[Sequence[str]]) -> list[Result]:
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(blob), mode="r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content:
                found[member.name.removeprefix("./")] = content.read()
    results = []
    for number, argv in enumerate(commands):
        own = {
            name.removeprefix(f"{number:03}"): content
            for name, content in found.items()
            if name.startswith(f"{number:03}/")
        }
        files = {name: content for name, content in own.items() if name.startswith("/out/")}
        status = int(own["/status"])
        results.append(Result(tuple(argv), status, own["/stdout"], own["/stderr"], files))
    return results
