"""ELF files: properties of a program or shared object that can be read without running it.

Format: ``elf(5)``; dynamic tags: the System V gABI, chapter 5 (``linux/elf.h``).
"""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import BinaryIO

import msgspec

_MAGIC = b"\x7fELF"
_IDENT_BYTES = 20

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 10, 15, 29
_SHT_STRTAB = 3

_MAX_TAGS = 65536
_MAX_TEXT_BYTES = 4096
"""PATH_MAX; search paths of several directories rarely reach a tenth of it."""

_MACHINES = {
    "x86_64": (62, 64),
    "aarch64": (183, 64),
    "ppc64le": (21, 64),
    "riscv64": (243, 64),
    "s390x": (22, 64),
    "loongarch64": (258, 64),
    "i686": (3, 32),
    "i386": (3, 32),
    "armv7l": (40, 32),
}
"""``uname -m`` -> number of the machine (``e_machine``) and bits of its class."""


class Ident(msgspec.Struct, frozen=True):
    """The target machine of a file."""

    machine: int
    bits: int

    def __str__(self) -> str:
        names = (name for name, known in _MACHINES.items() if known == (self.machine, self.bits))
        return f"{self.bits}-bit {next(names, f'machine {self.machine}')}"

    def runs_on(self, arch: str) -> bool:
        """Return whether a process of this architecture can load the file; true if unknown."""
        return arch not in _MACHINES or _MACHINES[arch] == (self.machine, self.bits)


class Elf(msgspec.Struct, frozen=True):
    """A program or shared object.

    Attributes:
        ident: its target machine.
        loader: its dynamic loader; ``None`` for a static program or a shared object.
        needed: names of its shared objects, in order.
        rpath, runpath: search directories for them, as written in the file.
    """

    ident: Ident
    loader: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


def parse_ident(head: bytes) -> Ident | None:
    """Return the target machine from the first 20 bytes of a file; ``None`` unless it is ELF."""
    if len(head) < _IDENT_BYTES or head[:4] != _MAGIC or head[4] not in (1, 2):
        return None
    order = ">" if head[5] == 2 else "<"
    (machine,) = struct.unpack_from(f"{order}H", head, 18)
    return Ident(machine, 64 if head[4] == 2 else 32)


def read_ident(path: Path) -> Ident | None:
    """Return the target machine of a file; ``None`` unless it is a readable ELF file."""
    try:
        with path.open("rb") as file:
            return parse_ident(file.read(_IDENT_BYTES))
    except OSError:
        return None


def read_elf(path: Path) -> Elf | None:
    """Return the dependencies of an ELF file; ``None`` if it is unreadable, damaged or not ELF.

    Only the program headers and their targets are read, as by the loader, so the size of a file
    does not matter. (pyelftools takes seconds for some damaged files, and 3 ms for a good one.)
    """
    try:
        with path.open("rb") as file:
            ident = parse_ident(file.read(_IDENT_BYTES))
            return None if ident is None else _dynamic_part(ident, _Reader(file, ident.bits))
    except (OSError, struct.error, ValueError, OverflowError):
        return None


def string_tables(path: Path) -> tuple[tuple[int, int], ...]:
    """Return position and size of the tables with the symbol names of a file.

    The table of dynamic symbols always exists, others only without stripping. The result is empty
    for a file that is unreadable, damaged or not ELF.
    """
    try:
        with path.open("rb") as file:
            ident = parse_ident(file.read(_IDENT_BYTES))
            return () if ident is None else _tables(_Reader(file, ident.bits))
    except (OSError, struct.error, ValueError, OverflowError):
        return ()


class _Segment(msgspec.Struct, frozen=True):
    """A program header."""

    kind: int
    offset: int
    address: int
    size: int


