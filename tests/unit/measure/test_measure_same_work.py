"""The form of an output in which launches that do the same work agree."""

from __future__ import annotations

import hashlib

import pytest

from assay.measure.same_work import comparable_lines, output_evidence
from assay.records import Output


def _output(text: str, size_bytes: int | None = None) -> Output:
    content = text.encode()
    return Output(
        stream="stdout",
        size_bytes=len(content) if size_bytes is None else size_bytes,
        sha256=hashlib.sha256(content).hexdigest(),
        head=content,
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sum 3.14159265358979", "sum 3.14159265358912"),  # another order of additions
        ("sum 0.99999999999", "sum 1.0"),
        ("norm 1.2345678e+03", "norm 1234.5671"),
        ("residual 1.33e-15", "residual 8.88e-16"),
        ("threads:   2  ok", "threads:  16 ok"),  # a varied setting, and the width of its column
        ("using mode fast\n", "using mode slow\n\n"),
        ("\x1b[32mdone\x1b[0m", "done"),
        ("10 %\r100 %\n", "10 %\n100 %"),
    ],
)
def test_outputs_of_the_same_work_agree(one: str, other: str) -> None:
    values = {"2", "16", "fast", "slow"}
    assert comparable_lines(_output(one), values) == comparable_lines(_output(other), values)
    notes = {output_evidence(_output(text), values).note for text in (one, other)}
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("result 3.14159", "usage: p slow|fast"),
        ("sum 3.14159", "sum 3.14158"),
        ("checksum 1234567891", "checksum 1234567892"),  # a whole number has no digits to spare
        ("rows 12", "rows 4.2"),
        ("fastest", "slowest"),  # the value of a setting is a word, and no part of one
        ("ok", ""),
    ],
)
def test_outputs_of_other_work_differ(one: str, other: str) -> None:
    values = {"2", "fast", "slow"}
    notes = {output_evidence(_output(text), values).note for text in (one, other)}
    assert len(notes) == 2


def test_form_without_digits_leaves_times_of_day_out() -> None:
    first, second = (output_evidence(_output(f"began 10:0{n}"), ()).note or "" for n in (1, 2))
    assert first.split("\n")[0] != second.split("\n")[0]
    assert first.split("\n")[1] == second.split("\n")[1]
