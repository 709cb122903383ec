"""Studies of programs that report values while they run: sources, ends and answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, leaves, nothing_left

from assay.machine.reader import read_machine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

JOB = (sys.executable, str(Path(__file__).with_name("reporting_job.py")))
SPEED = ("--progress", r"sps=step (?P<step>\d+) sps: (?P<value>[-+.\w]+)", "--goal", "sps=higher")
SHORT = ("--until", "steady:20")
STEPS = 2000
"""Steps of a whole program, which takes 20 s."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def of_stage(cli: CommandLine, *stages: str) -> list[dict[str, Any]]:
    """Return the stored samples of stages."""
    return [sample for sample in cli.documents() if sample["launch"]["stage"] in stages]


def evidence(sample: dict[str, Any], kind: str) -> str:
    """Return the note of the first evidence whose kind begins with a text; empty without one."""
    found = (e.get("note", "") for e in sample["evidence"] if e["kind"].startswith(kind))
    return next(found, "")


def assert_ended_early(cli: CommandLine, launches: int, name: str = "sps") -> None:
    """Assert that all launches ended by their rule, with a steady part and a series."""
    samples = cli.documents()
    assert len(samples) == launches
    for sample in samples:
        assert sample["outcome"] == "enough"
        assert sample["metrics"][name] > 0.0
        assert sample["steady"][name]["end_step"] < STEPS
        assert 3 <= len(sample["series"][name]["steps"]) <= 256
    for sample in samples:
        if "steady_steps" not in sample["launch"]["end"]:
            continue  # a first look
        part = sample["steady"][name]
        assert 2 < part["end_step"] - part["begin_step"] <= 23


# --- sources --------------------------------------------------------------------------------------


@pytest.mark.rotating
@pytest.mark.parametrize("to", ["lines", "errors"])
def test_lines_of_each_stream_end_launches(cli: CommandLine, to: str) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, *SHORT, "--", *JOB, STEPS, f"to={to}")
    assert answer.status == 0, answer.err
    assert "sps" in answer.out
    assert_ended_early(cli, 3)


@pytest.mark.rotating
def test_frames_of_a_known_format_end_launches(cli: CommandLine) -> None:
    words = ("--progress", "tqdm", "--progress", "tqdm.loss", *SHORT, "--", *JOB, STEPS)
    answer = cli("measure", "--runs", "3", *words, "to=frames")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3, "steps_per_s")
    assert all("loss" in sample["metrics"] for sample in cli.documents())


@pytest.mark.rotating
def test_records_of_the_channel_end_launches(cli: CommandLine) -> None:
    words = ("--progress", "sps", "--goal", "higher", *SHORT, "--", *JOB, STEPS, "to=channel")
    answer = cli("measure", "--runs", "3", *words)
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)


@pytest.mark.rotating
@pytest.mark.parametrize("to", ["csv", "jsonl"])
def test_values_of_a_file_end_launches(cli: CommandLine, tmp_path: Path, to: str) -> None:
    file = tmp_path / f"log.{to}"
    words = ("--progress", "sps", "--progress", "loss", "--progress-file", str(file), *SHORT)
    answer = cli(
        *("measure", "--runs", "3", *words, "--goal", "higher"),
        *("--", *JOB, STEPS, f"to={to}", f"file={file}"),
    )
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.rotating
def test_time_out_with_steady_values_is_enough(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, "--timeout", "1.5s", "--", *JOB, STEPS)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert [sample["outcome"] for sample in samples] == ["enough"] * 3
    assert all(sample["metrics"]["sps"] > 0.0 for sample in samples)


@pytest.mark.rotating
def test_program_that_ends_before_its_rule_gives_a_value(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, "--until", "steady:900000", "--", *JOB, 60)
    assert answer.status == 0, answer.err
    samples = cli.documents()
    assert [sample["outcome"] for sample in samples] == ["ok"] * 3
    assert all(sample["metrics"]["sps"] > 0.0 for sample in samples)


