"""Archive: a recorded machine, unpacked so that nothing of it can lie or point outside.

Read are archives of ``assay machine snapshot``, those of ``hwloc-gather-topology``, and folders.
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

_MOST_MEMBERS = 500_000
_MOST_BYTES = 512 * 2**20
_LARGEST_BYTES = 64 * 2**20
_BLOCK = re.compile(r"/node\d+/memory\d+(?:/|$)", re.ASCII)
"""Blocks of a node's memory: a large machine has thousands, and nobody asks for them."""


@contextmanager
def open_snapshot(path: Path) -> Iterator[Root]:
    """The machine that a folder or an archive holds; what was unpacked goes with the context.

    Raises:
        InvalidInputError: it is neither, holds no machine, or is larger than any recorded machine.
        NotPossibleError: it cannot be read, or there is no room to unpack it.
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
                f"There is no file or folder {path}.", "Name a snapshot."
            ) from error
        except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise InvalidInputError(
                f"{path} is no archive of a machine, or is damaged.",
                "`assay machine snapshot -o FILE.tar.gz` makes one.",
            ) from error
        except OSError as error:
            if error.errno is None:  # gzip and bz2 say so of what is damaged
                raise InvalidInputError(
                    f"{path} is damaged: {error}.", "Record it again."
                ) from error
            raise NotPossibleError(
                f"{path} cannot be unpacked: {error.strerror or error}.",
                "TMPDIR names another place for what is unpacked.",
            ) from error
        yield Root(_within(folder, path))


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that is not there yet, and goes with the context.

    Its name is known before it is made: an interruption in between leaves nothing, as one within
    ``tempfile.TemporaryDirectory`` does.
    """
    folder = Path(tempfile.gettempdir(), f"assay-machine-{secrets.token_hex(8)}")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Files, folders and links of an archive below an empty folder.

    Links are made when all files are written, so that none is written through one; of links those
    are kept that stay within. Everything else (devices, pipes, hard links) is left out.

    Raises:
        InvalidInputError: more than any recorded machine has.
    """
    links: list[tuple[Path, str]] = []
    folders = {folder}
    total = 0
    for number, member in enumerate(archive):
        if number >= _MOST_MEMBERS:
            raise InvalidInputError(
                f"It has more than {_MOST_MEMBERS:,} members.", "Record it again."
            )
        parts = _parts(member.name)
        place = folder.joinpath(*parts)
        if not parts or _BLOCK.search(member.name):
            continue
        if member.issym():
            links.append((place, member.linkname))
        elif member.isdir():
            _make(place, folders)
        elif member.isfile() and place not in folders:
            total += member.size
            if member.size > _LARGEST_BYTES or total > _MOST_BYTES:
                raise InvalidInputError(
                    "It is larger than any recorded machine.", "Record it again."
                )
            content = archive.extractfile(member)
            _make(place.parent, folders)
            place.write_bytes(content.read() if content else b"")
    top = _within(folder, Path(os.fsdecode(archive.name or "it")))
    made = [place for place, target in links if _link(top, place, target, folders)]
    within = f"{os.path.realpath(folder)}/"
    for place in made:
        if not f"{os.path.realpath(place)}/".startswith(within):
            place.unlink()


def _make(place: Path, made: set[Path]) -> None:
    """A folder with all above it; ``made`` are those that are there, which asks the disk once."""
    if place not in made:
        place.mkdir(parents=True, exist_ok=True)
        made.add(place)
        made.update(place.parents)


def _parts(name: str) -> tuple[str, ...]:
    """A name's parts; none of one that would leave the folder."""
    parts = PurePosixPath(name).parts
    return () if ".." in parts or "\0" in name else tuple(part for part in parts if part != "/")


def _link(top: Path, place: Path, target: str, folders: set[Path]) -> bool:
    """Make a link; an absolute target, which means the machine's root, is written relative."""
    if os.path.lexists(place):
        return False
    try:
        _make(place.parent, folders)
        if target.startswith("/"):
            target = os.path.relpath(top.joinpath(*_parts(target)), place.parent)
        place.symlink_to(target)
    except (OSError, ValueError):
        return False
    return True


def _within(folder: Path, named: Path) -> Path:
    """The folder that stands for the machine's root: this one, or the one within that has it.

    Args:
        folder: that is looked through.
        named: what the user named.

    Raises:
        InvalidInputError: there is none.
    """
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir())]
    found = [place for place in places if (place / "sys").is_dir() or (place / "proc").is_dir()]
    if not found or (found[0] != folder and len(found) > 1):
        raise InvalidInputError(
            f"There is neither proc nor sys in {named}: no machine is recorded there.",
            "`assay machine snapshot -o FILE.tar.gz` records this one.",
        )
    return found[0]
