"""Sanitizers: how a program shows that it is built with one of them.

A sanitizer's runtime replaces the allocator and has to be the first that the loader finds, so
nothing can be preloaded into such a program. Names: compiler-rt's ``*_interface.h``, which GCC's
libsanitizer has too.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from pathlib import Path

from assay.machine.elf import string_tables

_FILE = re.compile(r"/lib(?:clang_rt\.)?(asan|hwasan|tsan|lsan|msan)\b[-.\w]*\.so")
_SYMBOLS = {
    "asan": b"__asan_init",
    "hwasan": b"__hwasan_init",
    "tsan": b"__tsan_init",
    "msan": b"__msan_init",
    "lsan": b"__lsan_init",
}
"""Called before anything else, or held by the runtime; -fsanitize=undefined has none."""
NAMES = {
    "asan": "address",
    "hwasan": "hwaddress",
    "tsan": "thread",
    "msan": "memory",
    "lsan": "leak",
}
"""As in the compiler's option ``-fsanitize=``."""
_RUNTIME = b"__sanitizer_symbolize_code"
"""What the runtimes, of all kinds, ask for where a program has it."""
_LARGEST_BYTES = 2**31


def sanitizers_of_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the sanitizers whose runtimes are among shared objects, as the compiler calls them."""
    found = (_FILE.search(path) for path in paths)
    return tuple(sorted({NAMES[match[1]] for match in found if match}))


def embedded_sanitizers(path: Path) -> tuple[str, ...]:
    """Return the sanitizers that a program's own file shows, as the compiler calls them.

    Only names of symbols count: compilers hold the same texts elsewhere. Where those of a runtime
    that is linked statically are stripped, what it asks the program for is still named, and its
    text tells which one it is.
    """
    tables = string_tables(path)
    if not tables:
        return ()
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not 0 < size <= _LARGEST_BYTES:
                return ()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _shown(content, tables)
    except (OSError, ValueError):
        return ()


def _shown(content: mmap.mmap, tables: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    def named(symbol: bytes) -> bool:
        word = b"\0" + symbol + b"\0"
        return any(content.find(word, place, place + size) >= 0 for place, size in tables)

    found = {NAMES[name] for name, symbol in _SYMBOLS.items() if named(symbol)}
    if not found and named(_RUNTIME):
        found = {
            said
            for name, said in NAMES.items()
            if content.find(b"\0" + name.upper().encode() + b"_OPTIONS\0") >= 0
        }
    return tuple(sorted(found))