@pytest.mark.rotating
def test_first_look_takes_a_tenth_of_the_budget_at_most(cli: CommandLine) -> None:
    words = ("--budget", "12s", "--runs", "2", *SPEED, "--until", "auto", "--", *JOB)
    answer = cli("measure", *words, STEPS, "slow=10")  # 12 steps, of 120 of a usual first look
    assert answer.status in (0, 3), answer.err
    first = cli.documents()[0]
    assert first["launch"]["end"]["max_s"] == pytest.approx(1.2)
    assert first["outcome"] == "enough"
    assert first["steady"]["sps"]["end_step"] < 100


@pytest.mark.rotating
def test_program_that_ignores_the_request_to_end_is_killed(cli: CommandLine) -> None:
    before = leaves()
    words = ("measure", "--runs", "3", *SPEED, *SHORT, "--grace", "0.2s", "--", *JOB, STEPS)
    answer = cli(*words, "term=ignore")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)
    assert "had to be killed" in answer.out
    nothing_left(cli, before)


@pytest.mark.rotating
def test_values_after_the_request_to_end_do_not_count(cli: CommandLine) -> None:
    words = ("measure", "--runs", "2", *SPEED, *SHORT, "--grace", "5s", "--", *JOB, 260)
    assert cli(*words, "term=ignore").status == 0
    last = cli.documents()[-1]
    assert last["outcome"] == "enough"
    assert last["series"]["sps"]["steps"][-1] < 200


@pytest.mark.rotating
def test_exit_status_after_the_request_to_end_is_no_failure(cli: CommandLine) -> None:
    answer = cli("measure", "--runs", "3", *SPEED, *SHORT, "--", *JOB, STEPS, "term=3")
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 3)


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_while_a_launch_is_being_ended_keeps_the_study(
    cli: CommandLine, number: signal.Signals
) -> None:
    before = leaves()
    words = ("measure", "--runs", "9", *SPEED, *SHORT, "--grace", "20s", "--", *JOB, 6000)
    with cli.begun(*words, "term=ignore") as process:
        # The first look is asked to end after about two seconds, and ignores it.
        time.sleep(4.0)
        process.send_signal(number)
        time.sleep(1.0)
        process.send_signal(number)
        assert process.wait(30) != 0
    nothing_left(cli, before)
    study = cli.studies()[0]
    assert study["status"] == "interrupted"


# --- verbs ----------------------------------------------------------------------------------------


@pytest.mark.rotating
def test_search_compares_equally_short_launches(cli: CommandLine) -> None:
    words = ("--budget", "25s", *SPEED, "--until", "auto", "--json", "arg.slow=1,1.5")
    answer = cli("tune", *words, "--", *JOB, STEPS, "slow={slow}", timeout_s=300)
    assert answer.status in (0, 3), answer.err
    samples = of_stage(cli, "search", "reduce", "confirm")
    assert samples
    blocks: dict[int, set[tuple[float, float]]] = {}
    for sample in samples:
        end = sample["launch"]["end"]
        rule = end["warmup_steps"], end["steady_steps"]
        blocks.setdefault(sample["launch"]["block"], set()).add(rule)
        assert sample["outcome"] == "enough"
    assert all(len(rules) == 1 for rules in blocks.values())


@pytest.mark.rotating
def test_comparison_decides_by_short_launches(cli: CommandLine, tmp_path: Path) -> None:
    arms = ("--arm", "arg.slow=1.5", "--arm", "arg.slow=1")
    words = ("--runs", "16", *SPEED, *SHORT, *arms, "--json", "--", *JOB, STEPS, "slow={slow}")
    answer = cli("compare", *words, timeout_s=300)
    assert answer.status == 0, answer.err
    claim = answer.document["claims"][0]
    assert claim["ratio"] == pytest.approx(1.5, rel=0.2)
    study = answer.document["study"]
    bundle = tmp_path / "bundle.zip"
    for words in (
        ("study", "export", study, "--bundle", str(bundle)),
        ("study", "verify", str(bundle)),
        ("study", "show", study),
        ("report", study, "--output", str(tmp_path / "report.html")),
    ):
        done = cli(*words)
        assert done.status == 0, (words, done.err)


