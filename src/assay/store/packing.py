"""Packing of documents: raw deflate with reference documents of the same stratum as dictionary.

The samples of a stratum differ in a few numbers. With an earlier sample as the preset dictionary of
zlib, a document of 1.8 kB takes about 110 bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

_WINDOW_BITS = 14
_MAX_DICTIONARY = (1 << _WINDOW_BITS) - 512
"""Maximum size of all references of a stratum, in bytes: deflate finds matches in its window of
16 kB, less a margin (RFC 1951, section 2; ``MIN_LOOKAHEAD`` of zlib)."""
_LEVEL, _MEMORY_LEVEL = 3, 5
"""Chosen by CPU time: the state of a compressor is copied for each document."""
_MAX_REFERENCE = 6_000
"""Maximum size of one reference, in bytes; of a longer document its beginning is used."""
_POOR_RATIO = 8
"""Documents that shrink by less than this factor are candidates for references."""
_SMALL_BYTES = 160
"""Packed documents of this size are not worth a reference."""


class Packed(NamedTuple):
    """Packed document.

    Attributes:
        content: packed bytes.
        dictionary: number of the newest reference that the content needs, with all earlier ones;
            ``None`` without references.
        reference: packed new reference with this number, to be stored first; ``None`` if the
            number exists.
    """

    content: bytes
    dictionary: int | None
    reference: bytes | None = None


class Packer:
    """Packs documents of one kind and stratum; chooses references among them.

    Args:
        references: existing references in order of their numbers, unpacked.
    """

    def __init__(self, references: Sequence[bytes] = ()) -> None:
        self._count = 0
        self._dictionary = b""
        self._compressor = _compressor(b"")
        self._since_extension = 0
        self._newest: tuple[bytes, Packed] | None = None
        for reference in references:
            self._extend(reference)

    def pack(self, document: bytes) -> Packed:
        """Return the packed document; a new reference counts as stored."""
        if self._newest is not None and self._newest[0] == document:
            return self._newest[1]  # many programs always write the same output
        packed = self._packed(document)
        self._newest = (document, packed._replace(reference=None))
        return packed

    def _packed(self, document: bytes) -> Packed:
        content = self._deflated(document)
        self._since_extension += 1
        if not self._is_candidate(document, content):
            return Packed(content, self._count - 1 if self._count else None)
        reference = document[:_MAX_REFERENCE]
        packed_reference = self._deflated(reference)
        self._extend(reference)
        return Packed(self._deflated(document), self._count - 1, packed_reference)

    def _is_candidate(self, document: bytes, content: bytes) -> bool:
        """Return whether a document becomes a reference.

        The distance between references doubles: documents that never compress well, such as lines
        of random output, would otherwise all become references.
        """
        size = len(self._dictionary) + min(len(document), _MAX_REFERENCE)
        poor = len(content) > max(len(document) / _POOR_RATIO, _SMALL_BYTES)
        due = self._since_extension >= 1 << max(self._count - 1, 0)
        return size <= _MAX_DICTIONARY and due and (poor or not self._count)

    def _extend(self, reference: bytes) -> None:
        self._dictionary += reference
        self._compressor = _compressor(self._dictionary)
        self._count += 1
        self._since_extension = 0

    def _deflated(self, document: bytes) -> bytes:
        # A copy takes less time than reading the dictionary again.
        compressor = self._compressor.copy()
        return compressor.compress(document) + compressor.flush()


class Unpacker:
    """Unpacks documents of one kind and stratum.

    Args:
        references: packed references in order of their numbers.

    Raises:
        zlib.error: damaged reference.
    """

    def __init__(self, references: Sequence[bytes]) -> None:
        self.packed = tuple(references)
        self.references: list[bytes] = []
        self._dictionaries: list[bytes] = []
        dictionary = b""
        for packed in references:
            reference = inflated(packed, dictionary)
            self.references.append(reference)
            dictionary += reference
            self._dictionaries.append(dictionary)

    def unpack(self, content: bytes, number: int | None) -> bytes:
        """Return a document.

        Args:
            content: packed document.
            number: number of the newest reference that it needs; ``None`` for none.

        Raises:
            zlib.error: damaged content.
            IndexError: missing reference.
        """
        return inflated(content, b"" if number is None else self._dictionaries[number])


def deflated(document: bytes) -> bytes:
    """Return a packed document without references."""
    compressor = _compressor(b"")
    return compressor.compress(document) + compressor.flush()


def inflated(content: bytes, dictionary: bytes = b"") -> bytes:
    """Return the document of packed bytes.

    Raises:
        zlib.error: damaged content, or another dictionary.
    """
    inflater = zlib.decompressobj(-_WINDOW_BITS, zdict=dictionary)
    document = inflater.decompress(content)
    if not inflater.eof:
        raise zlib.error("incomplete packed document")
    return document


def _compressor(dictionary: bytes) -> zlib._Compress:
    # Negative bits: no header and no checksum (zlib manual, deflateInit2).
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, -_WINDOW_BITS, _MEMORY_LEVEL, zdict=dictionary)
