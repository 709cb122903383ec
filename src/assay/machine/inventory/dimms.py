"""DIMMs: the memory modules that the firmware lists, with their speeds.

Interface: ``Documentation/ABI/testing/sysfs-firmware-dmi-entries`` (only root can read ``raw``);
structure of type 17 in DMTF DSP0134 (SMBIOS), 7.18.
"""

from __future__ import annotations

import re
import struct

from assay.machine.inventory.document import Dimm
from assay.machine.root import Root

FOLDER = "/sys/firmware/dmi/entries"
_MIN_BYTES = 0x15
"""Length of the structure in the first version that has it (2.1)."""

# fmt: off
_TYPES = {
    0x12: "DDR", 0x13: "DDR2", 0x18: "DDR3", 0x1A: "DDR4", 0x1B: "LPDDR", 0x1C: "LPDDR2",
    0x1D: "LPDDR3", 0x1E: "LPDDR4", 0x1F: "non-volatile", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5",
    0x23: "LPDDR5", 0x24: "HBM3", 0x07: "RAM",
}
# fmt: on
_SERIAL, _ASSET = 0x18, 0x19
"""Offsets of the string numbers of serial number and asset tag."""


def dimm_entries(root: Root) -> tuple[str, ...]:
    """Return the directories of the entries of type 17, in order."""
    matches = (re.fullmatch(r"17-(\d+)", name, re.ASCII) for name in root.listdir(FOLDER))
    return tuple(f"{FOLDER}/17-{n}" for n in sorted(int(match[1]) for match in matches if match))


def read_dimms(root: Root) -> tuple[Dimm, ...]:
    """Return all memory slots, empty ones included; an empty tuple if they cannot be read."""
    contents = (root.read_bytes(f"{folder}/raw", 4096) for folder in dimm_entries(root))
    found = (_dimm(content) for content in contents if content)
    return tuple(dimm for dimm in found if dimm is not None)


def _dimm(content: bytes) -> Dimm | None:
    length = content[1] if len(content) > 1 else 0
    if length < _MIN_BYTES or len(content) < length:
        return None
    fixed, strings = content[:length], _strings(content[length:])
    return Dimm(
        slot=_text(fixed, strings, 0x10) or "unnamed",
        bank=_text(fixed, strings, 0x11),
        size_bytes=_size_bytes(fixed),
        type=_TYPES.get(fixed[0x12]),
        rated_mt_s=_speed(fixed, 0x15, 0x54),
        speed_mt_s=_speed(fixed, 0x20, 0x58),
        ranks=(fixed[0x1B] & 0xF or None) if length > 0x1B else None,
        manufacturer=_text(fixed, strings, 0x17),
        part_number=_text(fixed, strings, 0x1A),
    )


def _strings(content: bytes) -> list[str]:
    return [part.decode("latin-1").strip() for part in content.split(b"\0\0")[0].split(b"\0")]


def _text(fixed: bytes, strings: list[str], at: int) -> str | None:
    number = fixed[at] if at < len(fixed) else 0
    return strings[number - 1] or None if 0 < number <= len(strings) else None


def _size_bytes(fixed: bytes) -> int:
    (size,) = struct.unpack_from("<H", fixed, 0x0C)
    if size == 0x7FFF and len(fixed) >= 0x20:
        (mib,) = struct.unpack_from("<I", fixed, 0x1C)
        return int(mib & 0x7FFFFFFF) * 2**20
    if size == 0xFFFF:
        return 0
    return int(size & 0x7FFF) * (2**10 if size & 0x8000 else 2**20)


def _speed(fixed: bytes, at: int, extended_at: int) -> int | None:
    """Return the speed in MT/s; 0xFFFF refers to the wide field of SMBIOS 3.3."""
    if len(fixed) < at + 2:
        return None
    (speed,) = struct.unpack_from("<H", fixed, at)
    if speed == 0xFFFF and len(fixed) >= extended_at + 4:
        (speed,) = struct.unpack_from("<I", fixed, extended_at)
    return int(speed) or None


def without_serial(content: bytes) -> bytes:
    """Return an entry of type 17 with serial number and asset tag overwritten by zeros."""
    length = content[1] if len(content) > 1 else 0
    if length < _MIN_BYTES or len(content) < length:
        return b""
    parts = content[length:].split(b"\0")
    for at in (_SERIAL, _ASSET):
        number = content[at] if at < length else 0
        if 0 < number <= len(parts):
            parts[number - 1] = b"0" * len(parts[number - 1])
    return content[:length] + b"\0".join(parts)
