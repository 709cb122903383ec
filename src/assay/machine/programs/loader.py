"""Files that the dynamic loader would map for a program, without running it.

Search order and words such as ``$ORIGIN``: ``ld.so(8)``. Cache: glibc's
``sysdeps/generic/dl-cache.h``. Directories for processor variants (``glibc-hwcaps``) are not
searched: a run shows the files that were mapped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import msgspec

from assay.machine.programs.elf import Elf, Ident, read_elf, read_ident
from assay.machine.root import Root

_CACHE = "/etc/ld.so.cache"
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEAD_BYTES = 48
_CACHE_ENTRY = struct.Struct("=iIIIQ")

_MULTIARCH = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
    "i686": "i386-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
}
"""Debian's directory of each architecture (Multiarch/Tuples)."""

_MAX_OBJECTS = 2000
"""Maximum number of objects, above that of any program; it bounds the search in a hostile tree."""


class Linked(msgspec.Struct, frozen=True):
    """Real paths by requested name, and the names that were not found."""

    found: dict[str, str]
    missing: tuple[str, ...] = ()


class _Object(msgspec.Struct, frozen=True):
    """A mapped file, and the search directories for its dependencies."""

    elf: Elf
    folder: str
    inherited: tuple[str, ...] = ()


def default_folders(arch: str) -> tuple[str, ...]:
    """Return the library directories of distributions, in search order."""
    multiarch = _MULTIARCH.get(arch)
    bases = ("/usr/local/lib", "/lib", "/usr/lib")
    named = tuple(f"{base}/{multiarch}" for base in bases) if multiarch else ()
    return (
        *named,
        "/usr/local/lib64",
        "/usr/local/lib",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    )


def read_cache(root: Root) -> dict[str, tuple[str, ...]]:
    """Return the paths by name in ``/etc/ld.so.cache``, as listed by ``ldconfig -p``.

    The result is empty if the file is missing, or has the format before glibc 2.2.
    """
    content = root.read_bytes(_CACHE) or b""
    start = content.find(_CACHE_MAGIC)
    found: dict[str, tuple[str, ...]] = {}
    if start < 0 or len(content) < start + _CACHE_HEAD_BYTES:
        return found
    (count,) = struct.unpack_from("=I", content, start + len(_CACHE_MAGIC))
    first = start + _CACHE_HEAD_BYTES
    count = min(count, (len(content) - first) // _CACHE_ENTRY.size)
    for index in range(count):
        entry = _CACHE_ENTRY.unpack_from(content, first + index * _CACHE_ENTRY.size)
        _, key, value, _, hwcap = entry
        if hwcap == 0:
            name, path = _text(content, start + key), _text(content, start + value)
            found[name] = (*found.get(name, ()), path)
    return found


def link(
    root: Root, path: str, elf: Elf, env: Mapping[str, str], extra: tuple[str, ...] = ()
) -> Linked:
    """Return all shared objects that a program maps at its start.

    Args:
        root: root of the files.
        path: path of the program on the machine.
        elf: dependencies of the program.
        env: environment, with ``LD_LIBRARY_PATH`` and ``LD_PRELOAD``.
        extra: names of further objects to find as dependencies of the program.
    """
    cache = read_cache(root)
    search = _Search(root, elf.ident, cache, _split(env.get("LD_LIBRARY_PATH", "")))
    found: dict[str, str] = {}
    missing: list[str] = []
    program = search.mapped(elf, root.real(path) or path, ())
    preloads = tuple(env.get("LD_PRELOAD", "").replace(":", " ").split())
    waiting = [(name, program) for name in (*preloads, *elf.needed, *extra)]
    while waiting and len(found) < _MAX_OBJECTS:
        name, dependent = waiting.pop(0)
        if name in found or name in missing:
            continue
        place = search.find(name, dependent)
        if place is None:
            missing.append(name)
            continue
        found[name] = place
        mapped = search.read(place, dependent)
        if mapped is not None:
            waiting.extend((other, mapped) for other in mapped.elf.needed)
    return Linked(found, tuple(missing))


class _Search(msgspec.Struct, frozen=True):
    """Constant parts of the search for one program's objects."""

    root: Root
    ident: Ident
    cache: Mapping[str, tuple[str, ...]]
    library_path: tuple[str, ...]

    def find(self, name: str, dependent: _Object) -> str | None:
        """Return the first candidate that this program can load."""
        for candidate in self._candidates(name, dependent):
            place = self.root.on_host(candidate)
            if place is not None and read_ident(place) == self.ident:
                return self.root.real(candidate)
        return None

    def read(self, path: str, dependent: _Object) -> _Object | None:
        """Return the object at a path, with its dependencies."""
        place = self.root.on_host(path)
        elf = read_elf(place) if place is not None else None
        return None if elf is None else self.mapped(elf, path, dependent.inherited)

    def mapped(self, elf: Elf, path: str, inherited: tuple[str, ...]) -> _Object:
        """Return an object at a path; its own search directories are expanded."""
        folder = path.rpartition("/")[0] or "/"
        own = tuple(self._expand(entry, folder) for entry in elf.rpath)
        return _Object(elf, folder, (*own, *inherited))

    def _candidates(self, name: str, dependent: _Object) -> Iterator[str]:
        if "/" in name:
            yield self._expand(name, dependent.folder)
            return
        # DT_RPATH of the object and of its dependents, unless it has a DT_RUNPATH.
        rpath = () if dependent.elf.runpath else dependent.inherited
        runpath = dependent.elf.runpath
        for folder in (*rpath, *self.library_path, *runpath):
            yield f"{self._expand(folder, dependent.folder)}/{name}"
        yield from self.cache.get(name, ())
        for folder in default_folders(self._arch):
            yield f"{folder}/{name}"

    def _expand(self, text: str, origin: str) -> str:
        lib = "lib64" if self.ident.bits == 64 else "lib"
        for word, value in (("ORIGIN", origin), ("LIB", lib), ("PLATFORM", self._arch)):
            text = text.replace(f"${{{word}}}", value).replace(f"${word}", value)
        return text

    @property
    def _arch(self) -> str:
        return next((arch for arch in _MULTIARCH if self.ident.runs_on(arch)), "")


def _split(text: str) -> tuple[str, ...]:
    # Semicolons are separators too (ld.so(8)).
    return tuple(folder for folder in text.replace(";", ":").split(":") if folder)


def _text(content: bytes, start: int) -> str:
    end = content.find(b"\0", start)
    return content[start : end if end >= 0 else None].decode(errors="replace")
