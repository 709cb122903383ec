"""Atomic writing of files."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from assay.errors import InvalidInputError, NotPossibleError


@contextlib.contextmanager
def replace_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` when it is complete; after an error the old one remains.

    Special files such as ``/dev/stdout`` are written directly.

    Raises:
        InvalidInputError: a directory, or the parent directory is missing.
        NotPossibleError: the file cannot be written.
    """
    if path.is_dir():
        raise InvalidInputError(f"{path} is a directory.", "Specify a file.")
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"The directory {path.parent} of {path.name} does not exist.", "Create it first."
        )
    try:
        with _special(path) if _is_special(path) else _temporary_file(path) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        # Files cannot be created in /proc and similar file systems.
        within = f"{path.parent} does not allow new files"
        why = within if error.errno == errno.ENOENT else error.strerror or error
        raise NotPossibleError(
            f"{path} cannot be written: {why}.", "Specify another file."
        ) from error


@contextlib.contextmanager
def text_within(target: BinaryIO) -> Iterator[TextIO]:
    """Open a binary file for text, and leave it open at the end."""
    text = io.TextIOWrapper(target, "utf-8", errors="backslashreplace", newline="")
    try:
        yield text
        text.flush()
    finally:
        with contextlib.suppress(OSError):
            text.detach()


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _special(path: Path) -> BinaryIO:
    return path.open("wb")


@contextlib.contextmanager
def _temporary_file(path: Path) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))  # keep a symbolic link
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
