"""Records as JSON and back, whatever bytes their texts hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.records import Configuration, Evidence, Workload, decode, encode
from assay.records.codec import Record

BYTES = st.binary().map(lambda held: held.decode(errors="surrogateescape"))


class Nested(Record, frozen=True, kw_only=True):
    """All that a document may hold."""

    texts: dict[str, str]
    configuration: Configuration
    data: bytes
    figure: float
    numbers: dict[int, tuple[float, ...]]


@given(BYTES, st.binary(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_bytes_come_back(text: str, data: bytes, figure: float) -> None:
    record = Nested(
        texts={text: text, "other": "é\\udce9"},
        configuration=Configuration({"env.X": text}),
        data=data,
        figure=figure,
        numbers={3: (figure, 1.0)},
    )
    document = encode(record)
    document.decode("utf-8")
    assert decode(document, Nested) == decode(document.decode(), Nested) == record


def test_byte_that_is_not_utf8_is_a_lone_surrogate_in_json() -> None:
    document = encode(Workload(argv=("cat", "f\udce9", "é")))
    assert b'"f\\udce9"' in document
    assert json.loads(document)["argv"] == ["cat", "f\udce9", "é"]


def test_figure_that_json_lacks_is_null_beside_such_bytes() -> None:
    told = Evidence(kind="k", note="\udce9", value=float("nan"))
    assert json.loads(encode(told))["value"] is None


@pytest.mark.parametrize("document", [b'{"argv": ["\\udce9"', b'{"argv": [1, "\\udce9"]}'])
def test_invalid_document_with_such_bytes_is_refused(document: bytes) -> None:
    with pytest.raises(InvalidInputError, match="Workload"):
        decode(document, Workload)
