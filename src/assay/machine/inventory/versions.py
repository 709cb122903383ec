"""Versions of performance-relevant libraries: C library, allocators, OpenMP runtimes.

A version is taken from the file's content, else from its name.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping

from assay.machine.inventory.document import Library
from assay.machine.programs.loader import default_folders, read_cache
from assay.machine.root import Root

_COMPILER = rb"(?:GCC: \([^)\0]{1,80}\) |clang version )(\d+\.\d+[.\d]*)"
_VERSION_PATTERNS = {
    "glibc": rb"GNU C Library [^\n\0]{0,120}release version (\d+\.\d+)",
    "jemalloc": rb"\0(\d+\.\d+\.\d+)-\d+-g[0-9a-f]{40}\0",
    "tcmalloc": rb"gperftools (\d+\.\d+[.\d]*)",
    "gomp": _COMPILER,
    "llvm-omp": _COMPILER,
}
"""Texts within the files; GNU's and LLVM's runtimes contain the version of their compiler."""
_MAX_FILE_BYTES = 64 * 2**20
_LIBC = "libc.so.6"


def read_libraries(root: Root, found: Mapping[str, str], arch: str) -> tuple[Library, ...]:
    """Return the C library, and the allocators and runtimes that were found, with versions.

    Args:
        root: root of the files.
        found: name -> path, from the Machine.
        arch: architecture of the machine.
    """
    libc = _libc(root, arch)
    paths = {**({"glibc": libc} if libc else {}), **found}
    return tuple(
        Library(name=name, path=path, version=_version_in_file(root, name, path) or _named(path))
        for name, path in paths.items()
    )


def _libc(root: Root, arch: str) -> str | None:
    known = list(read_cache(root).get(_LIBC, ()))
    usual = [f"{folder}/{_LIBC}" for folder in default_folders(arch)]
    return next((real for path in (*known, *usual) if (real := root.real(path))), None)


def _version_in_file(root: Root, name: str, path: str) -> str | None:
    place = root.on_host(path)
    if name not in _VERSION_PATTERNS or place is None:
        return None
    try:
        if not 0 < place.stat().st_size <= _MAX_FILE_BYTES:
            return None
        with (
            place.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            match = re.search(_VERSION_PATTERNS[name], content)
            return match[1].decode().rstrip(".") if match else None
    except (OSError, ValueError):
        return None


def _named(path: str) -> str | None:
    match = re.search(r"\.so\.(\d[\d.]*)$|-(\d+\.\d[\d.]*)\.so", path.rpartition("/")[2])
    return (match[1] or match[2]) if match else None
