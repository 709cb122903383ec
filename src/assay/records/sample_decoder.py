"""Decoder of many samples, whose equal parts share memory."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from assay.records.codec import decode, holds_bytes
from assay.records.launch import Launch
from assay.records.sample import Evidence, Sample
from assay.records.sample_parts import (
    ENCODED_IN_LAUNCH,
    ENCODED_IN_SAMPLE,
    part_decoders,
    partial_decoder,
)

MAX_SHARED_PARTS = 16_384
"""Maximum number of remembered parts of each field; the decoder then forgets them and begins anew.
In a sweep, 10,000 configurations recur in each block."""
MAX_SHARED_PIECES = 4096
"""The same for pieces of evidence, whose measured values rarely recur."""

_OFTEN_EMPTY = ("upper_bounds", "series", "steady")
"""Mappings of a sample that few samples fill; an empty one takes 64 bytes."""
_RECURRING = ("user_s", "sys_s", "peak_bytes", "peak_anon_bytes")
"""Numbers of a sample that recur, since the kernel rounds them; one takes 32 bytes."""


class SampleDecoder:
    """Decoder that returns equal parts of samples as the same object.

    ``decode`` creates each string, grant and piece of evidence anew, which takes 6 kB for a sample.
    With shared parts a sample takes less than 2 kB. Parts are shared, so they must not be changed.
    """

    def __init__(self) -> None:
        names = (*part_decoders(), *_RECURRING, "timeout_s")
        self._known: dict[str, dict[Any, Any]] = {name: {} for name in names}
        self._empty: dict[str, Any] = {}

    def decode(self, document: bytes | str) -> Sample:
        """Return the sample of a JSON document, equal to that of ``decode``.

        Raises:
            InvalidInputError: not JSON, or not a sample; names the key.
        """
        if not holds_bytes(document):
            try:
                return self._sample(partial_decoder().decode(document))
            except (msgspec.MsgspecError, ValueError):
                pass  # decode() names the key within the whole document
        return decode(document, Sample)

    def _sample(self, partial: Any) -> Sample:
        fields = msgspec.structs.asdict(partial)
        fields["launch"] = self._launch(partial.launch)
        # The pieces of evidence are most parts of a sample: known ones take no call.
        known = self._known["evidence"]
        documents = map(bytes, partial.evidence)
        fields["evidence"] = tuple(
            [known.get(document) or self._shared("evidence", document) for document in documents]
        )
        fields["node"] = sys.intern(partial.node)
        fields["launcher_version"] = sys.intern(partial.launcher_version)
        for name in _OFTEN_EMPTY:
            fields[name] = fields[name] or self._empty
        for name in _RECURRING:
            fields[name] = self._number(name, fields[name])
        if partial.metrics.get("wall_s") == partial.wall_s:
            fields["wall_s"] = partial.metrics.get("wall_s")
        self._share(fields, ENCODED_IN_SAMPLE)
        return Sample(**fields)

    def _launch(self, partial: Any) -> Launch:
        fields = msgspec.structs.asdict(partial)
        fields["arm"] = sys.intern(partial.arm)
        fields["timeout_s"] = self._number("timeout_s", partial.timeout_s)
        self._share(fields, ENCODED_IN_LAUNCH)
        return Launch(**fields)

    def _number(self, name: str, value: float | None) -> float | None:
        """Return an equal number of a field, which other samples share."""
        known = self._known[name]
        if len(known) >= MAX_SHARED_PARTS:
            known.clear()
        found: float | None = known.setdefault(value, value)
        return found

    def _share(self, fields: dict[str, Any], names: tuple[str, ...]) -> None:
        """Replace the undecoded parts of a record; absent ones receive their default."""
        for name in names:
            if document := bytes(fields[name]):
                fields[name] = self._shared(name, document)
            else:
                del fields[name]

    def _shared(self, name: str, document: bytes) -> Any:
        known = self._known[name]
        if document in known:
            return known[document]
        if len(known) >= (MAX_SHARED_PIECES if name == "evidence" else MAX_SHARED_PARTS):
            known.clear()
        part = part_decoders()[name].decode(document)
        if isinstance(part, Evidence):
            part = msgspec.structs.replace(
                part, kind=sys.intern(part.kind), unit=sys.intern(part.unit)
            )
        known[document] = part
        return part


def decode_once(document: bytes | str) -> Sample:
    """Return the sample of a document, in half the time of ``SampleDecoder``, without shared parts.

    Raises:
        InvalidInputError: see ``SampleDecoder.decode``.
    """
    return decode(document, Sample)
