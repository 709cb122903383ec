"""Requirements on real programs: a violating arm does not win, and every verb reports it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

PROGRAM = """
import os, time
kept = bytearray(int(os.environ.get("CHUNK", "1")) << 20)
for at in range(0, len(kept), 4096):
    kept[at] = 1
time.sleep(0.4 / len(kept) * (1 << 20))
print("kept", len(kept))
"""
"""Trades memory for time: 48 MiB take 0.4 s less than 1 MiB."""
QUIET = ("--disturbed-above", "never", "--json", "--outputs-may-differ")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    (tmp_path / "trade.py").write_text(PROGRAM)
    return CommandLine(assay_exec, tmp_path)


COMMAND = (sys.executable, "-S", "-E", "trade.py")
LEAN = ("--require", "peak_anon_bytes<=40MiB")


def verdicts(document: dict[str, object]) -> dict[str, str]:
    found = document["requirements"]
    assert isinstance(found, list)
    return {one["arm"]: one["verdict"] for one in found}


@pytest.mark.rotating
def test_fastest_violating_requirement_is_not_recommended(cli: CommandLine) -> None:
    words = ("env.CHUNK=1,8,48", "--runs", "70")
    answer = cli("tune", *words, *LEAN, *QUIET, "--", *COMMAND)
    assert answer.status == 0, answer.err
    found = answer.document
    assert found["recommendation"]["settings"] == {"env.CHUNK": 8}
    assert found["recommendation"]["sentence"].endswith("and meets peak_anon_bytes<=40MiB.")
    assert verdicts(found) == {"default": "holds", "env.CHUNK=8": "holds"}
    (winner,) = (one for one in found["requirements"] if one["arm"] == "env.CHUNK=8")
    assert winner["bound"] == "<=" and winner["limit"] == 40 * 2**20
    assert winner["satisfied_launches"] == winner["launches"]
    assert winner["worst_value"] < 40 * 2**20
    self_check(cli)


def self_check(cli: CommandLine) -> None:
    """The statement of the study is repeated: shown, in the report, and derived from a bundle."""
    shown = cli("study", "show", "last")
    assert "required  peak_anon_bytes<=40MiB" in shown.out
    assert cli("report", "last", "-o", "page.html").status == 0
    page = (cli.folder / "page.html").read_text()
    assert "Requirements" in page and "peak_anon_bytes&lt;=40MiB" in page
    assert cli("study", "export", "last", "--bundle", "study.zip").status == 0
    verified = cli("study", "verify", "study.zip")
    assert verified.status == 0, verified.out + verified.err
    again = cli("study", "resume", "last", "--json")
    assert verdicts(again.document) == {"default": "holds", "env.CHUNK=8": "holds"}


@pytest.mark.rotating
def test_default_violating_requirement_is_replaced(cli: CommandLine) -> None:
    words = ("env.CHUNK=48,8", "--runs", "60")
    answer = cli("tune", *words, *LEAN, *QUIET, "--", *COMMAND)
    assert answer.status == 0, answer.err
    found = answer.document
    assert found["recommendation"]["settings"] == {"env.CHUNK": 8}
    assert verdicts(found) == {"default": "broken", "env.CHUNK=8": "holds"}
    assert "which the default violates" in found["recommendation"]["sentence"]
    assert "CHUNK=8" in found["recommendation"]["script"]


@pytest.mark.rotating
def test_unmet_requirement_gives_no_recommendation(cli: CommandLine) -> None:
    words = ("env.CHUNK=48,64", "--runs", "40")
    answer = cli("tune", *words, *LEAN, *QUIET, "--", *COMMAND)
    assert answer.status == 0, answer.err
    assert answer.document["recommendation"]["settings"] == {}
    assert verdicts(answer.document)["default"] == "broken"
    ran = cli("run", "--from", "last", "--", *COMMAND)
    assert ran.status == 125
    assert "found no configuration that meets the requirements" in ran.err
    few = cli("tune", *words[:1], "--runs", "3", *LEAN, *QUIET, "--", *COMMAND)
    assert few.status == 0, few.err
    assert few.document["recommendation"]["settings"] == {}
    assert "did not show" in cli("run", "--from", "last", "--", *COMMAND).err
    assert cli("run", "--from", "last", "--unproven", "--", *COMMAND).status == 0


@pytest.mark.rotating
def test_compare_and_measure_check_requirements(cli: CommandLine) -> None:
    arms = ("--arm", "env.CHUNK=8", "--arm", "env.CHUNK=48")
    gate = ("--fail-if", "broken")
    answer = cli("compare", *arms, "--runs", "30", *LEAN, *QUIET, *gate, "--", *COMMAND)
    assert answer.status == 1, answer.err
    assert verdicts(answer.document) == {"env.CHUNK=8": "holds", "env.CHUNK=48": "broken"}
    measured = ("--runs", "20", *LEAN, "--disturbed-above", "never", *gate)
    kept = cli("measure", "--with", "env.CHUNK=8", *measured, "--", *COMMAND)
    assert kept.status == 0, kept.err
    assert "peak_anon_bytes<=40MiB is met by env.CHUNK=8." in kept.out
    broken = cli("measure", "--with", "env.CHUNK=48", *measured, "--", *COMMAND)
    assert broken.status == 1
    assert "peak_anon_bytes<=40MiB is violated by env.CHUNK=48." in broken.out


SWEEP = """
[workload]
command = ["{python}", "-S", "-E", "trade.py"]
require = ["peak_anon_bytes<=40MiB", "kept>=1000"]
metrics = ["kept=kept ([0-9]+)"]
objective = "wall_s"
[settings]
"env.CHUNK" = [1, 8, 48]
[study]
runs = 60
disturbed_above = "never"
"""


@pytest.mark.rotating
def test_sweep_names_no_violating_cell_best(cli: CommandLine) -> None:
    path = cli.folder / "sweep.toml"
    path.write_text(SWEEP.format(python=sys.executable))
    answer = cli("sweep", "sweep.toml", "--export", "cells.md")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("env.CHUNK=8 "), answer.out
    assert "peak_anon_bytes<=40MiB is met by env.CHUNK=1, env.CHUNK=8; it is" in answer.out
    assert "kept>=1000 is met by all 3 arms." in answer.out
    assert "| broken |" in (cli.folder / "cells.md").read_text()


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        ("memory<=2G", "unknown metric: 'memory'"),
        ("peak_anon_bytes<=2s", "'2s' is not a size"),
        ("peak_anon_bytes", "invalid bound"),
        ("wall_s<=0", "no launch meets it"),
    ],
)
def test_invalid_requirement_is_refused(cli: CommandLine, requirement: str, says: str) -> None:
    for verb in (("tune", "env.CHUNK=1,8"), ("measure",)):
        answer = cli(*verb, "--require", requirement, "--", *COMMAND)
        assert answer.status == 2
        assert says in answer.err and answer.out == ""
    path = cli.folder / "sweep.toml"
    path.write_text(SWEEP.format(python=sys.executable).replace("kept>=1000", requirement))
    answer = cli("sweep", "sweep.toml")
    assert answer.status == 2
    assert "sweep.toml:4:" in answer.err and says in answer.err


@pytest.mark.rotating
def test_missing_figure_is_reported(cli: CommandLine) -> None:
    figure = ("--metric", "fps=fps ([0-9]+)", "--objective", "wall_s", "--require", "fps>=30")
    for verb in (("tune", "env.CHUNK=1,8"), ("measure",)):
        answer = cli(*verb, *figure, "--", *COMMAND)
        assert answer.status == 2
        assert "The metric fps cannot be read" in answer.err
