"""Cache directory of a user."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def cache_folder(env: Mapping[str, str]) -> Path | None:
    """Return ``assay`` below ``XDG_CACHE_HOME`` or ``~/.cache``; ``None`` without a home directory.

    A relative ``XDG_CACHE_HOME`` is ignored, as the XDG Base Directory Specification requires.
    """
    cache = Path(env.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        home = env.get("HOME")
        if not home:
            return None
        cache = Path(home).absolute() / ".cache"
    return cache / "assay"
