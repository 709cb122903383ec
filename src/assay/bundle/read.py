"""Reading of untrusted bundles.

Nothing is unpacked to disk, and names in the archive are never used as paths. Reading is bounded by
line length and total size.
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
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
    Manifest,
)
from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.records import decode, encode
from assay.records.codec import SCHEMA, holds_bytes, parse_json
from assay.units import show_bytes

T = TypeVar("T")

_LOCAL_FILE = b"PK\x03\x04"
_PIECE = 1 << 12
"""Bytes unpacked at a time: also the precision of the position of damaged data."""
_MAX_DIRECTORY_BYTES = 4 << 20
"""Maximum size of the directory of an archive: that of 10,000 files takes 1 MB."""
_SPECIFY_BUNDLE = "Specify a bundle; `assay study export STUDY --bundle FILE.zip` writes one."
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Errors of msgspec for invalid JSON, invalid UTF-8 and deep nesting."""

_LINE_WITH_BYTES = re.compile(rb'\{"chain":"([0-9a-f]{64})","entry":(.*\\udc.*)\}')

_OBTAIN_AGAIN = (
    "Obtain it from its author again, preferably with a signature: this file proves nothing."
)


class BrokenBundleError(AssayError):
    """A bundle is damaged or was modified.

    Args:
        file: file of the bundle.
        entry: number of the entry from 1; ``None`` for the whole file.
        description: predicate of the sentence in the error message.
    """

    def __init__(self, file: str, entry: int | None, description: str) -> None:
        location = file if entry is None else f"{file}, entry {entry}"
        super().__init__(f"{location}: {description}.", _OBTAIN_AGAIN)
        self.file = file
        self.entry = entry
        self.description = description


class Line(msgspec.Struct, frozen=True):
    """Line of a file: an entry in its original spelling, and its chain value."""

    chain: str
    entry: msgspec.Raw


@dataclass(frozen=True)
class Seal:
    """Manifest with its bytes and its chain value."""

    manifest: Manifest
    content: bytes
    chain: str


class Archive:
    """Open bundle.

    Args:
        archive: ZIP archive.
        path: path of the archive, for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        self._members = {about.filename: about for about in archive.infolist()}

    @property
    def names(self) -> set[str]:
        """Return the names of all files."""
        return set(self._members)

    def seal(self) -> Seal:
        """Read the manifest.

        Raises:
            InvalidInputError: an archive without a manifest.
            NotPossibleError: a later format; names the version that reads it.
            BrokenBundleError: the manifest is damaged.
        """
        if MANIFEST not in self._members:
            raise InvalidInputError(
                f"{self._path} is not a bundle of assay: it contains no {MANIFEST}.",
                _SPECIFY_BUNDLE,
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
                f"{self._path} is not a bundle of assay: another program wrote its {MANIFEST}.",
                _SPECIFY_BUNDLE,
            )
        if head.schema != SCHEMA:
            raise NotPossibleError(
                f"{self._path} is a bundle of format {head.schema}; this assay supports format "
                f"{SCHEMA}.",
                f"Use assay {head.versions.get('assay', 'of a later version')}, which wrote it.",
            )

    def demand_names(self, manifest: Manifest) -> None:
        """Compare the files of the archive with the manifest.

        Raises:
            BrokenBundleError: a missing, duplicate or additional file.
        """
        twice = [name for name, n in Counter(self._archive.namelist()).items() if n > 1]
        if twice:
            raise BrokenBundleError(_shortened(twice[0]), None, "occurs twice")
        listed = [note.name for note in manifest.files]
        for name in listed:
            if not FILE_NAME.fullmatch(name):
                raise BrokenBundleError(_shortened(name), None, "is not a file of bundles")
            if name not in self._members:
                raise BrokenBundleError(name, None, "is missing")
        if len(set(listed)) < len(listed):
            raise BrokenBundleError(MANIFEST, None, "contains a file twice")
        for name in self._members:
            if name not in (*listed, MANIFEST):
                raise BrokenBundleError(_shortened(name), None, "is not in the manifest")

    def content(self, name: str) -> bytes:
        """Read a file that is a single entry.

        Raises:
            BrokenBundleError: damaged or too large.
        """
        pieces = []
        size = 0
        with self._opened(name) as file:
            while piece := self._read(file, name, None):
                size += len(piece)
                if size > MAX_ENTRY_BYTES:
                    raise BrokenBundleError(name, None, "exceeds the maximum size of an entry")
                pieces.append(piece)
        return b"".join(pieces)

    def lines(self, name: str) -> Iterator[Line]:
        """Yield the entries of a file.

        Raises:
            BrokenBundleError: damaged or invalid lines; names the entry.
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
                    raise BrokenBundleError(name, count + 1, "exceeds the maximum size of an entry")
        if size:
            raise BrokenBundleError(name, count + 1, "is truncated")

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        try:
            with self._archive.open(self._members[name]) as file:
                yield file  # type: ignore[misc]  # typeshed has IO[bytes]
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            # Bundles are neither encrypted nor compressed by other methods than deflate.
            raise BrokenBundleError(_shortened(name), None, f"is damaged: {error}") from error

    def _read(self, file: BinaryIO, name: str, entry: int | None) -> bytes:
        try:
            piece = file.read(_PIECE)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise BrokenBundleError(
                name, entry, f"is damaged at or after this position: {error}"
            ) from error
        if not piece and file.tell() != self._members[name].file_size:
            raise BrokenBundleError(name, entry, "has another size than the archive states")
        return piece


