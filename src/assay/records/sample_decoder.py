"""Decoder of many samples, whose equal parts share memory."""

from __future__ import annotations

import functools
import sys
from typing import Any, get_type_hints

import msgspec

from assay.records.codec import decode, decoder_of, holds_bytes
from assay.records.launch import Launch
from assay.records.sample import Evidence, Sample

MAX_SHARED_PARTS = 16_384
"""Maximum number of remembered parts of each field; the decoder then forgets them and begins anew.
In a sweep, 10,000 configurations recur in each block."""
MAX_SHARED_PIECES = 4096
"""The same for pieces of evidence, whose measured values rarely recur."""

_IN_SAMPLE = ("settings", "unavailable", "outputs", "observations", "contradictions")
_IN_LAUNCH = ("configuration", "block_arms", "end")
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
        names = (*_part_decoders(), *_RECURRING, "timeout_s")
        self._known: dict[str, dict[Any, Any]] = {name: {} for name in names}
        self._empty: dict[str, Any] = {}

    def decode(self, document: bytes | str) -> Sample:
        """Return the sample of a JSON document, equal to that of ``decode``.

        Raises:
            InvalidInputError: not JSON, or not a sample; names the key.
        """
        if not holds_bytes(document):
            try:
                return self._sample(_rough_decoder().decode(document))
            except (msgspec.MsgspecError, ValueError):
                pass  # decode() names the key within the whole document
        return decode(document, Sample)

    def _sample(self, rough: Any) -> Sample:
        fields = msgspec.structs.asdict(rough)
        fields["launch"] = self._launch(rough.launch)
        # The pieces of evidence are most parts of a sample: known ones take no call.
        known = self._known["evidence"]
        documents = map(bytes, rough.evidence)
        fields["evidence"] = tuple(
            [known.get(document) or self._shared("evidence", document) for document in documents]
        )
        fields["node"] = sys.intern(rough.node)
        fields["launcher_version"] = sys.intern(rough.launcher_version)
        for name in _OFTEN_EMPTY:
            fields[name] = fields[name] or self._empty
        for name in _RECURRING:
            fields[name] = self._number(name, fields[name])
        if rough.metrics.get("wall_s") == rough.wall_s:
            fields["wall_s"] = rough.metrics.get("wall_s")
        self._share(fields, _IN_SAMPLE)
        return Sample(**fields)

    def _launch(self, rough: Any) -> Launch:
        fields = msgspec.structs.asdict(rough)
        fields["arm"] = sys.intern(rough.arm)
        fields["timeout_s"] = self._number("timeout_s", rough.timeout_s)
        self._share(fields, _IN_LAUNCH)
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
        part = _part_decoders()[name].decode(document)
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
    if not holds_bytes(document):
        try:
            return _whole_decoder().decode(document)
        except (msgspec.MsgspecError, ValueError):
            pass  # decode() names the key within the whole document
    return decode(document, Sample)


@functools.cache
def _whole_decoder() -> msgspec.json.Decoder[Sample]:
    return decoder_of(Sample)


@functools.cache
def _rough_decoder() -> msgspec.json.Decoder[Any]:
    """Return the decoder of a sample that leaves its shared parts undecoded."""
    kinds: dict[str, Any] = dict.fromkeys(_IN_SAMPLE, msgspec.Raw)
    kinds["launch"] = _rough(Launch, dict.fromkeys(_IN_LAUNCH, msgspec.Raw))
    kinds["evidence"] = list[msgspec.Raw]
    return decoder_of(_rough(Sample, kinds))


def _rough(kind: type[msgspec.Struct], replaced: dict[str, Any]) -> type[msgspec.Struct]:
    """Return a copy of a record type with other types of some fields.

    Args:
        kind: type of the record.
        replaced: types of these fields; an absent ``msgspec.Raw`` is empty.
    """
    hints = get_type_hints(kind)
    fields: list[tuple[str, Any, Any]] = []
    for field in msgspec.structs.fields(kind):
        own = replaced.get(field.name, hints[field.name])
        default: Any = field.default
        if own is msgspec.Raw and not field.required:
            default = msgspec.Raw()
        elif field.default_factory is not msgspec.NODEFAULT:
            default = msgspec.field(default_factory=field.default_factory)
        fields.append((field.name, own, default))
    config = kind.__struct_config__
    return msgspec.defstruct(
        f"Rough{kind.__name__}",
        fields,
        tag_field=config.tag_field,
        tag=config.tag,
        kw_only=True,
    )


@functools.cache
def _part_decoders() -> dict[str, msgspec.json.Decoder[Any]]:
    """Return the decoders of the shared parts, by field."""
    hints = get_type_hints(Sample) | get_type_hints(Launch)
    kinds = {name: hints[name] for name in (*_IN_SAMPLE, *_IN_LAUNCH)}
    return {name: decoder_of(kind) for name, kind in (kinds | {"evidence": Evidence}).items()}
