"""File systems that tests mount for themselves."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted(place: Path, *words: str | Path) -> Iterator[Path]:
    """A directory with a file system, as the words of ``mount`` name it; skips where none can be.

    It goes as soon as nobody uses it: the kernel may hold a program's files a little longer than
    the program runs.
    """
    done = subprocess.run(["mount", *words, place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