class _BoundedReader(io.BufferedReader):
    """File whose reads are bounded: ``zipfile`` reads a directory of any stated size at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as any file does.

        Raises:
            zipfile.BadZipFile: more than a directory may have.
        """
        if size is not None and size > _MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("its directory is too large")
        return super().read(size)


@contextlib.contextmanager
def open_bundle(path: Path) -> Iterator[Archive]:
    """Open a bundle for reading.

    Raises:
        InvalidInputError: a missing file, or not a bundle.
        NotPossibleError: missing permission.
    """
    try:
        file = _BoundedReader(path.open("rb", buffering=0))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInputError(f"The file {path} does not exist.", _SPECIFY_BUNDLE) from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{path} is a directory.", _SPECIFY_BUNDLE) from error
    except OSError as error:
        raise NotPossibleError(
            f"{path} cannot be read: {error.strerror}.", "Check its permissions with `ls -l`."
        ) from error
    with file:
        if not file.seekable():
            raise InvalidInputError(f"{path} is not seekable.", "Save it to a file first.")
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
                f"{path} is a damaged or truncated ZIP archive ({error}).",
                "Fetch it again, and compare its size with the original.",
            ) from error
        raise InvalidInputError(
            f"{path} is not a bundle of assay: it is not a ZIP archive.",
            _SPECIFY_BUNDLE,
        ) from error
    members = archive.infolist()
    # ``zipfile`` reads no more of a file than the archive states.
    stated_bytes = sum(member.file_size for member in members)
    if stated_bytes > MAX_BYTES:
        raise InvalidInputError(
            f"{path} states files of {show_bytes(stated_bytes)} unpacked; the maximum of a bundle "
            f"is {show_bytes(MAX_BYTES)}.",
            "Check its origin.",
        )
    if len(members) > MAX_FILES:
        raise InvalidInputError(
            f"{path} contains more than {MAX_FILES:,} files, the maximum of a bundle.",
            "Check its origin.",
        )
    return archive


def _line(text: bytes, name: str, entry: int | None) -> Line:
    try:
        line = _with_bytes(text) or msgspec.json.decode(text, type=Line)
    except _UNREADABLE as error:
        raise BrokenBundleError(
            name, entry, f"is not an entry with chain value: {error}"
        ) from error
    if sealed_line(line.chain, bytes(line.entry)) != text + b"\n":
        raise BrokenBundleError(name, entry, "contains more than an entry and its chain value")
    return line


def _with_bytes(text: bytes) -> Line | None:
    """Parse a line with bytes that are not UTF-8, which msgspec rejects."""
    found = _LINE_WITH_BYTES.fullmatch(text) if holds_bytes(text) else None
    return Line(found[1].decode(), msgspec.Raw(found[2])) if found else None


def document_in(
    content: bytes,
    kind: type[T],
    name: str,
    entry: int | None,
    decoded: Callable[[bytes], T] | None = None,
) -> T:
    """Decode the document of an entry.

    Args:
        content: bytes of the entry.
        kind: type of the document.
        name, entry: file, and number of the entry in it, for messages.
        decoded: decoder, such as that of many samples; ``None`` for the usual one.

    Raises:
        BrokenBundleError: invalid document, or not in canonical form.
    """
    try:
        found = decode(content, kind) if decoded is None else decoded(content)
    except (InvalidInputError, *_UNREADABLE) as error:
        raise BrokenBundleError(name, entry, f"cannot be read: {_reason_of(error)}") from error
    if not _is_canonical(content):
        raise BrokenBundleError(name, entry, "is not in the canonical form of assay")
    return found


def _is_canonical(content: bytes) -> bool:
    """Return whether a document is in canonical form, and so has no duplicate keys.

    A duplicate key could show one value to a reader and another to a program.
    """
    try:
        return encode(parse_json(content)) == content
    except _UNREADABLE:
        return False


def _shortened(name: str) -> str:
    """Return a name from an archive, shortened for messages."""
    return name if len(name) <= 80 else name[:79] + "…"


def _reason_of(error: Exception) -> str:
    """Return the cause of an error as the end of a sentence."""
    return error.cause.rstrip(".") if isinstance(error, AssayError) else str(error)
