"""The form of an output in which launches that do the same work agree."""

from __future__ import annotations

import hashlib

import pytest

from assay.executors.evidence.same_work import comparable_lines, output_evidence
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
        ("10 %\r55 rows\r100 %\n", "100 %"),  # written over
        ("took 2 s, 120 fps, 3.5 GB/s", "took 1 s, 60 fps, 7 GB/s"),  # measured, not worked out
        ("5000 loops, best of 3", "20000 loops, best of 3"),
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
        ("12 s.txt", "13 s.txt"),  # part of a name of a file, and no unit
        ("12 min-rows", "13 min-rows"),
        ("fastest", "slowest"),  # the value of a setting is a word, and no part of one
        ("ok", ""),
    ],
)
def test_outputs_of_other_work_differ(one: str, other: str) -> None:
    values = {"2", "fast", "slow"}
    notes = {output_evidence(_output(text), values).note for text in (one, other)}
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("AES-256-CBC 17", "\N{HORIZONTAL ELLIPSIS} 17"),  # written otherwise than in the command
        ("sorted by heap.", "sorted by \N{HORIZONTAL ELLIPSIS}."),
        ("heaps and v.heap and heap.c", "heaps and v.heap and heap.c"),
        ("ran sleep 0.050", "ran \N{HORIZONTAL ELLIPSIS}"),  # its number is rounded elsewhere
        ("{0, 1} {0, 12}", "\N{HORIZONTAL ELLIPSIS} {0, 12}"),
    ],
)
def test_values_are_taken_out_as_words(text: str, form: str) -> None:
    values = {"aes-256-cbc", "heap", "sleep 0.050", "{0, 1}"}
    assert comparable_lines(_output(text), values) == [form]


def test_own_values_stand_out_in_the_sketch_alone() -> None:
    text = "mode Heap of heap|quick"
    notes = [output_evidence(_output(text), {"heap", "quick"}, (), o).note for o in ((), ("heap",))]
    plain, own = (str(note).split("\n") for note in notes)
    assert plain[:4] == own[:4]
    assert "*" not in plain[4] and own[4].count("*") == 2


def test_long_line_with_much_text_written_over_is_read_fast() -> None:
    text = "x" * 200_000 + "\r" + "y" * 200_000
    assert comparable_lines(_output(text), {"z"}) == ["y" * 200_000]


def test_form_without_digits_leaves_times_of_day_out() -> None:
    first, second = (output_evidence(_output(f"began 10:0{n}"), ()).note or "" for n in (1, 2))
    assert first.split("\n")[0] != second.split("\n")[0]
    assert first.split("\n")[1] == second.split("\n")[1]


@pytest.mark.parametrize(
    ("pattern", "one", "other", "left"),
    [
        (r"size: (\d+)", "size: 2 of 9", "size: 17 of 9", ["… of 9"]),
        (r"out ([0-9.]+) ([KM]?B)", "out 1.2 MB ok", "out 950 KB ok", ["… ok"]),
        (r"(?P<unit>[mu]?l) ([0-9.]+)", "ml 1.5", "ul 3", ["…"]),
        (r"best: [0-9.]+ \w+ per loop", "best: 9 ticks per loop", "best: 2 ms per loop", ["…"]),
        (r"\w+ rows of ([0-9]+)\s", "few rows of 3\nok", "many rows of 4\nok", None),
        (
            r"rows of ([0-9]+) (\w+)\s",
            "rows of 3 kB\nok",
            "rows of 4 MB\nok",
            ["rows of … …", "ok"],
        ),
    ],
    ids=["figure", "unit", "unit-first", "no-group", "words-of-several-lines", "several-lines"],
)
def test_figures_that_are_read_from_an_output_may_differ(
    pattern: str, one: str, other: str, left: list[str] | None
) -> None:
    first, second = (comparable_lines(_output(text), (), [pattern]) for text in (one, other))
    assert first == (left or first)
    assert (first == second) == (left is not None)


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
