"""Locale bytes: names and arguments that keep their bytes, and an environment as it was given.

Python reads arguments, variables and file names by the encoding of the locale. assay writes them as
UTF-8 into plans, studies and scripts: under ISO-8859-1 the byte E9 would become C3 A9, and the file
would be another one. In Python's UTF-8 mode every byte comes through, valid UTF-8 or not (PEP 383).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_MODE = "utf8"
"""The option ``-X utf8`` of Python; programs do not inherit it, as they would ``PYTHONUTF8``."""
_COERCED = "LC_CTYPE"
_COERCED_TO = ("C.UTF-8", "C.utf8", "UTF-8")
"""Python sets the variable to one of these where the locale is C (PEP 538)."""


def ensure_utf8_mode() -> None:
    """Start this process again in Python's UTF-8 mode, unless it reads names as UTF-8 already.

    Raises:
        OSError: it cannot be started again.
    """
    if sys.getfilesystemencoding() == "utf-8" or _MODE in sys._xoptions:
        return
    first, *rest = _words()
    os.execv(sys.executable, [first, b"-X", _MODE.encode(), *rest])


def undo_locale_coercion() -> None:
    """Take away the ``LC_CTYPE`` that Python has set, which programs would inherit.

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
    """The words of this process as the kernel holds them."""
    read = [os.fsencode(word) for word in sys.orig_argv]
    try:
        held = Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return read
    return held if len(held) == len(read) else read