class _Reader:
    """Reader of numbers and texts of one open file, in its class and byte order."""

    def __init__(self, file: BinaryIO, bits: int) -> None:
        self._file = file
        self._wide = bits == 64
        self._order = ">" if self._at(5, 1) == b"\2" else "<"

    def segments(self) -> list[_Segment]:
        """Return all program headers."""
        place, size, count = self._header()
        # e_phentsize is read, as by the kernel, only to compare it with the known size.
        layout = f"{self._order}{'IIQQQQQQ' if self._wide else 'IIIIIIII'}"
        if size != struct.calcsize(layout):
            raise ValueError("program headers of an unknown size")
        rows = struct.iter_unpack(layout, self._at(place, size * count))
        if self._wide:
            return [_Segment(row[0], row[2], row[3], row[5]) for row in rows]
        return [_Segment(row[0], row[1], row[2], row[4]) for row in rows]

    def tags(self, segment: _Segment) -> list[tuple[int, int]]:
        """Return tags and values of a dynamic segment, up to its end tag."""
        layout = f"{self._order}{'qQ' if self._wide else 'iI'}"
        row_bytes = struct.calcsize(layout)
        size = min(segment.size, _MAX_TAGS * row_bytes) // row_bytes * row_bytes
        found = []
        for tag, value in struct.iter_unpack(layout, self._at(segment.offset, size)):
            if tag == _DT_NULL:
                break
            found.append((tag, value))
        return found

    def tables(self) -> list[tuple[int, int]]:
        """Return position and size of each string table section."""
        layout = f"{self._order}{'QQQIHHHHH' if self._wide else 'IIIIHHHHH'}"
        header = struct.unpack(layout, self._at(24, struct.calcsize(layout)))
        place, size, count = header[2], header[7], header[8]
        row = f"{self._order}{'IIQQQQIIQQ' if self._wide else 'IIIIIIIIII'}"
        if count == 0 or size != struct.calcsize(row):
            return []
        rows = struct.iter_unpack(row, self._at(place, size * count))
        return [(row[4], row[5]) for row in rows if row[1] == _SHT_STRTAB]

    def text(self, place: int) -> str:
        """Return the text at a position, up to its NUL byte."""
        return self._at(place, _MAX_TEXT_BYTES, exact=False).partition(b"\0")[0].decode()

    def _header(self) -> tuple[int, int, int]:
        """Return position, size and number of the program headers."""
        layout = f"{self._order}{'QQQIHHH' if self._wide else 'IIIIHHH'}"
        fields = struct.unpack(layout, self._at(24, struct.calcsize(layout)))
        return fields[1], fields[5], fields[6]

    def _at(self, place: int, size: int, exact: bool = True) -> bytes:
        self._file.seek(place)
        content = self._file.read(size)
        if exact and len(content) < size:
            raise ValueError("the file ends early")
        return content


def _dynamic_part(ident: Ident, reader: _Reader) -> Elf:
    segments = reader.segments()
    interpreters = [reader.text(s.offset) for s in segments if s.kind == _PT_INTERP]
    tags = [tag for s in segments if s.kind == _PT_DYNAMIC for tag in reader.tags(s)]
    texts = _file_offset(segments, dict(tags).get(_DT_STRTAB))

    def named(wanted: int) -> tuple[str, ...]:
        return tuple(reader.text(texts + value) for tag, value in tags if tag == wanted)

    return Elf(
        ident=ident,
        loader=interpreters[0] if interpreters else None,
        needed=named(_DT_NEEDED),
        rpath=_folders(named(_DT_RPATH)),
        runpath=_folders(named(_DT_RUNPATH)),
    )


def _tables(reader: _Reader) -> tuple[tuple[int, int], ...]:
    segments = reader.segments()
    tags = dict(tag for s in segments if s.kind == _PT_DYNAMIC for tag in reader.tags(s))
    found = []
    if _DT_STRTAB in tags:
        found.append((_file_offset(segments, tags[_DT_STRTAB]), tags.get(_DT_STRSZ, 0)))
    with contextlib.suppress(struct.error, ValueError):  # programs run without them
        found += reader.tables()
    return tuple(dict.fromkeys(found))


def _file_offset(segments: list[_Segment], address: int | None) -> int:
    """Return the position in the file of the byte mapped at an address."""
    if address is None:
        return 0
    for segment in segments:
        within = address - segment.address
        if segment.kind == _PT_LOAD and 0 <= within < segment.size:
            return segment.offset + within
    raise ValueError("an address outside every segment")


def _folders(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folder for text in texts for folder in text.split(":") if folder)
