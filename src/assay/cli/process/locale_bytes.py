"""Bytes of names and arguments under any locale, and the environment as assay received it.

Python decodes arguments, variables and file names by the encoding of the locale. assay writes them
as UTF-8 to plans, studies and scripts: under ISO-8859-1 the byte E9 would become C3 A9, and name
another file. Python's UTF-8 mode preserves every byte, valid UTF-8 or not (PEP 383).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_MODE = "utf8"
"""Option ``-X utf8`` of Python; unlike ``PYTHONUTF8``, child processes do not inherit it."""
_COERCED = "LC_CTYPE"
_COERCED_TO = ("C.UTF-8", "C.utf8", "UTF-8")
"""Values that Python sets in the locale C (PEP 538)."""


def ensure_utf8_mode() -> None:
    """Restart this process in Python's UTF-8 mode, unless it decodes names as UTF-8 already.

    Raises:
        OSError: the restart fails.
    """
    if sys.getfilesystemencoding() == "utf-8" or _MODE in sys._xoptions:
        return
    first, *rest = _words()
    os.execv(sys.executable, [first, b"-X", _MODE.encode(), *rest])


def undo_locale_coercion() -> None:
    """Remove the ``LC_CTYPE`` that Python has set, so that programs do not inherit it.

    Tools such as grep, sort and wc are several times slower with it than in the locale C.
    """
    if os.environ.get(_COERCED) not in _COERCED_TO:
        return
    try:
        given = Path("/proc/self/environ").read_bytes()
    except OSError:
        return
    if not any(entry.startswith(f"{_COERCED}=".encode()) for entry in given.split(b"\0")):
        del os.environ[_COERCED]


def _words() -> list[bytes]:
    """Return the arguments of this process as the kernel has them."""
    read = [os.fsencode(word) for word in sys.orig_argv]
    try:
        held = Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return read
    return held if len(held) == len(read) else read
