"""Processor and kernel: names, versions, feature flags.

Interfaces: ``proc_cpuinfo(5)`` (whose keys depend on the architecture), ``uname(2)``,
``Documentation/admin-guide/sysctl/kernel.rst`` (``arch``: Linux 6.1).
"""

from __future__ import annotations

import os
import re

import msgspec

from assay.machine.root import Root

_HEAD_BYTES = 16384
"""Maximum bytes of ``/proc/cpuinfo``: enough for the first processors, and fast on large hosts."""

_MODEL_KEYS = ("model name", "Model Name", "cpu model", "Processor", "cpu", "machine", "family")
_FLAG_KEYS = ("flags", "Features", "features", "isa")

GATHERED = "/proc/hwloc-nofile-info"
"""File in which ``hwloc-gather-topology`` and snapshots record data of system calls."""


class Processor(msgspec.Struct, frozen=True):
    """The first processor; hybrid processors share their name and, almost, their flags."""

    model: str
    flags: frozenset[str] = frozenset()


class Kernel(msgspec.Struct, frozen=True):
    """The kernel: ``arch`` from ``uname -m``; ``version`` from the first two numbers."""

    release: str
    version: tuple[int, int]
    arch: str


def read_processor(root: Root) -> Processor:
    """Return name and feature flags; ``unknown`` if the host does not report them."""
    fields = first_processor(root)
    model = next((fields[key] for key in _MODEL_KEYS if fields.get(key)), None)
    flags = next((fields[key] for key in _FLAG_KEYS if fields.get(key)), "")
    return Processor(model or _arm_model(fields) or "unknown", frozenset(flags.split()))


def first_processor(root: Root) -> dict[str, str]:
    """Return the entries of the first processor in ``/proc/cpuinfo``, by the kernel's names."""
    return _fields(root.read_text("/proc/cpuinfo", _HEAD_BYTES) or "")


def read_kernel(root: Root) -> Kernel:
    """Return release and architecture; empty if a recorded tree lacks them."""
    gathered = _fields(root.read_text(GATHERED) or "")
    release = (
        root.read_text("/proc/sys/kernel/osrelease")
        or gathered.get("OSRelease")
        or _from_banner(root.read_text("/proc/version") or "")
    )
    arch = root.read_text("/proc/sys/kernel/arch") or gathered.get("Architecture")
    if root.live:
        # The view of processes, also if a personality (linux32) changes it.
        release, arch = os.uname().release, os.uname().machine
    return Kernel(release or "", _version(release or ""), arch or "")


def boot_arguments(root: Root) -> tuple[str, ...]:
    """Return the words of the kernel's command line, before the part for init."""
    words = (root.read_text("/proc/cmdline") or "").split()
    return tuple(words[: words.index("--")] if "--" in words else words)


def _fields(text: str) -> dict[str, str]:
    """Return values by key, the first of each key."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), " ".join(value.split()))
    return found


def _arm_model(fields: dict[str, str]) -> str | None:
    # arm64 has no model name; lscpu has tables of these two numbers.
    maker, part = fields.get("CPU implementer"), fields.get("CPU part")
    return f"ARM implementer {maker} part {part}" if maker and part else None


def _from_banner(text: str) -> str | None:
    match = re.match(r"Linux version (\S+)", text)
    return match[1] if match else None


def _version(release: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else (0, 0)
