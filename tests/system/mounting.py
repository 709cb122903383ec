"""File systems that tests mount for themselves."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted(place: Path, *words: str | Path) -> Iterator[Path]:
    """Mount a file system, given by arguments of ``mount``; skip the test if that is not possible.

    It is unmounted as soon as no process uses it: the kernel may keep the files of a program
    open for a moment after its end.
    """
    done = subprocess.run(["mount", *words, place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
