"""Size of a database file, and the return of its free space to the file system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.errors import NotPossibleError
from assay.store.base import FileUse
from assay.units import show_bytes

NOTHING_CHANGED = "Nothing was changed."
NOTHING_LOST = "No data was lost; the free space stays within the store."
_WITHOUT_VACUUM = (
    "--no-vacuum needs little space: the freed part stays within the store for new samples, and "
    "the next compaction needs less."
)
_PAGE_BYTES = 4096
_FRAME_HEADER_BYTES = 24
_TEMPORARY_FOLDERS = ("/var/tmp", "/usr/tmp", "/tmp", ".")


def file_use(connection: Any) -> FileUse:
    """Return the use of the file of a connection of the driver."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return FileUse(pages * size, free * size)


def vacuum(connection: Any) -> None:
    """Return free space to the file system; a connection of the driver without a transaction."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def demand_space(
    path: Path,
    use: FileUse,
    state: str = NOTHING_CHANGED,
    env: Mapping[str, str] = os.environ,
    free_in: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> None:
    """Raise an error if a vacuum could fill the disk.

    SQLite writes a copy of the data to a temporary file, and then to the journal (write-ahead log)
    beside the database, which has a header for each page (https://www.sqlite.org/lang_vacuum.html,
    https://www.sqlite.org/fileformat2.html#walformat).

    Args:
        path: path of the database.
        use: use of the file.
        state: state of the store at the error, as a sentence.
        env: environment variables.
        free_in: returns the free space of the file system of a folder, in bytes.

    Raises:
        NotPossibleError: too little free space.
    """
    copy_bytes = use.size_bytes - use.free_bytes
    journal_bytes = copy_bytes + copy_bytes // _PAGE_BYTES * _FRAME_HEADER_BYTES
    temporary = temporary_folder(env)
    shared = temporary.stat().st_dev == path.parent.stat().st_dev
    needs = {path.parent: journal_bytes + (copy_bytes if shared else 0)}
    if not shared:
        needs[temporary] = copy_bytes
    for folder, needed in needs.items():
        free = free_in(folder)
        if free < needed:
            if folder is temporary or free >= journal_bytes:
                remedy = "Free space there, or set SQLITE_TMPDIR to a directory on another disk."
            else:
                remedy = (
                    f"Free space there: the journal beside the store takes up to "
                    f"{show_bytes(journal_bytes)}, which SQLITE_TMPDIR does not move. Or move the "
                    f"store's files (`{path}*`) to another disk while no assay runs."
                )
            raise NotPossibleError(
                f"To return free space, SQLite needs up to {show_bytes(needed)} in {folder}; "
                f"{show_bytes(free)} are free. {state}",
                f"{remedy} {_WITHOUT_VACUUM}",
            )


def temporary_folder(env: Mapping[str, str]) -> Path:
    """Return the directory of SQLite's temporary files (https://www.sqlite.org/tempfiles.html)."""
    named = [env[name] for name in ("SQLITE_TMPDIR", "TMPDIR") if env.get(name)]
    usable = (
        folder
        for folder in map(Path, (*named, *_TEMPORARY_FOLDERS))
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    )
    return next(usable, Path())