@pytest.mark.rotating
def test_resumed_block_keeps_its_rule(cli: CommandLine) -> None:
    arms = ("--arm", "arg.slow=1.5", "--arm", "arg.slow=1")
    words = ("--runs", "16", *SPEED, *SHORT, *arms, "--", *JOB, STEPS, "slow={slow}")
    with cli.begun("compare", *words) as process:
        cli.wait_for(5)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    kept = len(cli.documents())
    assert cli("study", "resume", cli.studies()[0]["id"], timeout_s=300).status == 0
    samples = of_stage(cli, "confirm")
    assert len(samples) > kept - 4
    for block in {sample["launch"]["block"] for sample in samples}:
        rules = [s["launch"]["end"] for s in samples if s["launch"]["block"] == block]
        assert all(rule == rules[0] for rule in rules)


@pytest.mark.rotating
def test_sweep_reads_progress_from_its_file(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    command = [*JOB, str(STEPS), "slow={slow}"]
    file.write_text(
        f"""\
[workload]
command = {command}
progress = ['sps=step (?P<step>\\d+) sps: (?P<value>[.0-9]+)']
until = "steady:20"
goal = "higher"
[settings]
"arg.slow" = [1, 1.5]
[design]
repeats = 3
"""
    )
    answer = cli("sweep", str(file), "--json", timeout_s=300)
    assert answer.status == 0, answer.err
    assert_ended_early(cli, 8)


@pytest.mark.rotating
@pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs two cores")
def test_launches_side_by_side_end_by_their_rules(cli: CommandLine) -> None:
    words = ("--runs", "24", "--parallel", "2", *SPEED, *SHORT, "arg.slow=1,1.5,2")
    answer = cli("tune", *words, "--", *JOB, STEPS, "slow={slow}", timeout_s=300)
    assert answer.status in (0, 3), answer.err
    assert {sample["outcome"] for sample in cli.documents()} == {"enough"}


@pytest.mark.rotating
@pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs two cores")
@pytest.mark.parametrize("to", ["lines", "channel"])
def test_rates_of_instances_are_summed(cli: CommandLine, to: str) -> None:
    source = SPEED if to == "lines" else ("--progress", "sps", "--goal", "sps=higher")
    words = ("--runs", "3", *source, *SHORT, "--with", "instances=2", "--", *JOB, STEPS)
    answer = cli("measure", *words, f"to={to}")
    assert answer.status == 0, answer.err
    for sample in cli.documents():
        assert sample["outcome"] == "enough"
        # Each prints 100 samples/s.
        assert sample["metrics"]["sps"] == pytest.approx(200, rel=0.3)


# --- bad input ------------------------------------------------------------------------------------


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
@pytest.mark.parametrize(
    "words",
    [
        ("--objective", "step_s", "--metric", "step_s"),
        ("--require", "at(step=50).loss<=0.5", "--metric", "at(step=50).loss"),
        ("--objective", "sps:spread"),
        ("--objective", "sps:median"),
        ("--null",),
    ],
)
def test_comparison_with_more_options(cli: CommandLine, words: tuple[str, ...]) -> None:
    loss = ("--progress", "loss=loss: ([0-9.]+)")
    arms = ("--arm", "arg.slow=1.5", "--arm", "arg.slow=1")
    answer = cli(
        *("compare", "--runs", "16", *SPEED, *loss, "--until", "steady:60", *words, *arms),
        *("--", *JOB, STEPS, "slow={slow}"),
        timeout_s=300,
    )
    assert answer.status in (0, 3), answer.err
    assert {sample["outcome"] for sample in cli.documents()} == {"enough"}


@pytest.mark.rotating
def test_wall_time_decides_by_whole_launches(cli: CommandLine) -> None:
    words = ("--runs", "3", *SPEED, "--objective", "wall_s", "--metric", "final(sps)")
    answer = cli("measure", *words, "--", *JOB, 100)
    assert answer.status == 0, answer.err
    for sample in cli.documents():
        assert sample["outcome"] == "ok"
        assert sample["metrics"]["final(sps)"] == pytest.approx(100.0)
        assert sample["metrics"]["sps"] > 0.0


@pytest.mark.rotating
def test_pareto_front_with_reported_values(cli: CommandLine) -> None:
    objectives = ("--objective", "sps", "--objective", "wall_s")
    words = ("--budget", "25s", *SPEED, *objectives, "arg.slow=1,2")
    answer = cli("tune", *words, "--", *JOB, 60, "slow={slow}", timeout_s=300)
    assert answer.status in (0, 3), answer.err
    assert "internal error" not in answer.err


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
