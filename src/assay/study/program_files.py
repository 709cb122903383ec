"""Program files: detection of changes during a study."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.errors import NotPossibleError
from assay.executors.missing_inputs import MissingInputError

_Stamp = tuple[int, int, int, int]


class ProgramChangedError(NotPossibleError):
    """A file of the program changed during the study.

    Args:
        path: path of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The program was changed during the study: {path}.",
            "Earlier samples are kept. `assay study resume` continues with the original file; "
            "--new-stratum measures the new one separately.",
        )
        self.path = path


class ProgramFiles:
    """Identity of the files of a program.

    A launch that ends while the files are unchanged has executed them. Files are identified by
    device, inode, size and modification time, which takes about a microsecond each.

    Args:
        files: files of the program; missing files are ignored.
    """

    def __init__(self, files: Iterable[str]) -> None:
        stamps = {path: _stamp(path) for path in map(Path, files)}
        self._stamps = {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def demand_same(self) -> None:
        """Raise an error if a file changed.

        Raises:
            MissingInputError: a file is missing.
            ProgramChangedError: a file changed.
        """
        for path, before in self._stamps.items():
            now = _stamp(path)
            if now is None:
                raise _missing_error(path)
            if now != before:
                raise ProgramChangedError(path)


def _missing_error(path: Path) -> MissingInputError:
    """Return an error that names the topmost missing directory or the file."""
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
