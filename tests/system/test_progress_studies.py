"""Studies of programs that report values: Pareto front, confirmation, run, comparison."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from reporting_studies import JOB, SHORT, SPEED

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

STEPS = 300
"""Steps of a whole program: 3 s at full speed."""
TRADE = """
import sys, time
batch = int(sys.argv[1])
for step in range(1, 81):
    time.sleep(0.005)
    print(f"step {step} sps: {100 * batch} loss: {0.1 * batch + 1 / step:.4f}", flush=True)
"""
"""A program whose larger batches are faster and end with a larger loss."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_pareto_front_of_two_reported_values(cli: CommandLine, tmp_path: Path) -> None:
    program = tmp_path / "trade.py"
    program.write_text(TRADE)
    loss = ("--progress", "loss=loss: ([.0-9]+)", "--metric", "final(loss)")
    objectives = ("--objective", "sps", "--objective", "final(loss)")
    answer = cli(
        *("tune", "--json", "--runs", "60", *SPEED, *loss, *objectives, "arg.batch=2,1,4"),
        *("--", sys.executable, "-S", program, "{batch}"),
        timeout_s=300,
    )
    assert answer.status == 0, answer.err
    found = answer.document
    assert found["objectives"] == ["sps", "final(loss)"]
    assert [point["settings"]["arg.batch"] for point in found["pareto_front"]] == [4, 1]
    for point, faster in zip(found["pareto_front"], (True, False), strict=True):
        speed, last = point["claims"]
        assert (speed["ratio"] > 1) == (last["ratio"] > 1) == faster
    ran = cli("run", "--from", found["study"], "--point", "2")
    assert ran.status == 0, ran.err
    assert "sps: 100 " in ran.out


@pytest.mark.rotating
def test_recommendation_by_a_reported_value_is_confirmed_and_run(
    cli: CommandLine, tmp_path: Path
) -> None:
    command = ("--", *JOB, STEPS, "slow={slow}")
    tuned = cli(
        *("tune", "--json", "--runs", "40", *SPEED, *SHORT, "arg.slow=2,1", *command), timeout_s=300
    )
    assert tuned.status == 0, tuned.err
    study = tuned.document["study"]
    confirmed = cli("study", "confirm", study, "--runs", "16", "--json", timeout_s=300)
    assert confirmed.status == 0, confirmed.err
    (claim,) = confirmed.document["claims"]
    assert (claim["metric"], claim["verdict"]) == ("sps", "faster")
    assert claim["ratio"] == pytest.approx(2, rel=0.3)
    own = [s for s in cli.documents() if s["launch"]["stage"] == "confirm"]
    assert "enough" in {sample["outcome"] for sample in own}

    record = tmp_path / "run.json"
    ran = cli("run", "--from", study, "--record", record)
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[-1].startswith(f"step {STEPS} "), "it runs to its end"
    sample = json.loads(record.read_text())
    assert sample["launch"]["configuration"] == {"arg.slow": 1}
    assert sample["outcome"] == "ok"


@pytest.mark.rotating
def test_separate_studies_of_a_reported_value_are_compared(cli: CommandLine) -> None:
    studies = []
    for slow in ("2", "1"):
        words = ("measure", "--json", "--runs", "6", *SPEED, *SHORT, "--with", f"arg.slow={slow}")
        answer = cli(*words, "--", *JOB, STEPS, "slow={slow}")
        assert answer.status == 0, answer.err
        studies.append(answer.document["study"])
    compared = cli("study", "compare", *studies, "--json")
    assert compared.status == 0, compared.err
    document = compared.document
    assert document["metric"] == "sps"
    assert document["ratio"] == pytest.approx(2, rel=0.3)
    text = cli("study", "compare", *studies)
    assert text.status == 0, text.err
    assert "sps" in text.out
    gate = cli("study", "compare", *reversed(studies), "--fail-if", "slower")
    assert gate.status in (0, 1), gate.err
