"""Lines in which a program that ends well says that it could not do its work."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from assay.executors.evidence.reported_errors import MAX_LINES, error_evidence, reports_error
from assay.executors.evidence.same_work import ComparableForm
from assay.records import Output

PRINTED = tomllib.loads((Path(__file__).parent / "printed.toml").read_text())["tool"]


def _output(text: str, tail: str = "", stream: str = "stderr") -> Output:
    head = text.encode()
    size_bytes = 9999 if tail else len(head)
    return Output(stream=stream, size_bytes=size_bytes, sha256="", head=head, tail=tail.encode())


@pytest.mark.parametrize(
    "line",
    [
        "usage: q slow|fast",
        "q: Usage: q [-v]",
        "q: unknown option -- 'x'",
        "bash: --x: invalid option",
        "Unrecognized switch: -Q  (-h will show valid options).",
        "error: invalid value for '--level'",
        "cat: a.txt: No such file or directory",
        "could not open config.ini",
        "2026-01-02 10:00:00.5 ERROR mode is not known",
        "FAILED: did not converge",
        "SyntaxError: invalid syntax",
        "fatal: not a repository",
        "sh: 1: q: command not found",
        "Try 'q --help' for more information.",
        "Traceback (most recent call last):",
    ],
)
def test_line_of_a_program_that_could_not_work_reports_an_error(line: str) -> None:
    assert reports_error(line)


@pytest.mark.parametrize(
    "line",
    [
        "q: warning: --old is deprecated, error: in 2.0",
        "libgomp: Invalid value for environment variable OMP_NUM_THREADS",
        "INFO: failed to open cache, starting without",
        "note: no such file, using default",
        "error: 0.00012",
        "relative error: 1e-9",
        "ERROR 0",
        "FAILED = 0",
        "0 errors",
        "errors: 12",
        "failed requests: 0",
        "Memory usage: 12 MB",
        "usage: 93 %",
        "missing values: 3",
        "found all options",
    ],
)
def test_warning_count_or_figure_reports_no_error(line: str) -> None:
    assert not reports_error(line)


@pytest.mark.parametrize("tool", PRINTED, ids=[tool["name"] for tool in PRINTED])
def test_outputs_of_tools_report_no_error(tool: dict[str, str]) -> None:
    assert not [line for line in tool["text"].splitlines() if reports_error(line)]


def test_lines_are_kept_without_values_and_recognised_without_digits() -> None:
    notes = []
    for second, mode in ((1, "fast"), (2, "slow")):
        text = f"begin\n10:00:0{second} ERROR mode {mode}\n"
        found = error_evidence([_output(text)], ComparableForm({"fast", "slow"}))
        assert found is not None and found.value == 1.0
        notes.append((found.note or "").partition(" "))
    assert notes[0][0] == notes[1][0]
    assert notes[0][2] == "10:00:01 ERROR mode \N{HORIZONTAL ELLIPSIS}"
    assert error_evidence([_output("all is well")], ComparableForm(())) is None


def test_both_streams_and_both_ends_are_read() -> None:
    outputs = [_output("usage: q\nx", "x\nq: ERROR late\n"), _output("ERROR out", stream="stdout")]
    found = error_evidence(outputs, ComparableForm(()))
    assert found is not None
    assert [line.partition(" ")[2] for line in (found.note or "").splitlines()] == [
        "usage: q",
        "q: ERROR late",
        "ERROR out",
    ]


def test_more_errors_than_are_kept_are_counted() -> None:
    lines = "".join(f"ERROR {'x' * n} {'y' * 200}\n" for n in range(1, MAX_LINES + 3))
    found = error_evidence([_output(lines)], ComparableForm(()))
    assert found is not None and found.value == MAX_LINES + 2
    kept = (found.note or "").splitlines()
    assert len(kept) == MAX_LINES and all(len(line) <= 100 for line in kept)
