"""TensorBoard event files, without TensorBoard.

A record is ``uint64 length, uint32 crc(length), payload, uint32 crc(payload)``, little endian, with
masked CRC-32C (tensorflow/core/lib/io/record_writer.h). The payload is the protocol buffer
``Event`` (tensorflow/core/util/event.proto).
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.output_files import AppendedFile
from assay.executors.progress.report import Report

_HEADER = struct.Struct("<QI")
_LENGTH_BYTES = 8
_CRC_BYTES = 4
_MAX_PAYLOAD_BYTES = 1 << 16
"""Largest payload that is checked and read: scalars are small, images need not be read."""
MARK = "tfevents"
"""Part of the name of each event file."""
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5


class EventFollower:
    """Follows one event file; an unfinished last record is read later.

    Args:
        path: path of the file.
        clock: clock of the launch.
        skip_existing: whether records from before do not count.

    Attributes:
        damaged: true after a record with an invalid checksum; the rest cannot be read.
    """

    def __init__(self, path: Path, clock: LaunchClock, *, skip_existing: bool = True) -> None:
        self._file = AppendedFile(
            path, follow_links=True, skip_existing=skip_existing, may_skip=False
        )
        self._clock = clock
        self._rest = b""
        self._skip_bytes = 0
        self._last_s = 0.0
        self.damaged = False

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        found: list[Report] = []
        while not self.damaged and (new := self._file.read()) is not None and new.data:
            if new.restarted:
                self._rest, self._skip_bytes = b"", 0
            self._rest += new.data
            for payload in self._payloads():
                with contextlib.suppress(ValueError, IndexError, OverflowError, struct.error):
                    self._add(payload, found)
        return found

    def finish(self) -> list[Report]:
        """Return all remaining reports."""
        return self.read()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _add(self, payload: bytes, found: list[Report]) -> None:
        wall_s, step, values = scalars(payload)
        if values:
            self._last_s = self._clock.of_wall_ns(int(wall_s * 1e9), self._last_s)
            found.append(Report(self._last_s, values, step=float(step)))

    def _payloads(self) -> Iterator[bytes]:
        begin = min(self._skip_bytes, len(self._rest))
        self._skip_bytes -= begin
        while len(self._rest) - begin >= _HEADER.size:
            length, checksum = _HEADER.unpack_from(self._rest, begin)
            if masked_crc(self._rest[begin : begin + _LENGTH_BYTES]) != checksum:
                self.damaged = True
                break
            end = begin + _HEADER.size + length + _CRC_BYTES
            if length > _MAX_PAYLOAD_BYTES:
                self._skip_bytes = max(0, end - len(self._rest))
                begin = min(end, len(self._rest))
                continue
            if end > len(self._rest):
                break
            payload = self._rest[begin + _HEADER.size : end - _CRC_BYTES]
            begin = end
            if masked_crc(payload) != int.from_bytes(self._rest[end - _CRC_BYTES : end], "little"):
                self.damaged = True
                break
            yield payload
        self._rest = self._rest[begin:]


def event_files(path: Path) -> Iterator[Path]:
    """Yield the event files of a folder, or the path itself if it is a file or missing.

    Args:
        path: file or folder.
    """
    if not path.is_dir():
        yield path
        return
    for folder, _, names in os.walk(path):
        for name in names:
            if MARK in name:
                yield Path(folder) / name


def scalars(event: bytes) -> tuple[float, int, dict[str, float]]:
    """Return wall time in seconds, step and scalars by tag of an event.

    Args:
        event: payload of a record.

    Raises:
        ValueError, IndexError, struct.error: the payload is not an event.
    """
    wall_s, step = 0.0, 0
    values: dict[str, float] = {}
    for field, kind, value in _fields(event):
        if (field, kind) == (1, _DOUBLE):
            (wall_s,) = struct.unpack("<d", value)
        elif (field, kind) == (2, _VARINT):
            step = _signed(value)
        elif (field, kind) == (5, _BYTES):
            values.update(_summary(value))
    return wall_s, step, values


def _summary(message: bytes) -> Iterator[tuple[str, float]]:
    """Yield tag and value of each scalar: ``simple_value``, or the tensor of TensorFlow 2."""
    for field, kind, entry in _fields(message):
        if (field, kind) != (1, _BYTES):
            continue
        tag, found = "", None
        for part, part_kind, value in _fields(entry):
            if (part, part_kind) == (1, _BYTES):
                tag = value.decode(errors="replace")
            elif (part, part_kind) == (2, _FLOAT):
                (found,) = struct.unpack("<f", value)
            elif (part, part_kind) == (8, _BYTES):
                found = _tensor(value)
        if found is not None:
            yield tag, found


def _tensor(message: bytes) -> float | None:
    """Return the value of a tensor of one 32-bit float (tensor.proto)."""
    for field, kind, value in _fields(message):
        if (field in (4, 5) and kind == _BYTES and len(value) == 4) or (field, kind) == (5, _FLOAT):
            return float(struct.unpack("<f", value)[0])
    return None


def _fields(message: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, wire type and raw value of each field of a protocol buffer."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            begin = at
            _, at = _varint(message, at)
        elif kind == _BYTES:
            length, begin = _varint(message, at)
            at = begin + length
        elif kind in (_DOUBLE, _FLOAT):
            begin, at = at, at + (8 if kind == _DOUBLE else 4)
        else:
            raise ValueError(f"unknown wire type {kind}")
        yield key >> 3, kind, message[begin:at]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length and the offset after it."""
    result = shift = 0
    while True:
        byte = message[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7


def _signed(raw: bytes) -> int:
    value, _ = _varint(raw, 0)
    return value - (1 << 64) if value >= 1 << 63 else value


def masked_crc(data: bytes) -> int:
    """Return the masked CRC-32C of some bytes (record_writer.h).

    Args:
        data: bytes to check.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_TABLE = _crc_table()
"""Table of the Castagnoli polynomial, reversed."""
