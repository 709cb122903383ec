"""Opening a store."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError
from assay.store.base import Store
from assay.store.filesystem import refuse_network
from assay.store.location import database_path, default_url, state_path

_MOUNTINFO = Path("/proc/self/mountinfo")
_ELSEWHERE = "Name another file with --db PATH, or set ASSAY_DB."


def open_store(
    url_or_path: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    env: Mapping[str, str] = os.environ,
    busy_timeout_s: float = 5.0,
    patience_s: float = 60.0,
    mountinfo: Path = _MOUNTINFO,
) -> Store:
    """Open the store that a path or URL names.

    Only the user's state folder is made where it is missing; any other must exist.

    Args:
        url_or_path: ``default_url(env)`` where absent.
        create: whether to make a store where there is none.
        env: the environment.
        busy_timeout_s: how long a call waits while another process writes.
        patience_s: how long ``add_sample`` does: its sample took a launch to make, and a copy or a
            clean-up of the database by others takes a while.
        mountinfo: the table of mounts, in the kernel's form.

    Raises:
        InvalidInputError: no store by that name, or not a file.
        NotPossibleError: not allowed, on a network file system, locked, damaged, of a newer schema,
            or no space left.
    """
    path = database_path(default_url(env) if url_or_path is None else url_or_path)
    refuse_network(path, _read(mountinfo))
    if create and _is_usual(path, env):
        _make_folder(path.parent)
    _check_place(path, create)

    from assay.store.sqlite import open_sqlite

    return open_sqlite(path, busy_timeout_s, patience_s)


def _is_usual(path: Path, env: Mapping[str, str]) -> bool:
    """Return whether a store is the one in the user's state folder; a user may have none."""
    try:
        return path == database_path(state_path(env))
    except NotPossibleError:
        return False


def _read(mountinfo: Path) -> str:
    try:
        return os.fsdecode(mountinfo.read_bytes())
    except OSError:
        return ""  # without /proc no mount is known, and the store is taken as local


def _make_folder(folder: Path) -> None:
    try:
        # 0700 as the XDG Base Directory Specification asks of folders made for it.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotPossibleError(
            f"The folder {folder} for the store cannot be made: {error.strerror}.", _ELSEWHERE
        ) from error


def _check_place(path: Path, create: bool) -> None:
    kind = _kind_of(path)
    if kind is None:
        if _kind_of(path.parent) is None:
            raise InvalidInputError(
                f"The store {path} lies in a folder that does not exist.",
                f"Make it with `mkdir -p {path.parent}`, or name another file with --db.",
            )
        if not create:
            raise InvalidInputError(f"There is no store {path}.", "--db or ASSAY_DB names another.")
    elif not stat.S_ISREG(kind):
        what = "a folder" if stat.S_ISDIR(kind) else "not a regular file"
        raise InvalidInputError(f"The store {path} is {what}.", _ELSEWHERE)
    elif _read_only(path):
        raise NotPossibleError(
            f"The store {path} lies on a file system that is mounted read-only.",
            f"Remount it for writing, or copy the store and what belongs to it (`cp {path}* DIR`) "
            "and name the copy with --db: reading it keeps a journal beside it.",
        )
    elif not _allowed(path, os.R_OK | os.W_OK):
        raise NotPossibleError(f"The store {path} may not be read and written by you.", _ELSEWHERE)
    if _read_only(path.parent):
        raise NotPossibleError(
            f"The folder {path.parent} lies on a file system that is mounted read-only.", _ELSEWHERE
        )
    if not _allowed(path.parent, os.W_OK | os.X_OK):
        raise NotPossibleError(
            f"The store {path} lies in a folder that you cannot write, where its journal must be.",
            _ELSEWHERE,
        )


def _kind_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise InvalidInputError(f"The store {path} lies below a file.", _ELSEWHERE) from error
    except OSError as error:
        raise NotPossibleError(
            f"The store {path} cannot be reached: {error.strerror}.", _ELSEWHERE
        ) from error


def _read_only(path: Path) -> bool:
    """Whether nobody may write there, root included."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _allowed(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=True)
