"""Check that only root can write the files of assay that root loads."""

from __future__ import annotations

import contextlib
import grp
import itertools
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.root_helper.caller import Caller

_MAX_LINKS = 256
"""Largest number of followed links: a cycle would not end; the kernel follows 40."""


def first_exposed_path(launcher: Path, caller: Caller) -> Path | None:
    """Return the first path of the root helper that other users can write.

    The check covers the interpreter and its library, assay and its dependencies, the launcher, and
    all parent folders. A user who can write one of them gains root rights when root starts assay.

    Args:
        launcher: path of the executable.
        caller: user whose groups count, in addition to groups with members.
    """
    trees = [str(Path(__file__).parents[1]), str(Path(msgspec.__file__).parent)]
    places = [*trees, sys.executable, os.__file__, str(launcher)]
    below = [found for tree in trees for found in _below(tree)]
    links = [at for at, state in below if stat.S_ISLNK(state.st_mode)]
    chains = ((path, *path.parents) for text in (*places, *links) for path in _ways(text))
    above = dict.fromkeys(str(at) for chain in chains for at in chain if ".." not in at.parts)
    everything = itertools.chain(((part, _state(part)) for part in above), below)
    return next(
        (Path(at) for at, state in everything if _is_writable_by_others(state, caller)), None
    )


def _ways(place: str) -> Iterator[Path]:
    """Yield a path, and its form after each link: each link may be redirected."""
    path = Path(place).absolute()
    for _ in range(_MAX_LINKS):
        yield path
        further = _further(path)
        if further == path:
            return
        path = further


def _further(path: Path) -> Path:
    """Return the path with its first link followed, or its first ``..`` resolved."""
    for part in (*reversed(path.parents), path):
        rest = path.relative_to(part)
        if part.name == "..":  # all links before it are resolved
            return part.parent.parent / rest
        if part.is_symlink():
            return part.parent / part.readlink() / rest
    return path


def first_unreadable_path() -> Path | None:
    """Return the first path of this installation that this process may not read."""
    places = (Path(__file__).parents[1], Path(msgspec.__file__).parent, Path(os.__file__).parent)
    return next((place for place in places if not os.access(place, os.R_OK | os.X_OK)), None)


def _below(tree: str) -> Iterator[tuple[str, os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(tree) as entries:
        for entry in entries:
            yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path)


def _state(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None  # a missing file is not loaded


def _is_writable_by_others(found: os.stat_result | None, caller: Caller) -> bool:
    if found is None:
        return False
    if found.st_uid != 0:
        return True
    mode = found.st_mode
    if stat.S_ISLNK(mode) or (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
        return (
            False  # links have no permissions; in a sticky folder users may only remove their files
        )
    shared = bool(mode & stat.S_IWGRP) and _has_members(found.st_gid, caller)
    return shared or bool(mode & stat.S_IWOTH)


def _has_members(gid: int, caller: Caller) -> bool:
    """Return whether a group has members: Debian's ``staff`` owns ``/usr/local`` without any."""
    if gid == 0:
        return False
    try:
        return gid in caller.groups or bool(grp.getgrgid(gid).gr_mem)
    except KeyError:
        return True
