"""ELF files: what can be read from a program or shared object without running it.

Format: ``elf(5)``; dynamic tags: the System V gABI, chapter 5.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"\x7fELF"
_IDENT_BYTES = 20

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


@dataclass(frozen=True)
class Ident:
    """For which machine a file is."""

    machine: int
    bits: int

    def runs_on(self, arch: str) -> bool:
        """Whether a process of this architecture can load it; true where that is not known."""
        return arch not in _MACHINES or _MACHINES[arch] == (self.machine, self.bits)


@dataclass(frozen=True)
class Elf:
    """A program or shared object.

    Attributes:
        ident: for which machine it is.
        loader: its dynamic loader; ``None`` for a static program or a shared object.
        needed: names of the shared objects that it asks for, in order.
        rpath, runpath: folders to search for them, as written in the file.
    """

    ident: Ident
    loader: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


def parse_ident(head: bytes) -> Ident | None:
    """For which machine a file is, from its first 20 bytes; ``None`` unless it is ELF."""
    if len(head) < _IDENT_BYTES or head[:4] != _MAGIC or head[4] not in (1, 2):
        return None
    order = ">" if head[5] == 2 else "<"
    (machine,) = struct.unpack_from(f"{order}H", head, 18)
    return Ident(machine, 64 if head[4] == 2 else 32)


def read_ident(path: Path) -> Ident | None:
    """For which machine a file is; ``None`` unless it can be read and is ELF."""
    try:
        with path.open("rb") as file:
            return parse_ident(file.read(_IDENT_BYTES))
    except OSError:
        return None


def read_elf(path: Path) -> Elf | None:
    """What an ELF file links to; ``None`` where it cannot be read, is none, or is damaged."""
    ident = read_ident(path)
    if ident is None:
        return None
    # Imported late: 40 ms, and most runs look at no program.
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            return _dynamic_part(ident, ELFFile(file))
    except Exception:
        # A damaged file makes the parsers of pyelftools raise nearly anything.
        return None


def _dynamic_part(ident: Ident, file: object) -> Elf:
    loader: str | None = None
    values: dict[str, list[str]] = {"needed": [], "rpath": [], "runpath": []}
    for segment in file.iter_segments():  # type: ignore[attr-defined]
        kind = segment.header.p_type
        if kind == "PT_INTERP":
            loader = segment.get_interp_name()
        elif kind == "PT_DYNAMIC":
            for tag in segment.iter_tags():
                name = str(tag.entry.d_tag).removeprefix("DT_").lower()
                if name in values:
                    values[name].append(str(getattr(tag, name)))
    return Elf(
        ident=ident,
        loader=loader,
        needed=tuple(values["needed"]),
        rpath=_folders(values["rpath"]),
        runpath=_folders(values["runpath"]),
    )


def _folders(texts: list[str]) -> tuple[str, ...]:
    return tuple(folder for text in texts for folder in text.split(":") if folder)
