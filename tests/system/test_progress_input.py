"""Studies of programs whose reports are missing, strange, late or very many."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from reporting_studies import JOB, SHORT, SPEED, STEPS

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
@pytest.mark.parametrize(
    "verb",
    [("measure",), ("compare", "--arm", "arg.slow=1", "--arm", "arg.slow=2"), ("tune",)],
)
def test_pattern_without_a_match_ends_the_study(cli: CommandLine, verb: tuple[str, ...]) -> None:
    space = ("arg.slow=1,2",) if verb == ("tune",) else ()
    value = "slow={slow}" if len(verb) > 1 or space else "slow=1"
    answer = cli(
        *(*verb, "--budget", "15s", "--progress", "x=speed ([0-9]+)", "--goal", "higher", *space),
        *("--", *JOB, 100_000, value),
    )
    assert answer.status == 2
    assert "matches none of" in answer.err
    assert "sps: " in answer.err  # the last lines
    assert "Correct the pattern" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.rotating
def test_channel_without_a_writer_ends_the_study(cli: CommandLine) -> None:
    answer = cli("measure", "--budget", "10s", "--progress", "sps", "--", *JOB, STEPS)
    assert answer.status == 2
    assert "'sps'" in answer.err
    assert "channel" in answer.err


@pytest.mark.rotating
@pytest.mark.parametrize("steps", [1, 2])
def test_program_with_too_few_reports_is_explained(cli: CommandLine, steps: int) -> None:
    answer = cli("measure", "--runs", "4", *SPEED, "--", *JOB, steps)
    assert answer.status == 2
    assert f"too few values: {steps}" in answer.err
    assert "--metric sps=REGEX" in answer.err


@pytest.mark.rotating
@pytest.mark.parametrize(
    "values", ["100,nan,inf,-inf", "0,100", "-5,100,90", "0", "-1", "100,90,80,1e300"]
)
def test_strange_values_give_an_answer(cli: CommandLine, values: str) -> None:
    arms = ("--arm", "arg.slow=1.5", "--arm", "arg.slow=1")
    answer = cli(
        *("compare", "--runs", "16", *SPEED, *SHORT, *arms, "--", *JOB, 400),
        *("slow={slow}", f"values={values}"),
        timeout_s=300,
    )
    assert answer.status in (0, 1, 2, 3), answer.err
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err


@pytest.mark.rotating
def test_program_that_buffers_is_told_how_to_flush(cli: CommandLine) -> None:
    words = ("--runs", "2", *SPEED, *SHORT, "--", "env", "-u", "PYTHONUNBUFFERED", *JOB, 400)
    answer = cli("measure", *words, "flush=0")
    assert answer.status in (0, 2)
    assert "PYTHONUNBUFFERED=1" in answer.out + answer.err


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--until", "steady:1e9"), "invalid value 'steady:1e9'"),
        (("--until", "steady:0"), "invalid value 'steady:0'"),
        (("--until", "soon"), "invalid value 'soon'"),
        (("--until", "auto", "--objective", "wall_s"), "needs whole launches"),
        (("--until", "auto", "--metric", "final(sps)"), "needs whole launches"),
        (("--progress", "tqm"), "Did you mean tqdm"),
        (("--progress", "sps"), "given twice"),
        (("--metric", "time_to(los<=1)"), "unknown metric 'los'"),
    ],
)
def test_contradictions_are_refused(cli: CommandLine, words: tuple[str, ...], message: str) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, *words, "--", *JOB, 50)
    assert answer.status == 2
    assert message in answer.err


@pytest.mark.rotating
def test_million_lines_are_read_in_bounded_memory(cli: CommandLine) -> None:
    program = (
        "import sys\n"
        "for i in range(0, 1_000_000, 1000):\n"
        "    print('\\n'.join(f'step {n} sps: 100.0' for n in range(i, i + 1000)), flush=True)\n"
    )
    words = ("measure", "--runs", "2", *SPEED, "--json", "--", sys.executable, "-c", program)
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", *cli.argv(*words)],
        capture_output=True,
        env=cli.env,
        cwd=cli.folder,
        timeout=300,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    sample = cli.documents()[1]
    series = sample["series"]["sps"]
    assert len(series["steps"]) <= 256
    # Output that comes faster than it can be read is left out, with a notice.
    skipped = any(e["kind"].startswith("progress_skipped") for e in sample["evidence"])
    assert sum(series["counts"]) == 1_000_000 or skipped
