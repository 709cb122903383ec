"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.errors import InvalidInputError, NotPossibleError


@contextlib.contextmanager
def replace_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name when it is complete; an error leaves what was there.

    What is no regular file, such as ``/dev/stdout``, is written as it is.

    Raises:
        InvalidInputError: a folder, or within none.
        NotPossibleError: it cannot be written.
    """
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder.", "Name a file.")
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"There is no folder {path.parent} for {path.name}.", "Make it first."
        )
    try:
        with _special(path) if _is_special(path) else _beside(path) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        # /proc and its like are folders in which no file can be made.
        within = f"no file can be made in {path.parent}"
        why = within if error.errno == errno.ENOENT else error.strerror or error
        raise NotPossibleError(f"{path} cannot be written: {why}.", "Name another file.") from error


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _special(path: Path) -> BinaryIO:
    return path.open("wb")


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))  # a link keeps pointing there
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
