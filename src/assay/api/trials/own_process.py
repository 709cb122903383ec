"""Identity of the present process, and the words and the digest of its script.

Interfaces: ``getauxval(3)`` (``AT_RANDOM``: 16 random bytes of each ``execve(2)``).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from pathlib import Path

from assay.study.trials import OwnProcess

_AT_RANDOM = 25
_RANDOM_BYTES = 16
_DIGITS = 16


def own_process() -> OwnProcess:
    """Return the present process.

    Forked children share the identity of their parent: they share its memory layout and its
    caches, so they are not independent observations.
    """
    return OwnProcess(_identity(), dict(os.environ), _script_digest())


def own_words() -> tuple[str, ...]:
    """Return the command line of the present process; ``python`` if it is interactive."""
    if _script() is None:
        return ("python",)
    return tuple(sys.orig_argv) or ("python",)


def _identity() -> str:
    library = ctypes.CDLL(None)
    library.getauxval.restype = ctypes.c_ulong
    library.getauxval.argtypes = (ctypes.c_ulong,)
    address = library.getauxval(_AT_RANDOM)
    # The digest does not disclose the bytes, from which the C library derives its stack guard.
    random = ctypes.string_at(address, _RANDOM_BYTES) if address else str(os.getpid()).encode()
    return hashlib.sha256(random).hexdigest()[:_DIGITS]


def _script() -> Path | None:
    """Return the path of the script that Python runs; ``None`` without one."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(path) if isinstance(path, str) and Path(path).is_file() else None


def _script_digest() -> str | None:
    path = _script()
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
