"""Digest that identifies a program.

Small files that decide the behaviour (the program's file, its scripts) are read in full. Shared
libraries are many and large: they are identified by path, size and time of modification, as in
``make(1)``. That takes microseconds, and treats a reinstalled library as another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from assay.machine.root import Root


def program_digest(
    root: Root,
    files: Iterable[str],
    beside: Iterable[str] = (),
    versions: Iterable[str] = (),
) -> str | None:
    """Return the digest of a program; for one file alone it is that of ``sha256sum``.

    Args:
        root: root of the files.
        files: files to read in full, in this order; links to the same file count once.
        beside: files to identify by path, size and time, in any order; missing ones are left out.
        versions: versions of packages, in any order.

    Returns:
        64 hexadecimal digits; ``None`` if one of ``files`` cannot be read, or there are none.
    """
    lines = []
    for path in dict.fromkeys(root.real(path) for path in files):
        place = root.on_host(path) if path else None
        try:
            if place is not None:
                with place.open("rb") as file:
                    lines.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError:
            return None
    if not lines:
        return None
    lines += sorted({line for path in beside if (line := _stamp(root, path))})
    lines += sorted(set(versions))
    return lines[0] if len(lines) == 1 else hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _stamp(root: Root, path: str) -> str | None:
    """Return path, size and modification time in nanoseconds; ``None`` if the file is missing."""
    place = root.on_host(path)
    try:
        seen = place.stat() if place is not None else None
    except (OSError, ValueError):
        return None
    return f"{path} {seen.st_size} {seen.st_mtime_ns}" if seen else None
