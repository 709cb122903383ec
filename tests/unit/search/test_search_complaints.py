"""Standard error lines specific to one value of a setting are quoted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.records import Configuration, Evidence, Launch, Outcome, Sample, Stage
from assay.records.sample import STDERR_LINES
from assay.records.workload import WALL
from assay.search.history.complaints import complaint_notes
from assay.search.history.history import History
from assay.wording.launch_notes import quotes_output

MORE = "more than is kept"
GOMP = "libgomp: Invalid value for environment variable OMP_NUM_THREADS"
Says = Callable[[str, int], str | None]


def notes(
    says: Says,
    *values: str,
    setting: str = "env.OMP_NUM_THREADS",
    launches: int = 4,
    failing: tuple[int, ...] = (),
) -> list[str]:
    """Return the notes for an output of each value of a setting and of the default."""
    samples = []
    for value in ("", *values):
        configuration = Configuration({setting: value} if value else {})
        for block in range(launches):
            launch = Launch(
                configuration=configuration,
                arm=str(configuration) or "default",
                stage=Stage.CONFIRM,
                block=block,
                position=0,
            )
            line = says(value, block)
            kept = None if line == MORE else line
            evidence = (Evidence(kind=STDERR_LINES, value=1.0, note=kept),) if line else ()
            outcome = Outcome.FAILED if block in failing else Outcome.OK
            samples.append(Sample(launch=launch, outcome=outcome, evidence=evidence))
    return complaint_notes(History(WALL, samples))


def test_complaint_of_one_arm_is_quoted() -> None:
    (note,) = notes(lambda value, block: GOMP if value == "1.0" else None, "1.0", "2")
    assert GOMP in note and "all 4 launches of 'env.OMP_NUM_THREADS=1.0' write" in note
    assert quotes_output(note)


def test_complaint_beside_other_lines_is_quoted() -> None:
    def says(value: str, block: int) -> str:
        started = f"started at 12:0{block}:17 with {value or 'all'} threads"
        return f"{started}\n{GOMP}" if value == "1.0" else started

    (note,) = notes(says, "1.0", "2")
    assert GOMP in note


@pytest.mark.parametrize(
    "says",
    [
        lambda value, block: f"2026-11-27T10:{block}:00 warning: 3 files" if value else "12 files",
        lambda value, block: f"[{block:3}%] warning: slow disk, {873 + block} MB/s",
        lambda value, block: f"warning: {2 * len(value)} GB/s" if value else "warning: 9.3 MB/s",
        lambda value, block: f"warning: using {value or 1} thread{'s' * (value == '2')}",
        lambda value, block: "warning: now and then" if value == "2" and block % 2 else None,
        lambda value, block: "warning: now and then" if value == "2" and not block else None,
        lambda value, block: f"warning: 9 {'GB' if value == '2' else 'MB'}/s",
        lambda value, block: f"mode {value or 'automatic'}",
        lambda value, block: "progress done" if value == "2" else "other words",
        lambda value, block: GOMP,
    ],
    ids=[
        "time",
        "progress",
        "unit",
        "plural",
        "seldom",
        "first",
        "units",
        "value",
        "words",
        "every",
    ],
)
def test_varying_output_is_not_a_complaint(says: Says) -> None:
    assert not notes(says, "2", "4")


def test_values_of_settings_in_lines_are_ignored() -> None:
    def says(value: str, block: int) -> str:
        return f"warning: policy {value}" if value else "12 files"

    assert not notes(says, "close", "spread", setting="omp.bind")


def test_any_line_is_quoted_if_other_arms_have_none() -> None:
    (note,) = notes(lambda value, block: "progress done" if value == "2" else None, "2", "4")
    assert "progress done" in note


def test_launches_that_failed_are_left_out() -> None:
    def says(value: str, block: int) -> str | None:
        return GOMP if value == "1.0" and block else None

    assert notes(says, "1.0", "2", launches=5, failing=(0,))
    assert not notes(says, "1.0", "2", launches=5)


def test_launches_with_truncated_lines_are_not_compared() -> None:
    """They may contain the line among the lost ones, and the note states this."""
    said = {"1.0": GOMP, "2": MORE}
    (note,) = notes(lambda value, block: said.get(value), "1.0", "2")
    assert "and no other whose lines are all kept does:" in note
    (note,) = notes(lambda value, block: said.get(value), "1.0", "4")
    assert "and no other does:" in note


def test_value_with_truncated_lines_has_no_note() -> None:
    said = {0: GOMP, 1: GOMP, 2: GOMP, 3: MORE}
    assert not notes(lambda value, block: said[block] if value == "1.0" else None, "1.0", "2")


def test_few_launches_have_no_note() -> None:
    assert not notes(lambda value, block: GOMP if value else None, "1.0", launches=2)


def test_truncated_output_has_no_note() -> None:
    samples_with_more = Evidence(kind=STDERR_LINES, value=40.0)
    launch = Launch(
        configuration=Configuration({"nice": 1}),
        arm="nice=1",
        stage=Stage.CONFIRM,
        block=0,
        position=0,
    )
    more = Sample(launch=launch, outcome=Outcome.OK, evidence=(samples_with_more,))
    assert complaint_notes(History(WALL, [more])) == []
