"""Presence: whether the file of a store is still in its place.

A deleted file goes on existing for those who have it open: SQLite would write to it until the end,
acknowledge everything, and all would be gone with this process.
"""

from __future__ import annotations

from pathlib import Path

from assay.errors import NotPossibleError


class FileIdentity:
    """Remembers the file of a database by device and inode.

    Args:
        path: of the database, which exists.

    Raises:
        NotPossibleError: it has gone already.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begun = _identity(path)
        if self._begun is None:
            raise self._gone()

    def demand(self) -> None:
        """Look at the file again, which takes about a microsecond.

        Raises:
            NotPossibleError: it is gone, or another file is in its place.
        """
        now = _identity(self._path)
        if now is None:
            raise self._gone()
        if now != self._begun:
            raise NotPossibleError(
                f"The store {self._path} is another file than before: it was replaced while assay "
                "used it.",
                f"Put the file of before back, and `assay study resume` goes on. {_LOST}",
            )

    def _gone(self) -> NotPossibleError:
        folder = self._path.parent
        if not folder.exists():
            return NotPossibleError(
                f"The folder {folder} of the store {self._path.name} is gone: it was deleted or "
                "moved while assay used it.",
                f"Where it was moved, move it back, and `assay study resume` goes on. {_LOST}",
            )
        return NotPossibleError(
            f"The store {self._path} is gone: it was deleted or moved while assay used it.",
            f"Where it was moved, move it back, and `assay study resume` goes on. {_LOST}",
        )


_LOST = "What was deleted has to be measured again; --db PATH or ASSAY_DB names another place."


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
