"""Functions build the same typed requests as the command line."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

import assay
from assay.api.functions.fields import progress_of, workload_options
from assay.api.functions.new_studies import compare_request, measure_request, tune_request
from assay.api.functions.progress import with_sources
from assay.api.functions.single_launches import run_request
from assay.api.functions.sweep_request import sweep_request
from assay.api.options.workload import workload_request
from assay.cli.arguments import compare as cli_compare
from assay.cli.arguments import measure as cli_measure
from assay.cli.arguments import run as cli_run
from assay.cli.arguments import sweep as cli_sweep
from assay.cli.arguments import tune as cli_tune
from assay.cli.parsing.parser import parse
from assay.records import Goal, Progress, Until


def test_tune_builds_the_request_of_the_command_line() -> None:
    words = [
        *("tune", "threads=1,2", "arg.n=1..8:log2", "--budget", "90s", "--runs", "50"),
        *("--metric", "fps=FPS: (.*)", "--objective", "fps", "--goal", "higher", "--null"),
        *("--constraint", "threads * arg.n <= 8", "--margin", "2%", "--seed", "3"),
        *("--check", "done", "--timeout", "5s", "--grace", "2s", "--limit", "procs=64"),
        *("--warm-start", "auto", "--observe", "memory", "--disturbed-above", "never"),
        *("--outputs-may-differ", "--setup", "true", "--", "sh", "-c", "{n}"),
    ]
    made = tune_request(
        ["sh", "-c", "{n}"],
        {"threads": [1, 2], "arg.n": assay.Range(1, 8, log=True, base=2)},
        {
            "budget": timedelta(seconds=90),
            "runs": 50,
            "metrics": {"fps": "FPS: (.*)"},
            "objective": "fps",
            "goal": "higher",
            "null": True,
            "constraints": "threads * arg.n <= 8",
            "margin": 0.02,
            "seed": 3,
            "check": "done",
            "timeout": 5,
            "grace": 2.0,
            "limit": {"procs": 64},
            "warm_start": "auto",
            "observe": ["memory"],
            "disturbed_above": "never",
            "outputs_may_differ": True,
            "setup": "true",
        },
    )
    assert made == cli_tune.tune_request(parse(words))


def test_compare_builds_the_request_of_the_command_line() -> None:
    words = ["compare", "sleep 1", "sleep 2", "--runs", "9", "--warmup", "2", "--name", "a"]
    made = compare_request(["sleep 1", "sleep 2"], {"runs": 9, "warmup": 2, "names": "a"})
    assert made == cli_compare.compare_request(parse(words))
    made = compare_request([["sleep", "1"], ["sleep", "2"]], {"runs": 9, "warmup": 2, "names": "a"})
    assert made == cli_compare.compare_request(parse(words))


def test_compare_of_arms_builds_the_request_of_the_command_line() -> None:
    words = ["compare", "--arm", "threads=2 nice=1", "--arm", "env.A='b c'", "--", "./app"]
    arms = [{"threads": 2, "nice": 1}, {"env.A": "b c"}]
    made = compare_request(["./app"], {"arms": arms})
    expected = cli_compare.compare_request(parse(words))
    assert made.arms == ("threads=2 nice=1", "'env.A=b c'")
    assert msgspec.structs.replace(made, arms=expected.arms) == expected


def test_measure_builds_the_request_of_the_command_line() -> None:
    words = ["measure", "nice=1", "--precision", "0.5%", "--require", "wall_s<=2s", "--", "true"]
    made = measure_request("true", {"nice": 1}, {"precision": 0.005, "require": "wall_s<=2s"})
    assert made == cli_measure.measure_request(parse(words))


def test_sweep_builds_the_request_of_the_command_line(tmp_path: Path) -> None:
    words = ["sweep", "e.toml", "--budget", "1h", "--seed", "4", "--disturbed-above", "20%"]
    made = sweep_request("e.toml", {"budget": 3600, "seed": 4, "disturbed_above": 0.2})
    assert made == cli_sweep.sweep_request(parse(words))
    assert sweep_request(tmp_path / "e.toml", {}).file == str(tmp_path / "e.toml")


def test_run_builds_the_request_of_the_command_line() -> None:
    words = ["run", "nice=5", "--from", "abc", "--point", "2", "--unproven", "--", "true"]
    made = run_request(["true"], {"nice": 5}, {"study": "abc", "point": 2, "unproven": True})
    assert made == cli_run.run_request(parse(words))


def test_defaults_are_those_of_the_command_line() -> None:
    assert tune_request("true", None, {}) == cli_tune.tune_request(parse(["tune", "--", "true"]))
    expected = cli_measure.measure_request(parse(["measure", "--", "true"]))
    assert measure_request(["true"], None, {"budget": None, "check": None}) == expected


def test_command_for_a_shell_is_one_text() -> None:
    words = ["measure", "--shell", "--", "true | cat"]
    expected = cli_measure.measure_request(parse(words))
    assert measure_request("true | cat", None, {"shell": True}) == expected
    assert measure_request(["true | cat"], None, {"shell": True}) == expected
    with pytest.raises(assay.InvalidInputError, match="one text"):
        measure_request(["true", "x"], None, {"shell": True})
    with pytest.raises(assay.InvalidInputError, match="only a shell"):
        measure_request("true | cat", None, {})


@pytest.mark.parametrize("commands", ["xz f", ["xz f"], [["xz", "f"]], []])
def test_comparison_of_a_single_command_is_refused(commands: object) -> None:
    with pytest.raises(assay.InvalidInputError, match="at least two commands"):
        compare_request(commands, {})  # type: ignore[arg-type]


def test_commands_and_arms_are_not_mixed() -> None:
    with pytest.raises(assay.InvalidInputError, match="cannot be mixed"):
        compare_request([["a"], ["b"]], {"arms": ["nice=1"]})


@pytest.mark.parametrize("command", [[], [""], ""])
def test_missing_command_is_refused(command: object) -> None:
    with pytest.raises(assay.InvalidInputError, match="command is missing"):
        measure_request(command, None, {})  # type: ignore[arg-type]


def test_progress_becomes_the_objective_with_its_source() -> None:
    progress = assay.Progress("sps", r"samples/s: ([0-9.]+)", goal="higher", unit="1/s")
    given = {"progress": progress, "require": "sps>=2"}
    options = workload_options(given, compares=True)
    metrics = with_sources(workload_request(options, ("a",)).metrics, progress_of(given))
    first = metrics[0]
    assert (first.name, first.unit, first.goal) == ("sps", "1/s", Goal.HIGHER)
    assert first.pattern is None
    assert first.progress == progress.source
    assert first.progress.pattern == r"samples/s: ([0-9.]+)"


@pytest.mark.parametrize("name", ["", "a b", "a-b"])
def test_progress_with_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(assay.InvalidInputError, match="name of a metric"):
        assay.Progress(name)


def test_progress_with_an_invalid_pattern_or_goal_is_refused() -> None:
    with pytest.raises(assay.InvalidInputError, match="pattern"):
        assay.Progress("sps", "(")
    with pytest.raises(assay.InvalidInputError, match="goal"):
        assay.Progress("sps", goal="faster")


def test_progress_and_until_are_those_of_the_command_line() -> None:
    speed = assay.Progress("sps", r"samples/s: ([0-9.]+)", goal="higher")
    request = tune_request(["true"], None, {"progress": speed, "until": "steady:200"})
    objective = request.workload.metrics[0]
    assert (objective.name, objective.goal) == ("sps", Goal.HIGHER)
    assert objective.progress == speed.source
    assert objective.pattern is None
    assert request.until == Until(steady_steps=200.0)


def test_metric_derived_from_progress_is_read() -> None:
    given = {"progress": assay.Progress("loss", file="log.csv"), "metrics": ["final(loss)"]}
    metrics = {m.name: m for m in tune_request(["true"], None, given).workload.metrics}
    assert metrics["loss"].progress == Progress(file="log.csv")
    assert metrics["final(loss)"].derivation is not None


def test_until_without_progress_is_refused() -> None:
    with pytest.raises(assay.InvalidInputError, match="needs whole launches"):
        tune_request(["true"], None, {"until": "auto"})
