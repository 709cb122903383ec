"""File identity: detects that the database file was deleted or replaced.

A deleted file exists until its last descriptor is closed: SQLite would continue to write to it and
acknowledge everything, and all data would be lost at exit.
"""

from __future__ import annotations

from pathlib import Path

from assay.store.errors import StoreUnusableError


class FileIdentity:
    """Identity of a database file by device and inode.

    Args:
        path: path of the existing database.

    Raises:
        StoreUnusableError: the file is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._original = _identity(path)
        if self._original is None:
            raise self._missing_error()

    def demand(self) -> None:
        """Raise an error if the file has changed; the check takes about a microsecond.

        Raises:
            StoreUnusableError: the file is missing or was replaced.
        """
        now = _identity(self._path)
        if now is None:
            raise self._missing_error()
        if now != self._original:
            raise StoreUnusableError(
                f"The store {self._path} was replaced by another file while assay used it.",
                f"Restore the original file and continue with `assay study resume`. {_LOST}",
            )

    def _missing_error(self) -> StoreUnusableError:
        folder = self._path.parent
        if not folder.exists():
            return StoreUnusableError(
                f"The directory {folder} of the store {self._path.name} is missing: it was "
                "deleted or moved while assay used it.",
                f"Move it back if it was moved, and continue with `assay study resume`. {_LOST}",
            )
        return StoreUnusableError(
            f"The store {self._path} is missing: it was deleted or moved while assay used it.",
            f"Move it back if it was moved, and continue with `assay study resume`. {_LOST}",
        )


_LOST = "Deleted samples must be measured again; --db PATH or ASSAY_DB specifies another store."


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
