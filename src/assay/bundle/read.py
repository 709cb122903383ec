"""Reading a bundle that anybody may have written.

Nothing is unpacked to the disk and no name in the archive is ever used as a path. What is read is
bounded: a line at a time, and no more bytes than a bundle may have, whatever the archive says.
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from assay.bundle.chain import sealed_line
from assay.bundle.layout import (
    FILE_NAME,
    FORMAT,
    MANIFEST,
    MAX_BYTES,
    MAX_ENTRY_BYTES,
    MAX_FILES,
    SCHEMA,
    Manifest,
)
from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.records import decode, encode
from assay.records.codec import parse_json

T = TypeVar("T")

_LOCAL_FILE = b"PK\x03\x04"
_PIECE = 1 << 12
"""Bytes unpacked at a time: of what cannot be unpacked, the place is known so well."""
_WRITTEN = "Name a bundle: `assay study export STUDY --bundle FILE.zip` writes one."
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What msgspec raises on JSON that is none, is not UTF-8, or is nested too deeply."""

_HOLDS_BYTES = re.compile(rb'\{"chain":"([0-9a-f]{64})","entry":(.*\\udc.*)\}')

_AGAIN = "Get it again from whoever made it, best with a signature: this one shows nothing."


class BrokenBundleError(AssayError):
    """Something in a bundle is not as it was written.

    Args:
        file: of the bundle.
        entry: counted from 1; ``None`` for the whole file.
        what: ends a sentence that begins with the place.
    """

    def __init__(self, file: str, entry: int | None, what: str) -> None:
        where = file if entry is None else f"{file}, entry {entry}"
        super().__init__(f"{where}: {what}.", _AGAIN)
        self.file = file
        self.entry = entry
        self.what = what


class Line(msgspec.Struct, frozen=True):
    """A line of a file: an entry as it stands there, and its chain value."""

    chain: str
    entry: msgspec.Raw


@dataclass(frozen=True)
class Seal:
    """The manifest, its bytes and its chain value."""

    manifest: Manifest
    content: bytes
    chain: str


