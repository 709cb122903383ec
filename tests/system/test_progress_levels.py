"""Reported values that are no speed, programs that hang after their first reports, and outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

LEVELS = """
import random, sys, time
for step in range(1, 41):
    time.sleep(random.uniform(0.002, 0.02))
    print(f"step {step} {sys.argv[1]}: {0.9 if sys.argv[1] == 'acc' else 2.0 / step + 0.1:.4f}",
          flush=True)
"""
HANGING = """
import sys, time
for step in range(1, 2000):
    time.sleep(0.02 / int(sys.argv[1]))
    print(f"step {step} samples/s: {50 * int(sys.argv[1])}", flush=True)
    if step == 12 and sys.argv[1] == "3":
        time.sleep(100)
"""


REACHING = """
import sys, time
for step in range(1, 41):
    time.sleep(0.002)
    print(f"loss: {2.0 / step + (0.5 if sys.argv[1] == '3' else 0.0):.4f}", flush=True)
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.parametrize(("name", "low", "high"), [("acc", 0.9, 0.9), ("loss", 0.15, 2.1)])
def test_level_has_no_relation_to_the_time_of_a_step(
    cli: CommandLine, tmp_path: Path, name: str, low: float, high: float
) -> None:
    (tmp_path / "levels.py").write_text(LEVELS)
    answer = cli(
        "measure",
        *("--runs", "3", "--progress", f"{name}={name}: ([0-9.]+)", "--goal", f"{name}=lower"),
        *("--", sys.executable, "levels.py", name),
    )
    assert answer.status == 0, answer.err
    for sample in cli.documents():
        assert low - 1e-9 <= sample["metrics"][name] <= high + 1e-9


def test_program_that_hangs_after_reports_is_not_faster(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGING)
    program = f"{sys.executable} hanging.py"
    answer = cli(
        *("compare", "--budget", "60s", "--timeout", "3s", "--grace", "0s"),
        *("--until", "steady:40", "--progress", "sps=samples/s: ([0-9.]+)", "--goal", "higher"),
        *(f"{program} 1", f"{program} 3"),
    )
    assert answer.status != 0
    assert "hanging.py 3' did not end in any launch" in answer.err
    assert "no value of sps in the last" in answer.err
    outcomes = {
        sample["outcome"] for sample in cli.documents() if sample["launch"]["arm"][-1] == "3"
    }
    assert outcomes == {"timed_out"}


def test_pattern_without_a_group_is_refused_before_a_launch(cli: CommandLine) -> None:
    answer = cli(
        "measure", "--progress", "sps=samples/s: [0-9.]+", "--goal", "higher", "--", "true"
    )
    assert answer.status == 2
    assert "the pattern has no group" in answer.err


def test_arm_that_never_reaches_a_level_is_named(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "reaching.py").write_text(REACHING)
    level = "time_to(loss<=0.3)"
    words = ("--progress", "loss=loss: (.*)", "--metric", level, "--objective", level)
    program = f"{sys.executable} reaching.py"
    arms = (f"{program} 1", f"{program} 2", f"{program} 3")
    answer = cli("compare", *words, "--runs", "30", "--json", *arms)
    assert answer.status == 0, answer.err
    (claim,) = answer.document["claims"]
    assert claim["b"].endswith("reaching.py 2")
    notes = [note for note in answer.document["notes"] if "never reached" in note]
    assert len(notes) == 1
    assert "reaching.py 3 never reached loss<=0.3 in " in notes[0]
    assert notes[0].endswith(", was 0.55")


def test_search_whose_default_never_reaches_a_level_states_its_last_value(
    cli: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "reaching.py").write_text(REACHING)
    level = "time_to(loss<=0.001)"
    words = ("--progress", "loss=loss: (.*)", "--metric", level, "--objective", level)
    answer = cli(
        *("tune", *words, "--runs", "30", "arg.n=1,2", "--"),
        *(sys.executable, "reaching.py", "{n}"),
    )
    assert answer.status == 2
    assert "never reached loss<=0.001; its last value" in answer.err
    assert "was 0.05." in answer.err
    assert "Choose a higher level than 0.001" in answer.err


@pytest.mark.parametrize(
    ("value", "cause"),
    [("nan", "All 3 values of loss are NaN"), ("low", "None of the 3 matches of the pattern")],
)
def test_values_that_are_no_numbers_are_shown_with_their_lines(
    cli: CommandLine, value: str, cause: str
) -> None:
    program = f"for i in 1 2 3; do echo loss: {value}; done"
    pattern = ("--progress", r"loss=loss: (\S+)", "--runs", "3")
    answer = cli("measure", *pattern, "--", "sh", "-c", program)
    assert answer.status == 2
    assert cause in answer.err
    assert f"'loss: {value}'" in answer.err
