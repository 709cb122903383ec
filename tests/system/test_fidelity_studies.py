"""Studies that begin with cheap launches."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from json_schemas import assert_valid

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

JOB = ("sh", str(Path(__file__).with_name("fidelity_job.sh")), "{seconds}", "{kind}")
LEVELS = (0.02, 0.1, 0.8)
OPTIONS = (
    "arg.kind=a,b,c,d,e",
    *("--fidelity", "arg.seconds=0.02,0.1,0.8", "--metric", "score=score ([0-9.]+)"),
    *("--metric", "seconds=seconds ([0-9.]+)", "--objective", "score", "--goal", "score=lower"),
    *("--outputs-may-differ", "--disturbed-above", "never"),
)


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def fidelity_of(sample: dict[str, Any]) -> float:
    return float(sample["launch"].get("fidelity", LEVELS[-1]))


@pytest.mark.rotating
def test_search_begins_cheap_and_claims_whole_launches(cli: CommandLine, tmp_path: Path) -> None:
    answer = cli("tune", "--json", "--runs", "36", *OPTIONS, "--", *JOB, timeout_s=120.0)
    assert answer.status == 0, answer.err
    document = answer.document
    assert document["recommendation"]["settings"] == {"arg.kind": "b"}
    assert any("Kendall's tau" in note for note in document["notes"])
    assert [level["value"] for level in document["fidelity"]["levels"]][-1] == LEVELS[-1]
    assert_valid("tune", document)
    samples = cli.documents()
    assert samples
    for sample in samples:
        # The program received the value that the sample names.
        assert sample["metrics"]["seconds"] == fidelity_of(sample)
        low = sample["launch"]["stage"] == "screen"
        assert ("fidelity" in sample["launch"]) == low
        assert "arg.seconds" not in sample["launch"]["configuration"]
    lowest = {s["launch"]["arm"] for s in samples if fidelity_of(s) == LEVELS[0]}
    assert len(lowest) == 5
    report = tmp_path / "report.html"
    assert cli("report", "last", "--output", report).status == 0
    assert "Fidelity of the search" in report.read_text()
    table = tmp_path / "samples.csv"
    assert cli("study", "export", "last", f"--csv={table}").status == 0
    rows = list(csv.DictReader(table.open(newline="")))
    assert [float(row["fidelity"]) for row in rows] == list(map(fidelity_of, samples))
    assert "seconds 0.8 score 80" in cli("run", "--from", "last").out


@pytest.mark.rotating
def test_interrupted_screening_is_resumed(cli: CommandLine) -> None:
    with cli.begun("tune", "--runs", "36", *OPTIONS, "--", *JOB) as study:
        cli.wait_for(4)
        study.send_signal(signal.SIGINT)
        study.wait(timeout=60.0)
    before = cli.documents()
    assert all(sample["launch"]["stage"] in ("survey", "screen") for sample in before)
    answer = cli("study", "resume", "last", timeout_s=120.0)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert samples[: len(before)] == before
    places = [
        (
            sample["launch"]["block"],
            sample["launch"]["position"],
            sample["launch"].get("attempt", 0),
        )
        for sample in samples
    ]
    assert len(set(places)) == len(places)
    assert {"screen", "search", "confirm"} <= {sample["launch"]["stage"] for sample in samples}
    for sample in samples:
        assert sample["metrics"]["seconds"] == fidelity_of(sample)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("arg.secs=0.05,1", "arg.secs has no placeholder"),
        ("arg.kind=a,b", "the search space varies arg.kind as well"),
        ("arg.seconds=1", "a single value"),
        ("threads=1,2", "is not an argument or a variable"),
    ],
)
def test_invalid_fidelity_launches_nothing(cli: CommandLine, option: str, message: str) -> None:
    answer = cli("tune", "arg.kind=a,b", "--fidelity", option, "--", *JOB)
    assert answer.status == 2
    assert message in answer.err
    assert cli.documents() == []
