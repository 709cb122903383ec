"""A 32-bit program, created without a compiler."""

from __future__ import annotations

import struct


def narrow_program() -> bytes:
    """Return a dynamic i386 program that does nothing: it is inspected, not run."""
    loader = b"/lib/ld-linux.so.2\0"
    head, row = 52, 32
    at = head + 3 * row
    dynamic = at + len(loader)
    whole = dynamic + 8
    base = 0x08048000
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    header = struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + head, head, 0, 0, head, row, 3, 0, 0, 0)
    segments = (
        (3, at, base + at, base + at, len(loader), len(loader), 4, 1),
        (1, 0, base, base, whole, whole, 5, 4096),
        (2, dynamic, base + dynamic, base + dynamic, 8, 8, 6, 4),
    )
    rows = b"".join(struct.pack("<8I", *one) for one in segments)
    return ident + header + rows + loader + struct.pack("<iI", 0, 0)
