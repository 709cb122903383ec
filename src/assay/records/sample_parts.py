"""Partly decoded samples: parts that recur in many samples remain encoded."""

from __future__ import annotations

import functools
from typing import Any, get_type_hints

import msgspec

from assay.records.codec import decoder_of
from assay.records.launch import Launch
from assay.records.sample import Evidence, Sample

ENCODED_IN_SAMPLE = ("settings", "unavailable", "outputs", "observations", "contradictions")
ENCODED_IN_LAUNCH = ("configuration", "block_arms", "end")
"""Fields that remain encoded; each piece of evidence does as well."""
ABSENT = msgspec.Raw()
"""Value of an absent encoded field."""


@functools.cache
def partial_decoder() -> msgspec.json.Decoder[Any]:
    """Return the decoder of a sample that leaves its recurring parts encoded."""
    kinds: dict[str, Any] = dict.fromkeys(ENCODED_IN_SAMPLE, msgspec.Raw)
    kinds["launch"] = _partial(Launch, dict.fromkeys(ENCODED_IN_LAUNCH, msgspec.Raw))
    kinds["evidence"] = tuple[msgspec.Raw, ...]
    return decoder_of(_partial(Sample, kinds))


def _partial(kind: type[msgspec.Struct], replaced: dict[str, Any]) -> type[msgspec.Struct]:
    """Return a copy of a record type with other types of some fields.

    Args:
        kind: type of the record.
        replaced: types of these fields.
    """
    hints = get_type_hints(kind)
    fields: list[tuple[str, Any, Any]] = []
    for field in msgspec.structs.fields(kind):
        own = replaced.get(field.name, hints[field.name])
        default: Any = field.default
        if own is msgspec.Raw and not field.required:
            default = ABSENT
        elif field.default_factory is not msgspec.NODEFAULT:
            default = msgspec.field(default_factory=field.default_factory)
        fields.append((field.name, own, default))
    config = kind.__struct_config__
    return msgspec.defstruct(
        f"Partial{kind.__name__}",
        fields,
        tag_field=config.tag_field,
        tag=config.tag,
        omit_defaults=config.omit_defaults,
        kw_only=True,
    )


@functools.cache
def part_decoders() -> dict[str, msgspec.json.Decoder[Any]]:
    """Return the decoders of the encoded parts, by field."""
    hints = get_type_hints(Sample) | get_type_hints(Launch)
    kinds = {name: hints[name] for name in (*ENCODED_IN_SAMPLE, *ENCODED_IN_LAUNCH)}
    return {name: decoder_of(kind) for name, kind in (kinds | {"evidence": Evidence}).items()}
