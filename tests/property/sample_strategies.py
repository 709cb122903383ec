"""Strategies for samples with all kinds of parts."""

from __future__ import annotations

from hypothesis import strategies as st

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
    Series,
    Stage,
    encode,
)
from assay.records.progress import SteadyPart

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
    evidence = st.builds(
        Evidence, kind=text, value=st.none() | NUMBER, unit=text, note=st.none() | text
    )
    bounds = dict.fromkeys(("begin_step", "begin_s", "end_step", "end_s", "first_report_s"), NUMBER)
    steady = st.builds(SteadyPart, **bounds)
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
        limit=st.none() | text,
        exit_status=st.none() | st.integers(0, 3),
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
        started_at=NUMBER,
        node=st.just("local") | text,
        launcher_version=text,
        upper_bounds=st.dictionaries(text, NUMBER, max_size=1),
        series=st.dictionaries(text, st.builds(Series, times_s=ONE, steps=ONE, values=ONE)),
        steady=st.dictionaries(text, steady, max_size=1),
    )


@st.composite
def damaged_documents(draw: st.DrawFn) -> bytes:
    """Return documents of samples with some replaced bytes."""
    document = bytearray(encode(draw(samples(UNICODE))))
    begin = draw(st.integers(0, len(document)))
    end = draw(st.integers(begin, min(len(document), begin + 9)))
    document[begin:end] = draw(st.sampled_from([b"", b"null", b"1", b'"x":', b"\xff", b"{}"]))
    return bytes(document)
