"""Removal of data that identifies a host, its owner or one piece of hardware.

The table of files excludes files with nothing else; this module removes such data within other
files. Scrubbing a second time has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from assay.machine.boot import shown_arguments
from assay.machine.inventory.dimms import without_serial
from assay.machine.root import Root

_HEX = "[0-9a-fA-F]"
_NAMES = re.compile(
    rf"(?<!{_HEX})(?:"
    rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"  # UUID
    rf"|{_HEX}{{8}}(?:_{_HEX}{{4}}){{3}}_{_HEX}{{12}}"  # the same in unit names
    rf"|(?:{_HEX}{{2}}:){{5,19}}{_HEX}{{2}}"  # MAC and InfiniBand addresses
    rf"|{_HEX}{{32,}}"  # ids of containers and machines
    rf")(?!{_HEX})"
)
_CARD = re.compile(r"\b(enx|wlx)[0-9a-f]{12}\b")
"""Names of network cards derived from their addresses."""
_DISK = re.compile(r"\b(eui|naa|wwn|t10|nvme)[.-](?:0x)?[0-9a-fA-F]{8,}[\w.-]*")
_SERIAL_LINE = re.compile(
    rb"^[^\n:]*\b(?:serial|uuid|video bios|gpu uuid|excluded)\b[^\n]*\n?", re.I | re.M
)
_IDENTIFICATION = re.compile(rb"(identification = )[0-9A-F]+")
_STATUS = (
    *("Uid", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"),
    *("Cpus_allowed", "Cpus_allowed_list", "Mems_allowed", "Mems_allowed_list", "THP_enabled"),
)
_CGROUPS = ("cgroup", "cgroup2", "cpuset")


def scrub_text(text: str) -> str:
    """Return a text or path with ids and addresses replaced by zeros of the same form."""
    text = _NAMES.sub(lambda found: re.sub(_HEX, "0", found[0]), text)
    text = _CARD.sub(lambda found: f"{found[1]}{'0' * 12}", text)
    return _DISK.sub(lambda found: f"{found[1]}.{'0' * 16}", text)


def scrub_file(root: Root, path: str, content: bytes) -> bytes | None:
    """Return the content of a file as it may be kept; ``None`` if it may not be."""
    for pattern, clean in _BY_PATH:
        if PurePosixPath(path).match(pattern):
            return clean(root, content)
    if b"\0" in content:
        # Binary files: the firmware's tables and the kernel's configuration, both handled above;
        # texts of a device tree end with a NUL byte.
        content = content.rstrip(b"\0")
        if b"\0" in content:
            return None
    return scrub_text(content.decode("latin-1")).encode("latin-1")


def _lines(keep: Callable[[str], bool]) -> Callable[[Root, bytes], bytes | None]:
    def clean(_: Root, content: bytes) -> bytes:
        lines = content.decode("latin-1").splitlines()
        return scrub_text("".join(f"{line}\n" for line in lines if keep(line))).encode("latin-1")

    return clean


def _command_line(root: Root, _: bytes) -> bytes:
    return " ".join(shown_arguments(root)).encode() + b"\n"


def _control(_: Root, content: bytes) -> bytes | None:
    """Keep numbers, and texts that are not names (``osrelease`` and similar)."""
    return content if re.fullmatch(rb"[-0-9\s]*", content) else None


def _as_is(_: Root, content: bytes) -> bytes:
    return content


def _nothing(_: Root, content: bytes) -> None:
    return None


def _cpuinfo(_: Root, content: bytes) -> bytes:
    return _IDENTIFICATION.sub(rb"\g<1>0", _SERIAL_LINE.sub(b"", content))


def _without_serials(_: Root, content: bytes) -> bytes:
    return _SERIAL_LINE.sub(b"", content)


def _dimm(_: Root, content: bytes) -> bytes | None:
    return without_serial(content) or None


def _is_cgroup_mount(line: str) -> bool:
    before, dash, after = line.partition(" - ")
    words = after.split() if dash else before.split()[2:]
    return bool(words) and words[0] in _CGROUPS


_BY_PATH: tuple[tuple[str, Callable[[Root, bytes], bytes | None]], ...] = (
    ("/proc/cmdline", _command_line),
    ("/proc/cpuinfo", _cpuinfo),
    ("/proc/config.gz", _as_is),
    ("/sys/firmware/dmi/entries/*/raw", _dimm),
    ("/sys/bus/pci/devices/*/config", _as_is),
    ("/proc/sys/kernel/hostname", _nothing),
    ("/proc/sys/kernel/domainname", _nothing),
    ("/proc/sys/kernel/osrelease", _as_is),
    ("/proc/sys/kernel/version", _as_is),
    ("/proc/sys/kernel/arch", _as_is),
    ("/proc/sys/kernel/ostype", _as_is),
    ("/proc/sys/kernel/ns_last_pid", _nothing),
    ("/proc/sys/*/*", _control),
    ("/proc/self/status", _lines(lambda line: line.partition(":")[0] in _STATUS)),
    ("/proc/self/mountinfo", _lines(_is_cgroup_mount)),
    ("/proc/self/mounts", _lines(_is_cgroup_mount)),
    ("/proc/mounts", _lines(_is_cgroup_mount)),
    ("/proc/driver/nvidia/gpus/*/information", _without_serials),
)
"""Files that need more than the removal of ids; the first matching pattern counts."""
