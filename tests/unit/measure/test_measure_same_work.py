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
        ("took 2 s, 120 fps, 3.5 GB/s", "took 1 s, 60 fps, 7 GB/s"),  # measured, not worked out
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


def test_figures_that_are_read_from_an_output_may_differ() -> None:
    lines = [comparable_lines(_output(f"size: {n} of 9"), (), [r"size: (\d+)"]) for n in (2, 1)]
    assert lines[0] == lines[1] == ["size: \N{HORIZONTAL ELLIPSIS} of 9"]


def test_ends_that_are_cut_elsewhere_agree() -> None:
    """A longer value of a setting moves the place at which the ends are cut."""
    forms = []
    for threads in ("8", "16"):
        content = f"threads: {threads}\n".encode() + b"row of some words\n" * 1000 + b"end\n"
        output = Output(
            stream="stdout",
            size_bytes=len(content),
            sha256="0" * 64,
            head=content[:4096],
            tail=content[-4096:],
        )
        forms.append(comparable_lines(output, {"8", "16"}))
    assert forms[0] == forms[1]
    assert forms[0][-1] == "end"
