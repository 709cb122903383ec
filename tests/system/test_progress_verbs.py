"""Verbs whose programs report values: search, comparison, sweep, instances, objectives."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path

import pytest
from command_line import CommandLine
from reporting_studies import JOB, SHORT, SPEED, STEPS, assert_ended_early, of_stage

from assay.machine.reader import read_machine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


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
    bundle, series = tmp_path / "bundle.zip", tmp_path / "speeds.series.csv"
    for words in (
        ("study", "export", study, "-o", str(series)),
        ("study", "export", study, "--bundle", str(bundle)),
        ("study", "verify", str(bundle)),
        ("study", "show", study),
        ("report", study, "--output", str(tmp_path / "report.html")),
    ):
        done = cli(*words)
        assert done.status == 0, (words, done.err)
    with series.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [sample["series"]["sps"]["steps"] for sample in cli.documents()]
    assert [float(row["step"]) for row in rows] == [step for steps in kept for step in steps]
    assert {row["metric"] for row in rows} == {"sps"}


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
@pytest.mark.parametrize("source", ["output", "file"])
def test_sweep_reads_progress_from_its_file(cli: CommandLine, tmp_path: Path, source: str) -> None:
    file, log = tmp_path / "sweep.toml", tmp_path / "log.csv"
    command = [*JOB, str(STEPS), "slow={slow}"]
    keys = "progress = ['sps=step (?P<step>\\d+) sps: (?P<value>[.0-9]+)']"
    if source == "file":
        command += ["to=csv", f"file={log}"]
        keys = f"progress = ['sps']\nprogress_file = '{log}'"
    file.write_text(
        f"""\
[workload]
command = {command}
{keys}
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
