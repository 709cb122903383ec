"""Event file of TensorBoard, written as its own programs write it; not a test."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path


class EventWriter:
    """Writes scalars to a new file of a folder.

    Each record has a length, the masked CRC-32C of the length, the event and the masked CRC-32C of
    the event (TensorFlow, ``record_writer.cc``).
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time_ns()}.host.{os.getpid()}"
        self._file = (folder / name).open("wb", buffering=0)
        self._write(_wall_time() + _bytes(3, b"brain.Event:2"))

    def add(self, step: int, **values: float) -> None:
        """Write an event with values by their tags."""
        summary = b"".join(
            _bytes(1, _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
            for tag, value in values.items()
        )
        self._write(_wall_time() + b"\x10" + _varint(step) + _bytes(5, summary))

    def _write(self, event: bytes) -> None:
        length = struct.pack("<Q", len(event))
        self._file.write(length + _crc(length) + event + _crc(event))


def _wall_time() -> bytes:
    return b"\x09" + struct.pack("<d", time.time())


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _crc(data: bytes) -> bytes:
    """Return the masked CRC-32C of data (reversed polynomial of Castagnoli), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
