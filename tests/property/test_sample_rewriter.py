"""Rewritten documents equal those of decoded samples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_strategies import TEXT, UNICODE, damaged_documents, samples

from assay.bundle.identity import Identity
from assay.bundle.redact import Redactor
from assay.errors import InvalidInputError
from assay.records import Sample, SampleDecoder, SampleRewriter, decode, encode, to_builtins
from assay.records import sample_rewriter as module

IDENTITY = Identity(hosts=("box7",), users=("mia",), homes=("/home/mia",))
NAMED = st.sampled_from(
    [
        "",
        "a",
        "é",
        "mia",
        "BOX7",
        "/home/mia/x",
        "/home/tom/y",
        "/home/ute9",
        "10.1.2.3",
        "10.9.8.7",
    ]
)
NAMES = (b"mia", b"box7", b"tom", b"ute9", b"10.1.2.3")
DEFAULTS: dict[str, Any] = {
    "node": "local",
    "evidence": [],
    "settings": {},
    "metrics": {},
    "observations": [],
    "signal": None,
}


def unchanged(value: Any) -> Any:
    return value


@given(st.lists(samples(TEXT), max_size=6))
def test_rewritten_document_is_that_of_the_sample(given_samples: list[Sample]) -> None:
    rewriter = SampleRewriter(unchanged)
    for sample in given_samples:
        document = encode(sample)
        assert encode(rewriter.read(document)) == document
        assert encode(rewriter.read(document.decode())) == document


@given(st.lists(samples(UNICODE), max_size=4))
def test_other_spelling_of_a_document_becomes_canonical(given_samples: list[Sample]) -> None:
    """Older documents may contain defaults, other orders of keys, and integers for fractions."""
    rewriter = SampleRewriter(unchanged)
    for sample in given_samples:
        plain = DEFAULTS | {"wall_s": 3, "schema": 2} | to_builtins(sample)
        plain["launch"] = {"block_arms": None, "attempt": 0} | plain["launch"]
        document = json.dumps(dict(sorted(plain.items())), indent=1)
        assert encode(rewriter.read(document)) == encode(SampleDecoder().decode(document))


@given(st.lists(samples(NAMED), max_size=8))
def test_redacted_document_is_that_of_the_redacted_sample(given_samples: list[Sample]) -> None:
    """Tokens, their numbers and their counts are the same, and no name remains."""
    whole, by_parts = Redactor(IDENTITY), Redactor(IDENTITY)
    rewriter = SampleRewriter(by_parts.value)
    for sample in given_samples:
        document = encode(rewriter.read(encode(sample)))
        assert document == encode(whole.record(sample))
        assert not any(name in document.lower() for name in NAMES)
        assert by_parts.replaced == whole.replaced


@given(damaged_documents())
def test_damaged_document_raises_the_error_of_decode(document: bytes) -> None:
    try:
        expected: bytes | str = encode(decode(document, Sample))
    except InvalidInputError as error:
        expected = str(error)
    try:
        found: bytes | str = encode(SampleRewriter(unchanged).read(document))
    except InvalidInputError as error:
        found = str(error)
    assert found == expected


def test_remembered_parts_stay_below_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHARED_PARTS", 5)
    monkeypatch.setattr(module, "MAX_REMEMBERED_BYTES", 60)
    rewriter = SampleRewriter(unchanged)
    for number in range(30):
        note = "x" * (number % 2 * 100)
        document = (
            b'{"schema":2,"launch":{"configuration":{},"arm":"a","stage":"search","block":1,'
            b'"position":0},"outcome":"ok","evidence":[{"kind":"k","value":%d.5,"note":"%s"}]}'
            % (number, note.encode())
        )
        assert encode(rewriter.read(document)) == document
    assert all(len(known) <= 5 for known in rewriter._known.values())
    assert all(len(part) <= 60 for known in rewriter._known.values() for part in known)