class Archive:
    """An open bundle.

    Args:
        archive: the ZIP archive.
        path: of it, for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        self._left = MAX_BYTES
        self._members = {about.filename: about for about in archive.infolist()}

    @property
    def names(self) -> set[str]:
        """Of all files in it."""
        return set(self._members)

    def seal(self) -> Seal:
        """The manifest.

        Raises:
            InvalidInputError: there is none: some other archive.
            NotPossibleError: of a later format; names what reads it.
            Broken: it is damaged.
        """
        if MANIFEST not in self._members:
            raise InvalidInputError(
                f"{self._path} is no bundle of assay: it holds no {MANIFEST}.",
                _WRITTEN,
            )
        content = self.content(MANIFEST).removesuffix(b"\n")
        line = _line(content, MANIFEST, None)
        self._demand_known(bytes(line.entry))
        manifest = document_in(bytes(line.entry), Manifest, MANIFEST, None)
        return Seal(manifest, bytes(line.entry), line.chain)

    def _demand_known(self, content: bytes) -> None:
        class Head(msgspec.Struct):
            format: str = ""
            schema: int = 0
            versions: dict[str, str] = {}

        try:
            head = msgspec.json.decode(content, type=Head)
        except _UNREADABLE as error:
            raise BrokenBundleError(MANIFEST, None, f"cannot be read: {error}") from error
        if head.format != FORMAT:
            raise InvalidInputError(
                f"{self._path} is no bundle of assay: its {MANIFEST} is of another program.",
                _WRITTEN,
            )
        if head.schema != SCHEMA:
            raise NotPossibleError(
                f"{self._path} is a bundle of format {head.schema}; this assay reads format "
                f"{SCHEMA}.",
                f"assay {head.versions.get('assay', 'of a later version')} wrote it and reads it.",
            )

    def demand_names(self, manifest: Manifest) -> None:
        """Hold the files of the archive against those of the manifest.

        Raises:
            Broken: one is missing, there twice, or one too many.
        """
        twice = [name for name, n in Counter(self._archive.namelist()).items() if n > 1]
        if twice:
            raise BrokenBundleError(_named(twice[0]), None, "is there twice")
        listed = [note.name for note in manifest.files]
        for name in listed:
            if not FILE_NAME.fullmatch(name):
                raise BrokenBundleError(_named(name), None, "is no file that a bundle has")
            if name not in self._members:
                raise BrokenBundleError(name, None, "is missing")
        if len(set(listed)) < len(listed):
            raise BrokenBundleError(MANIFEST, None, "names a file twice")
        for name in self._members:
            if name not in (*listed, MANIFEST):
                raise BrokenBundleError(_named(name), None, "is not in the manifest")

    def content(self, name: str) -> bytes:
        """A file that is one entry, whole.

        Raises:
            Broken: damaged, or too large.
        """
        pieces = []
        size = 0
        with self._opened(name) as file:
            while piece := self._read(file, name, None):
                size += len(piece)
                if size > MAX_ENTRY_BYTES:
                    raise BrokenBundleError(name, None, "is larger than an entry may be")
                pieces.append(piece)
        return b"".join(pieces)

    def lines(self, name: str) -> Iterator[Line]:
        """The entries of a file, one at a time.

        Raises:
            Broken: damaged, or no such lines; names the entry.
        """
        begun: list[bytes] = []
        size = count = 0
        with self._opened(name) as file:
            while piece := self._read(file, name, count + 1):
                *whole, rest = piece.split(b"\n")
                if whole:
                    whole[0] = b"".join((*begun, whole[0]))
                    begun, size = [], 0
                for text in whole:
                    count += 1
                    yield _line(text, name, count)
                begun.append(rest)
                size += len(rest)
                if size > MAX_ENTRY_BYTES:
                    raise BrokenBundleError(name, count + 1, "is larger than an entry may be")
        if size:
            raise BrokenBundleError(name, count + 1, "is cut off")

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        try:
            with self._archive.open(self._members[name]) as file:
                yield file  # type: ignore[misc]  # typeshed has IO[bytes]
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            # No archive of ours is encrypted or packed in other ways than deflate.
            raise BrokenBundleError(_named(name), None, f"is damaged: {error}") from error

    def _read(self, file: BinaryIO, name: str, entry: int | None) -> bytes:
        try:
            piece = file.read(_PIECE)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise BrokenBundleError(
                name, entry, f"is damaged here or behind it: {error}"
            ) from error
        self._left -= len(piece)
        if self._left < 0:
            raise BrokenBundleError(
                name, entry, f"goes beyond the {MAX_BYTES >> 30} GiB of a bundle"
            )
        return piece


@contextlib.contextmanager
def open_bundle(path: Path) -> Iterator[Archive]:
    """A bundle, to be read.

    Raises:
        InvalidInputError: no such file, or no bundle.
        NotPossibleError: it may not be read.
    """
    try:
        file = path.open("rb")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInputError(f"There is no file {path}.", _WRITTEN) from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{path} is a folder.", _WRITTEN) from error
    except OSError as error:
        raise NotPossibleError(
            f"{path} cannot be read: {error.strerror}.", "`ls -l` tells who may."
        ) from error
    with file:
        if not file.seekable():
            raise InvalidInputError(f"{path} is no file that can be read twice.", "Save it first.")
        yield Archive(_archive(file, path), path)


def _archive(file: io.BufferedReader, path: Path) -> zipfile.ZipFile:
    begins_as_zip = file.read(len(_LOCAL_FILE)) == _LOCAL_FILE
    try:
        archive = zipfile.ZipFile(file)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        ValueError,
        OverflowError,
        struct.error,
        OSError,
    ) as error:
        if begins_as_zip:
            raise InvalidInputError(
                f"{path} is a damaged ZIP archive, or the beginning of one ({error}).",
                "Fetch it again, and compare its size with the original's.",
            ) from error
        raise InvalidInputError(
            f"{path} is no bundle of assay: it is no ZIP archive.",
            _WRITTEN,
        ) from error
    if len(archive.infolist()) > MAX_FILES:
        raise InvalidInputError(
            f"{path} holds more files than a bundle may.", "Look where it comes from."
        )
    return archive


def _line(text: bytes, name: str, entry: int | None) -> Line:
    try:
        line = _with_bytes(text) or msgspec.json.decode(text, type=Line)
    except _UNREADABLE as error:
        raise BrokenBundleError(
            name, entry, f"is no entry with its chain value: {error}"
        ) from error
    if sealed_line(line.chain, bytes(line.entry)) != text + b"\n":
        raise BrokenBundleError(name, entry, "holds more than an entry and its chain value")
    return line


def _with_bytes(text: bytes) -> Line | None:
    """A line whose entry holds bytes that are not UTF-8, for which msgspec has no text."""
    found = _HOLDS_BYTES.fullmatch(text)
    return Line(found[1].decode(), msgspec.Raw(found[2])) if found else None


def document_in(content: bytes, kind: type[T], name: str, entry: int | None) -> T:
    """The document that an entry of a file holds.

    Raises:
        Broken: it is none, or is not spelled as assay spells it.
    """
    try:
        found = decode(content, kind)
    except (InvalidInputError, *_UNREADABLE) as error:
        raise BrokenBundleError(name, entry, f"cannot be read: {_reason_of(error)}") from error
    if not _spelled_once(content):
        raise BrokenBundleError(name, entry, "is not spelled as assay spells documents")
    return found


def _spelled_once(content: bytes) -> bool:
    """Whether a document is spelled as assay spells it, and so says each thing once.

    A key that is there twice would show one thing to a reader and another to a program.
    """
    try:
        return encode(parse_json(content)) == content
    except _UNREADABLE:
        return False


def _named(name: str) -> str:
    """A name from an archive, short enough to show."""
    return name if len(name) <= 80 else name[:79] + "…"


def _reason_of(error: Exception) -> str:
    """What was wrong, as the end of a sentence."""
    return error.cause.rstrip(".") if isinstance(error, AssayError) else str(error)
