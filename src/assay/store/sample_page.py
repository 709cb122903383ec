"""Pages of stored samples, in the packed form of the store."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.errors import InvalidInputError
from assay.records import Sample
from assay.store.packing import Unpacker
from assay.store.unreadable import reading_packed, unreadable_error

_NO_REFERENCE = -1


class PackedRow(NamedTuple):
    """Content of a row with a packed document; see ``Unpacker.unpack``."""

    content: bytes
    dictionary: int | None


class SamplePage:
    """Packed documents of successive samples of a stratum, which are unpacked when they are read.

    A sample of a short program takes 150 bytes.

    Args:
        study_id: id of the study.
        rows: contents of the rows of the samples.
        unpacker: unpacker of the stratum.
        following: number of samples of the stratum after the page.
    """

    def __init__(
        self, study_id: str, rows: Sequence[PackedRow], unpacker: Unpacker, following: int
    ) -> None:
        self.following = following
        self._study_id = study_id
        self._contents = b"".join([row.content for row in rows])
        self._sizes = array("I", [len(row.content) for row in rows])
        self._numbers = array(
            "i", [_NO_REFERENCE if row.dictionary is None else row.dictionary for row in rows]
        )
        self._unpacker = unpacker

    def __len__(self) -> int:
        return len(self._sizes)

    def documents(self) -> list[bytes]:
        """Return the documents of the samples.

        Raises:
            NotPossibleError: a document is damaged.
        """
        contents, unpack, found, begin = self._contents, self._unpacker.unpack, list[bytes](), 0
        with reading_packed(self._study_id):
            for size, number in zip(self._sizes, self._numbers, strict=True):
                content = contents[begin : begin + size]
                found.append(unpack(content, None if number == _NO_REFERENCE else number))
                begin += size
        return found

    def samples(self, decode: Callable[[bytes], Sample]) -> list[Sample]:
        """Return the samples.

        Args:
            decode: decoder of a document, such as ``SampleDecoder.decode``.

        Raises:
            NotPossibleError: a document is damaged or not a sample.
        """
        try:
            return list(map(decode, self.documents()))
        except InvalidInputError as error:
            raise unreadable_error(self._study_id, error.cause) from error
