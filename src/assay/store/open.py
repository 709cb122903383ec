"""Opening a store."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError
from assay.store.base import EVERY_STUDY, Store, StudyHead, StudySelection
from assay.store.filesystem import refuse_network
from assay.store.ids import CREATE_STUDY
from assay.store.location import database_path, default_url, state_path

_MOUNTINFO = Path("/proc/self/mountinfo")
_OTHER_STORE_REMEDY = "Or specify another store with --db PATH or ASSAY_DB."
_OTHER_FILE_REMEDY = "Specify another file with --db PATH or ASSAY_DB."


def open_store(
    url_or_path: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    env: Mapping[str, str] = os.environ,
    busy_timeout_s: float = 5.0,
    patience_s: float = 60.0,
    mountinfo: Path = _MOUNTINFO,
) -> Store:
    """Open the store of a path or URL.

    Only the user's state directory is created if it is missing; other directories must exist.

    Args:
        url_or_path: path or URL; ``default_url(env)`` if absent.
        create: create a missing store.
        env: environment variables.
        busy_timeout_s: maximum wait for write locks of other processes, in seconds.
        patience_s: the same for writes of a held study, whose samples and conclusion are expensive:
            another process may copy or compact the database meanwhile.
        mountinfo: mount table in the format of the kernel.

    Raises:
        InvalidInputError: missing store, or not a file.
        NotPossibleError: missing permission, network file system, locked or damaged database, newer
            schema, or full disk.
    """
    path = _checked_path(url_or_path, create, env, mountinfo)

    from assay.store.sqlite import open_sqlite

    return open_sqlite(path, busy_timeout_s, patience_s)


def list_heads(
    url_or_path: str | os.PathLike[str] | None = None,
    selection: StudySelection = EVERY_STUDY,
    *,
    env: Mapping[str, str] = os.environ,
    mountinfo: Path = _MOUNTINFO,
) -> list[StudyHead]:
    """Return the selected studies of a store, as ``Store.studies``.

    The database library is only imported if the store must be created, upgraded or waited for.

    Args:
        url_or_path, env, mountinfo: see ``open_store``.
        selection: conditions on the studies.

    Raises:
        InvalidInputError, NotPossibleError: see ``open_store``.
    """
    from assay.store.heads import read_heads

    path = _checked_path(url_or_path, True, env, mountinfo)
    heads = read_heads(path, selection)
    if heads is not None:
        return heads
    with open_store(path, env=env, mountinfo=mountinfo) as store:
        return store.studies(selection)


def _checked_path(
    url_or_path: str | os.PathLike[str] | None,
    create: bool,
    env: Mapping[str, str],
    mountinfo: Path,
) -> Path:
    """Return the path of a store that may be opened."""
    path = database_path(default_url(env) if url_or_path is None else url_or_path)
    refuse_network(path, _read(mountinfo))
    usual = _is_usual(path, env)
    if create and usual:
        _create_folder(path.parent)
    _check_file(path, create, usual=usual)
    return path


def _is_usual(path: Path, env: Mapping[str, str]) -> bool:
    """Return whether a store is the one in the user's state directory, if there is one."""
    try:
        return path == database_path(state_path(env))
    except NotPossibleError:
        return False


def _read(mountinfo: Path) -> str:
    try:
        return os.fsdecode(mountinfo.read_bytes())
    except OSError:
        return ""  # without /proc the mount is unknown and assumed to be local


def _create_folder(folder: Path) -> None:
    try:
        # 0700 as required by the XDG Base Directory Specification.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotPossibleError(
            f"Cannot create the directory {folder} of the store: {error.strerror}.",
            _OTHER_FILE_REMEDY,
        ) from error


def _check_file(path: Path, create: bool, *, usual: bool) -> None:
    kind = _kind_of(path)
    if kind is None:
        if _kind_of(path.parent) is None and not usual:
            raise InvalidInputError(
                f"The directory of the store {path} does not exist.",
                f"Create it with `mkdir -p {path.parent}`, or specify another file with --db.",
            )
        if not create:
            raise InvalidInputError(
                f"The store {path} does not exist.", f"{CREATE_STUDY} {_OTHER_STORE_REMEDY}"
            )
    elif not stat.S_ISREG(kind):
        kind_name = "a directory" if stat.S_ISDIR(kind) else "not a regular file"
        raise InvalidInputError(f"The store {path} is {kind_name}.", _OTHER_FILE_REMEDY)
    elif _read_only(path):
        raise NotPossibleError(
            f"The store {path} is on a file system that is mounted read-only.",
            f"Remount it for writing, or copy the store with its journal (`cp {path}* DIR`) and "
            "specify the copy with --db: reading writes a journal next to the store.",
        )
    elif not _allowed(path, os.R_OK | os.W_OK):
        raise NotPossibleError(
            f"No permission to read and write the store {path}.", _OTHER_FILE_REMEDY
        )
    if _read_only(path.parent):
        raise NotPossibleError(
            f"The directory {path.parent} is on a file system that is mounted read-only.",
            _OTHER_FILE_REMEDY,
        )
    if not _allowed(path.parent, os.W_OK | os.X_OK):
        raise NotPossibleError(
            f"No permission to write the directory of the store {path}, where its journal is.",
            _OTHER_FILE_REMEDY,
        )


def _kind_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise InvalidInputError(
            f"A parent of the store {path} is a file.", _OTHER_FILE_REMEDY
        ) from error
    except OSError as error:
        raise NotPossibleError(
            f"Cannot access the store {path}: {error.strerror}.", _OTHER_FILE_REMEDY
        ) from error


def _read_only(path: Path) -> bool:
    """Return whether a path is on a read-only file system, even for root."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _allowed(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=True)
