"""Actions on the store: list, label, prune and compact."""

from __future__ import annotations

import datetime
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.cli.arguments.ages import begin_of, end_of
from assay.cli.main import main
from assay.errors import InvalidInputError
from assay.records import Status
from assay.store import open_store
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec
from json_schemas import assert_valid

DAY_S = 86400.0
NOW_S = 1.7e9


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ids of three finished studies, each a day younger than the one before."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    found = []
    with open_store(tmp_path / "assay.db") as store:
        for number in range(3):
            spec = tune_spec(f"./p{number}")
            found.append(store.create_study(spec, make_stratum(), NOW_S + number * DAY_S))
            store.add_sample(found[-1], 0, make_sample())
            store.set_status(found[-1], Status.DONE)
            store.release(found[-1])
    return found


def listed(capfd: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(("study", "list", *words)) == 0
    return [line.split()[0] for line in capfd.readouterr().out.splitlines()]


def document(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(("study", *words, "--json")) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert_valid(f"study-{words[0]}", found)
    return found


def test_list_shows_selected_studies(ids: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert listed(capfd) == ids
    assert listed(capfd, "--limit", "2") == ids[1:]
    assert listed(capfd, "--command", "p1") == ids[1:2]
    assert listed(capfd, "--machine", "machine-0") == ids
    day = datetime.datetime.fromtimestamp(NOW_S + DAY_S).date()
    assert listed(capfd, "--since", str(day)) == ids[1:]
    assert listed(capfd, "--until", str(day)) == ids[:2]
    assert listed(capfd, "--since", "1d") == ["No"]


def test_list_of_an_empty_store_names_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    for words in ((), ("--label", "nightly"), ("--limit", "3")):
        assert main(("study", "list", *words)) == 0
        assert "No studies yet" in capfd.readouterr().out


def test_list_without_a_match_differs_from_an_empty_store(
    ids: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(("study", "list", "--label", "nightly")) == 0
    assert "No matching study" in capfd.readouterr().out


def test_labels_select_studies(ids: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert document(capfd, "label", ids[0], "nightly")["labels"] == ["nightly"]
    assert main(("study", "label", ids[0], "a b")) == 0
    assert "Labels of study" in capfd.readouterr().out
    assert main(("study", "label", ids[1], "nightly", "-q")) == 0
    assert listed(capfd, "--label", "nightly") == ids[:2]
    assert listed(capfd, "--label", "nightly", "--label", "a b") == ids[:1]
    assert listed(capfd, "--label", "nightly", "--label", "other") == ["No"]
    assert document(capfd, "list", "--limit", "3")["studies"][0]["labels"] == ["a b", "nightly"]
    assert main(("study", "show", ids[0])) == 0
    assert "labels   a b, nightly" in capfd.readouterr().out
    assert document(capfd, "label", ids[0], "nightly", "--remove")["labels"] == ["a b"]


def test_prune_deletes_only_with_yes(ids: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(("study", "prune", "--keep-last", "1")) == 0
    out = capfd.readouterr().out
    assert "Would delete 2 studies" in out and "--yes" in out
    assert ids[0] in out and ids[2] not in out
    assert listed(capfd) == ids
    found = document(capfd, "prune", "--older-than", "1d", "--keep-last", "1", "--yes")
    assert found["applied"] and [one["id"] for one in found["studies"]] == ids[:2]
    assert found["freed_bytes"] > 0
    assert listed(capfd) == ids[2:]
    assert main(("study", "prune", "--keep-last", "1")) == 0
    assert "nothing to delete" in capfd.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("prune", "--keep-last", "0", "--samples", "thin", "--yes"), ("compact", "--no-vacuum")],
)
def test_damaged_study_is_left_out_with_status_1(
    ids: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    connection = sqlite3.connect(tmp_path / "assay.db")
    with connection:
        connection.execute(
            "UPDATE stratum SET document = '{', conditions = NULL, host = NULL WHERE study = ?",
            (ids[1],),
        )
    connection.close()
    assert main(("study", *words, "--json")) == 1
    found = json.loads(capfd.readouterr().out)
    assert_valid(f"study-{words[0]}", found)
    (kept,) = found["kept" if words[0] == "prune" else "left_out"]
    assert (kept["id"], kept["damaged"]) == (ids[1], True)
    assert main(("study", *words)) == 1
    out = capfd.readouterr().out
    assert f"Cannot read study {ids[1]}" in out and ids[0] not in out


def test_compact_states_sizes(ids: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(("study", "compact")) == 0
    assert "the store takes" in capfd.readouterr().out
    assert document(capfd, "compact", "--no-vacuum")["vacuumed"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "--limit", "0"), "invalid number of studies"),
        (("list", "--limit", "9" * 30), "invalid number of studies"),
        (("list", "--since", "yesterday"), "invalid date"),
        (("list", "--until", "2026-02-30"), "invalid date"),
        *(
            (("list", option, "1", option, "2"), f"{option} takes one value and is given twice")
            for option in ("--limit", "--command", "--since", "--until", "--machine")
        ),
        (("list", "--since", "3x"), "units: d, h, m, s"),
        (("list", "--since", "1h", "--until", "2h"), "--since 1h is not before --until 2h"),
        (("list", "--since", "2026-11-28", "--until", "2026-11-27"), "no study can match"),
        (("list", "--older-than", "3d"), "takes no --older-than"),
        (("show", "last", "--limit", "3"), "takes no --limit"),
        (("prune",), "needs an age"),
        (("prune", "--older-than", "old"), "invalid age"),
        (("prune", "--older-than", "90", "--yes"), "Write a unit"),
        (("prune", "--keep-last", "-1"), "keep-last"),
        (("prune", "last", "--keep-last", "1"), "takes no study"),
        (("compact", "last"), "takes no study"),
        (("label", "last"), "needs a study and a label"),
        (("label", "last", " "), "Invalid label"),
        (("label", "none", "x"), "Unknown study"),
        (("label", "last", "nope", "--remove"), "has no label 'nope'"),
    ],
)
def test_invalid_words_are_refused(
    ids: list[str], words: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(("study", *words))
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    assert message in capfd.readouterr().err


def test_dates_are_days_times_or_ages() -> None:
    begin = datetime.datetime(2026, 11, 28).timestamp()
    assert begin_of("--since", "2026-11-28", NOW_S) == begin
    assert end_of("--until", "2026-11-28", NOW_S) - begin in (23 * 3600, DAY_S, 25 * 3600)
    assert end_of("--until", "2026-11-28 14:30", NOW_S) == begin + 14.5 * 3600
    assert begin_of("--since", "2d", NOW_S) == end_of("--until", "2d", NOW_S) == NOW_S - 2 * DAY_S
    with pytest.raises(InvalidInputError, match="invalid date"):
        begin_of("--since", "9999-99-99", NOW_S)
    assert begin_of("--since", "20261128", NOW_S) == begin
    with pytest.raises(InvalidInputError, match="invalid date"):
        begin_of("--since", "2026", NOW_S)
    assert end_of("--until", "9998-12-31", NOW_S) > NOW_S


def test_list_reads_no_sample_and_loads_only_the_store(ids: list[str]) -> None:
    code = (
        "import sqlite3, sys\n"
        "class Traced(sqlite3.Connection):\n"
        "    def __init__(self, *words, **more):\n"
        "        super().__init__(*words, **more)\n"
        "        self.set_trace_callback(lambda text: print(text, file=sys.stderr))\n"
        "connect = sqlite3.connect\n"
        "sqlite3.connect = lambda *words, **more: connect(*words, factory=Traced, **more)\n"
        "from assay.cli.main import main\n"
        "main(['study', 'list', '--limit', '2'])\n"
        "print(*sorted(n for n in sys.modules if n in ('numpy', 'scipy', 'assay.study.session',"
        " 'assay.search', 'assay.api.composition')))\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == ""
    assert "content" not in process.stderr and "FROM study" in process.stderr
