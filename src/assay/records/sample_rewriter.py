"""Documents of samples with other texts, without decoding their recurring parts again."""

from __future__ import annotations

import enum
import functools
import operator
import sys
from collections.abc import Callable
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec

from assay.records.codec import decode, encode, holds_bytes
from assay.records.launch import Launch
from assay.records.sample import Evidence, Sample
from assay.records.sample_decoder import MAX_SHARED_PARTS
from assay.records.sample_parts import (
    ABSENT,
    part_decoders,
    partial_decoder,
)

MAX_REMEMBERED_BYTES = 1000
"""Maximum size of a remembered part: longer ones, such as lines of output, rarely recur."""


class SampleRewriter:
    """Reads documents of samples to write them again with other texts.

    ``encode`` of a sample that it returns gives the document of the decoded and changed sample. A
    part that recurs in many samples is decoded, changed and encoded once.

    Args:
        change: returns a value with other texts, or the same object if none changes. It sees a part
            that changes each time that the part occurs.
    """

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self._change = change
        self._known: dict[str, dict[bytes, msgspec.Raw]] = {name: {} for name in part_decoders()}
        self._texts = operator.attrgetter(*_fields_with_text(Evidence))
        self._unchanged: set[Any] = set()
        """Texts of evidence that does not change."""

    def read(self, document: bytes | str) -> Any:
        """Return a sample whose recurring parts remain encoded.

        Its outcome, figures, and the stage, arm and place of its launch are decoded.

        Raises:
            InvalidInputError: not JSON, or not a sample; names the key.
        """
        if not holds_bytes(document):
            try:
                return self._rewritten(partial_decoder().decode(document))
            except (msgspec.MsgspecError, ValueError):
                pass  # decode() names the key within the whole document
        return self._change(decode(document, Sample))

    def _rewritten(self, partial: Any) -> Any:
        partial.node = sys.intern(partial.node)  # defaults are omitted by identity
        self._rewrite(partial.launch, _fields_with_text(Launch))
        self._rewrite(partial, _fields_with_text(Sample))
        return partial

    def _rewrite(self, record: Any, names: tuple[str, ...]) -> None:
        for name in names:
            value = getattr(record, name)
            if type(value) is msgspec.Raw:
                if value is not ABSENT:
                    setattr(record, name, self._part(name, bytes(value)))
            elif name == "evidence":
                # The pieces of evidence are most parts of a sample: known ones take no call.
                known = self._known[name]
                record.evidence = tuple(
                    [known.get(piece) or self._piece(piece) for piece in map(bytes, value)]
                )
            elif value:
                setattr(record, name, self._change(value))

    def _part(self, name: str, document: bytes) -> msgspec.Raw:
        known = self._known[name].get(document)
        if known is not None:
            return known
        part = part_decoders()[name].decode(document)
        changed = self._change(part)
        content = encode(changed)
        rewritten = ABSENT if content == _defaults().get(name) else msgspec.Raw(content)
        if changed is part and len(document) <= MAX_REMEMBERED_BYTES:
            self._remember(name, document, rewritten)
        return rewritten

    def _piece(self, document: bytes) -> msgspec.Raw:
        """Rewrite a piece of evidence; most new ones differ from known ones in their number."""
        piece: Evidence = part_decoders()["evidence"].decode(document)
        texts = self._texts(piece)
        changed = piece if texts in self._unchanged else self._change(piece)
        rewritten = msgspec.Raw(encode(changed))
        if changed is piece and len(document) <= MAX_REMEMBERED_BYTES:
            self._remember("evidence", document, rewritten)
            if len(self._unchanged) >= MAX_SHARED_PARTS:
                self._unchanged.clear()
            self._unchanged.add(texts)
        return rewritten

    def _remember(self, name: str, document: bytes, rewritten: msgspec.Raw) -> None:
        known = self._known[name]
        if len(known) >= MAX_SHARED_PARTS:
            known.clear()
        known[document] = rewritten


@functools.cache
def _defaults() -> dict[str, bytes]:
    """Return the documents of the default values of fields."""
    fields = (*msgspec.structs.fields(Launch), *msgspec.structs.fields(Sample))
    return {field.name: encode(_default_of(field)) for field in fields if not field.required}


def _default_of(field: msgspec.structs.FieldInfo) -> Any:
    has_factory = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if has_factory else field.default


@functools.cache
def _fields_with_text(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a record that may hold text, in their order."""
    hints = get_type_hints(kind)
    names = (field.name for field in msgspec.structs.fields(kind))
    return tuple(name for name in names if name != "launch" and _may_hold_text(hints[name]))


def _may_hold_text(hint: Any) -> bool:
    """Return whether values of a type may hold text; enumerations hold fixed words only."""
    if parts := get_args(hint):
        return any(map(_may_hold_text, parts))
    return not (isinstance(hint, type) and issubclass(hint, float | int | enum.Enum | NoneType))
