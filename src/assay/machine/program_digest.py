"""Identity: one digest that says whether a program is still the same.

What is small and decides what runs (the program's file, its scripts) is read whole. Shared
libraries and the like are many and large: they are told by path, size and time of modification,
as ``make(1)`` tells files, which costs microseconds and takes a library that was installed anew for
another one.
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
    """The identity of a program: of one file alone as ``sha256sum`` gives it.

    Args:
        root: where files are read.
        files: read whole, in this order; what links name counts once.
        beside: told by path, size and time, whatever their order; what is absent is left out.
        versions: of packages, whatever their order.

    Returns:
        64 hexadecimal digits; ``None`` where one of ``files`` cannot be read, or there are none.
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
    """Path, size and time of modification in nanoseconds; ``None`` where there is no such file."""
    place = root.on_host(path)
    try:
        seen = place.stat() if place is not None else None
    except (OSError, ValueError):
        return None
    return f"{path} {seen.st_size} {seen.st_mtime_ns}" if seen else None
