"""Safe unpacking of a recorded machine: nothing is written or linked outside its directory.

Inputs are archives of ``assay machine snapshot`` and of ``hwloc-gather-topology``, and directories.
"""

from __future__ import annotations

import lzma
import os
import re
import secrets
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.root import Root

_MAX_MEMBERS = 500_000
_MAX_TOTAL_BYTES = 512 * 2**20
_MAX_FILE_BYTES = 64 * 2**20
_BLOCK = re.compile(r"/node\d+/memory\d+(?:/|$)", re.ASCII)
"""Blocks of a node's memory: large machines have thousands, and they are not used."""


@contextmanager
def open_snapshot(path: Path) -> Iterator[Root]:
    """Yield the root of a directory or an archive; unpacked files are removed with the context.

    Raises:
        InvalidInputError: it is neither, contains no machine, or is too large.
        NotPossibleError: it cannot be read, or there is no space to unpack it.
    """
    if path.is_dir():
        yield Root(_within(path, path))
        return
    with _scratch() as folder:
        try:
            folder.mkdir(mode=0o700)
            with tarfile.open(path) as archive:
                unpack(archive, folder)
        except FileNotFoundError as error:
            raise InvalidInputError(
                f"The snapshot {path} does not exist.", "Name an existing file or directory."
            ) from error
        except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise InvalidInputError(
                f"{path} is not an archive of a machine, or is damaged.",
                "`assay machine snapshot -o FILE.tar.gz` creates one.",
            ) from error
        except OSError as error:
            if error.errno is None:  # gzip and bz2 report damage this way
                raise InvalidInputError(
                    f"{path} is damaged: {error}.", "Record it again."
                ) from error
            raise NotPossibleError(
                f"Cannot unpack {path}: {error.strerror or error}.",
                "Set TMPDIR to another directory for the unpacked files.",
            ) from error
        yield Root(_within(folder, path))


@contextmanager
def _scratch() -> Iterator[Path]:
    """Yield the name of a temporary directory, which is removed with the context.

    Its name is known before it is created: an interruption in between leaves nothing behind, unlike
    ``tempfile.TemporaryDirectory``.
    """
    folder = Path(tempfile.gettempdir(), f"assay-machine-{secrets.token_hex(8)}")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack files, directories and links of an archive into an empty directory.

    Links are created after all files, so that no file is written through one; only links with a
    target inside are kept. Everything else (devices, pipes, hard links) is left out.

    Raises:
        InvalidInputError: the archive is larger than any recorded machine.
    """
    links: list[tuple[Path, str]] = []
    folders = {folder}
    total = 0
    for number, member in enumerate(archive):
        if number >= _MAX_MEMBERS:
            raise InvalidInputError(
                f"The archive has more than {_MAX_MEMBERS:,} members.", "Record it again."
            )
        parts = _parts(member.name)
        place = folder.joinpath(*parts)
        if not parts or _BLOCK.search(member.name):
            continue
        if member.issym():
            links.append((place, member.linkname))
        elif member.isdir():
            _create_folder(place, folders)
        elif member.isfile() and place not in folders:
            total += member.size
            if member.size > _MAX_FILE_BYTES or total > _MAX_TOTAL_BYTES:
                raise InvalidInputError(
                    "The archive is larger than any recorded machine.", "Record it again."
                )
            content = archive.extractfile(member)
            _create_folder(place.parent, folders)
            place.write_bytes(content.read() if content else b"")
    top = _within(folder, Path(os.fsdecode(archive.name or "it")))
    made = [place for place, target in links if _link(top, place, target, folders)]
    within = f"{os.path.realpath(folder)}/"
    for place in made:
        if not f"{os.path.realpath(place)}/".startswith(within):
            place.unlink()


def _create_folder(place: Path, made: set[Path]) -> None:
    """Create a directory with its parents; ``made`` caches the existing ones."""
    if place not in made:
        place.mkdir(parents=True, exist_ok=True)
        made.add(place)
        made.update(place.parents)


def _parts(name: str) -> tuple[str, ...]:
    """Return a name's parts; an empty tuple for a name outside the directory."""
    parts = PurePosixPath(name).parts
    return () if ".." in parts or "\0" in name else tuple(part for part in parts if part != "/")


def _link(top: Path, place: Path, target: str, folders: set[Path]) -> bool:
    """Create a link; an absolute target, relative to the machine's root, is rewritten."""
    if os.path.lexists(place):
        return False
    try:
        _create_folder(place.parent, folders)
        if target.startswith("/"):
            target = os.path.relpath(top.joinpath(*_parts(target)), place.parent)
        place.symlink_to(target)
    except (OSError, ValueError):
        return False
    return True


def _within(folder: Path, named: Path) -> Path:
    """Return the directory with the machine's root: this one, or its only subdirectory with one.

    Args:
        folder: directory to search.
        named: path that the user named.

    Raises:
        InvalidInputError: there is none.
    """
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir())]
    found = [place for place in places if (place / "sys").is_dir() or (place / "proc").is_dir()]
    if not found or (found[0] != folder and len(found) > 1):
        raise InvalidInputError(
            f"{named} contains no recorded machine: neither proc nor sys exists.",
            "`assay machine snapshot -o FILE.tar.gz` records this machine.",
        )
    return found[0]
