"""``assay study calibrate`` with real launches, and its noise floor in a later comparison."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

pytestmark = pytest.mark.system

QUICK = ("--disturbed-above", "never")
"""Options that accept other load of this host."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_built_in_load_calibrates_later_comparison(cli: CommandLine) -> None:
    answer = cli("study", "calibrate", "--runs", "61", "--json", *QUICK)
    assert answer.status == 0, answer.err
    found = answer.document
    assert found["blocks"] == 30
    low, high = found["noise_floor"]["ratio_ci"]
    assert low < high
    result = found["calibration"]
    assert 0.001 < result["median"] < 10.0
    assert 0.0 <= result["false_verdicts"]["share"] <= 1.0
    assert len(result["gains"]) == 3
    (head,) = cli.studies()
    assert (head["id"], head["kind"], head["status"]) == (found["study"], "calibrate", "done")

    compared = ("compare", "--runs", "16", *QUICK, "sleep 0.005", "sleep 0.05")
    document = cli(*compared, "--json").document
    assert document["noise_floor"]["ratio_ci"] == [low, high]
    origin = document["noise_floor"]["calibrated"]
    assert origin["study"] == found["study"]
    assert origin["command"] == "the built-in load"
    text = cli("study", "show", document["study"]).out
    assert f"(calibrated {origin['date']} with the built-in load)" in " ".join(text.split())
    page = cli("report", document["study"], "-o", "page.html")
    assert page.status == 0, page.err
    assert f"calibrated {origin['date']}" in (cli.folder / "page.html").read_text()

    own = cli(*compared, "--null", "--runs", "30", "--json").document
    assert "calibrated" not in own["noise_floor"], "a floor of its own comes first"


@pytest.mark.rotating
def test_custom_command_is_named(cli: CommandLine) -> None:
    cli("study", "calibrate", "--runs", "15", *QUICK, "--", "sleep", "0.002")
    text = cli("compare", "--runs", "16", *QUICK, "sleep 0.005", "sleep 0.05").out
    assert "with sleep 0.002)" in " ".join(text.split())


@pytest.mark.slow
def test_interrupted_calibration_is_resumed(cli: CommandLine) -> None:
    before = leaves()
    words = ("study", "calibrate", "--runs", "60", *QUICK, "--", "sleep", "0.02")
    with cli.begun(*words) as process:
        cli.wait_for(samples=9)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 128 + signal.SIGINT
    made = len(cli.samples())
    assert 9 <= made < 60
    assert cli.studies()[0]["status"] == "interrupted"
    answer = cli("study", "resume", "last", "--json")
    assert answer.status == 0, answer.err
    assert answer.document["launches"] == 59, "29 blocks of two, and the warm-up"
    assert len(cli.samples()) == 59
    more = cli("study", "resume", "last", "--runs", "10", "--json").document
    assert more["blocks"] == 34
    nothing_left(cli, before)


@pytest.mark.slow
def test_bundle_of_calibration_is_verified(cli: CommandLine) -> None:
    cli("study", "calibrate", "--runs", "49", *QUICK, "--", "sleep", "0.002")
    made = cli("study", "export", "last", "--bundle", "all.zip")
    assert made.status == 0, made.err
    checked = cli("study", "verify", "all.zip")
    assert checked.status == 0, checked.out + checked.err
    assert "follows from its" in checked.out


@pytest.mark.rotating
def test_insufficient_budget_is_refused(cli: CommandLine) -> None:
    answer = cli("study", "calibrate", "--runs", "6", "--", "sleep", "0.001")
    assert answer.status == 3
    assert "too small for a calibration" in answer.err
    assert "--runs 13" in answer.err
