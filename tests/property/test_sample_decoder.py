"""The decoder of many samples agrees with ``decode`` and shares equal parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_strategies import TEXT, damaged_documents, samples

from assay.errors import InvalidInputError
from assay.records import (
    Configuration,
    Evidence,
    Grant,
    GrantStatus,
    Launch,
    Outcome,
    Sample,
    SampleDecoder,
    Stage,
    decode,
    encode,
)
from assay.records import sample_decoder as module


@given(st.lists(samples(TEXT), max_size=6))
def test_decoded_samples_equal_those_of_decode(given_samples: list[Sample]) -> None:
    decoder = SampleDecoder()
    for sample in given_samples:
        document = encode(sample)
        assert decoder.decode(document) == decode(document, Sample) == sample
        assert decoder.decode(document.decode()) == sample


@given(damaged_documents())
def test_damaged_document_raises_the_error_of_decode(document: bytes) -> None:
    try:
        expected: Sample | str = decode(document, Sample)
    except InvalidInputError as error:
        expected = str(error)
    try:
        found: Sample | str = SampleDecoder().decode(document)
    except InvalidInputError as error:
        found = str(error)
    assert found == expected


def launched(number: int) -> bytes:
    """Return the document of a launch with a measured value."""
    launch = Launch(
        configuration=Configuration({"threads": 4}),
        arm="a",
        stage=Stage.SEARCH,
        block=number,
        position=0,
    )
    evidence = Evidence(kind="steal", value=0.0), Evidence(kind="run_queue", value=float(number))
    grants = {"threads": Grant(value=4, status=GrantStatus.GRANTED)}
    return encode(Sample(launch=launch, outcome=Outcome.OK, settings=grants, evidence=evidence))


def test_equal_parts_are_the_same_object() -> None:
    decoder = SampleDecoder()
    first, second = decoder.decode(launched(1)), decoder.decode(launched(2))
    assert first.settings is second.settings
    assert first.launch.configuration is second.launch.configuration
    assert first.evidence[0] is second.evidence[0]
    assert first.evidence[1] != second.evidence[1]
    assert first.series is second.series is first.steady


def test_recurring_numbers_are_the_same_object() -> None:
    decoder = SampleDecoder()
    document = launched(1).replace(b'"ok"', b'"ok","user_s":0.25')
    first, second = decoder.decode(document), decoder.decode(document)
    assert first.user_s == 0.25
    assert first.user_s is second.user_s


def test_remembered_parts_stay_below_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHARED_PARTS", 5)
    monkeypatch.setattr(module, "MAX_SHARED_PIECES", 5)
    decoder = SampleDecoder()
    found = [decoder.decode(launched(number)) for number in range(30)]
    assert [sample.evidence[1].value for sample in found] == [float(n) for n in range(30)]
    assert all(len(parts) <= 5 for parts in decoder._known.values())
