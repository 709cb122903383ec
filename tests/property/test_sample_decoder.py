"""The decoder of many samples agrees with ``decode`` and shares equal parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.records import (
    Arm,
    Configuration,
    EndRule,
    Evidence,
    Grant,
    GrantStatus,
    Launch,
    Observation,
    Outcome,
    Output,
    Sample,
    SampleDecoder,
    Series,
    Stage,
    decode,
    encode,
)
from assay.records import sample_decoder as module

UNICODE = st.text(st.characters(codec="utf-8"), max_size=4)
TEXT = UNICODE | st.binary(max_size=3).map(lambda held: held.decode(errors="surrogateescape"))
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
ONE = st.tuples(NUMBER)


def samples(text: st.SearchStrategy[str]) -> st.SearchStrategy[Sample]:
    """Return a strategy for samples with all kinds of parts, in few variants."""
    values = st.one_of(text, st.integers(0, 9), NUMBER, st.booleans())
    configurations = st.dictionaries(text, values, max_size=2).map(Configuration)
    arms = st.builds(Arm, name=text, configuration=configurations)
    grants = st.builds(Grant, value=values, status=st.sampled_from(GrantStatus))
    evidence = st.builds(Evidence, kind=text, value=st.none() | NUMBER, note=st.none() | text)
    launches = st.builds(
        Launch,
        configuration=configurations,
        arm=text,
        stage=st.sampled_from(Stage),
        block=st.integers(0, 3),
        position=st.integers(0, 3),
        timeout_s=st.none() | NUMBER,
        block_arms=st.none() | st.lists(arms, max_size=2).map(tuple),
        end=st.none() | st.builds(EndRule, max_s=NUMBER),
        fidelity=st.none() | values,
    )
    return st.builds(
        Sample,
        launch=launches,
        outcome=st.sampled_from(Outcome),
        message=st.none() | text,
        metrics=st.dictionaries(text, NUMBER, max_size=2),
        settings=st.dictionaries(text, grants, max_size=2),
        evidence=st.lists(evidence, max_size=3).map(tuple),
        unavailable=st.dictionaries(text, text, max_size=2),
        outputs=st.lists(
            st.builds(Output, stream=text, size_bytes=st.integers(0, 9), sha256=text), max_size=1
        ).map(tuple),
        observations=st.lists(st.sampled_from(Observation), max_size=2).map(tuple),
        contradictions=st.lists(text, max_size=2).map(tuple),
        series=st.dictionaries(text, st.builds(Series, times_s=ONE, steps=ONE, values=ONE)),
    )


@given(st.lists(samples(TEXT), max_size=6))
def test_decoded_samples_equal_those_of_decode(given_samples: list[Sample]) -> None:
    decoder = SampleDecoder()
    for sample in given_samples:
        document = encode(sample)
        assert decoder.decode(document) == decode(document, Sample) == sample
        assert decoder.decode(document.decode()) == sample


@given(samples(UNICODE), st.data())
def test_damaged_document_raises_the_error_of_decode(sample: Sample, data: st.DataObject) -> None:
    document = bytearray(encode(sample))
    begin = data.draw(st.integers(0, len(document)))
    end = data.draw(st.integers(begin, min(len(document), begin + 9)))
    document[begin:end] = data.draw(st.sampled_from([b"", b"null", b"1", b'"x":', b"\xff", b"{}"]))
    try:
        expected: Sample | str = decode(bytes(document), Sample)
    except InvalidInputError as error:
        expected = str(error)
    try:
        found: Sample | str = SampleDecoder().decode(bytes(document))
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
