"""Watch: whether the program is still the one that the study began with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.errors import NotPossibleError
from assay.executors.missing_inputs import MissingInputError

_Stamp = tuple[int, int, int, int]


class ProgramChangedError(NotPossibleError):
    """A file of the program is another one than when the study began.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The program was changed while the study ran: {path}.",
            "What was measured before is kept. `assay study resume` goes on where the file is as "
            "it was; with --new-stratum the new one is measured apart from it.",
        )
        self.path = path


class ProgramFiles:
    """Remembers the files of a program as they are now.

    A launch that ends while they are the same has run them. They are told by device, inode, size
    and time of modification, which takes about a microsecond each.

    Args:
        files: of the program; what is not there now is not watched.
    """

    def __init__(self, files: Iterable[str]) -> None:
        stamps = {path: _stamp(path) for path in map(Path, files)}
        self._stamps = {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def demand_same(self) -> None:
        """Look at the files again.

        Raises:
            Gone: one is not there any more.
            Changed: one is another.
        """
        for path, before in self._stamps.items():
            now = _stamp(path)
            if now is None:
                raise _gone(path)
            if now != before:
                raise ProgramChangedError(path)


def _gone(path: Path) -> MissingInputError:
    """Names the folder where that is gone as well."""
    top = path
    while not top.parent.exists():
        top = top.parent
    return MissingInputError(
        "The program's file" if top == path else "The program's folder", str(top)
    )


def _stamp(path: Path) -> _Stamp | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
