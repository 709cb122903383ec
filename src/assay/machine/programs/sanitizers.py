"""Detection of programs built with a sanitizer.

A sanitizer's runtime replaces the allocator and must be loaded first, so nothing can be preloaded
into such a program. Names: compiler-rt's ``*_interface.h``, which GCC's libsanitizer has too.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from pathlib import Path

from assay.machine.programs.elf import string_tables

_FILE = re.compile(r"/lib(?:clang_rt\.)?(asan|hwasan|tsan|lsan|msan)\b[-.\w]*\.so")
_SYMBOLS = {
    "asan": b"__asan_init",
    "hwasan": b"__hwasan_init",
    "tsan": b"__tsan_init",
    "msan": b"__msan_init",
    "lsan": b"__lsan_init",
}
"""Symbols called at the start, or defined in the runtime; -fsanitize=undefined has none."""
NAMES = {
    "asan": "address",
    "hwasan": "hwaddress",
    "tsan": "thread",
    "msan": "memory",
    "lsan": "leak",
}
"""Names in the compiler's option ``-fsanitize=``."""
_RUNTIME = b"__sanitizer_symbolize_code"
"""Optional symbol of a program that all runtimes reference."""
_MAX_FILE_BYTES = 2**31


def sanitizers_of_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the sanitizers whose runtimes are among shared objects, by the compiler's names."""
    found = (_FILE.search(path) for path in paths)
    return tuple(sorted({NAMES[match[1]] for match in found if match}))


def embedded_sanitizers(path: Path) -> tuple[str, ...]:
    """Return the sanitizers in a program's own file, by the compiler's names.

    Only symbol names count: compilers contain the same texts elsewhere. If the symbols of a
    statically linked runtime are stripped, its reference to a symbol of the program remains, and
    its options text identifies it.
    """
    tables = string_tables(path)
    if not tables:
        return ()
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not 0 < size <= _MAX_FILE_BYTES:
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
            option
            for name, option in NAMES.items()
            if content.find(b"\0" + name.upper().encode() + b"_OPTIONS\0") >= 0
        }
    return tuple(sorted(found))
