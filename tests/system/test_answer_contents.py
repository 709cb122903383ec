"""The answer contains the requested figures, and each reason belongs to its arm."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

LATENCIES = """
import sys
for at in range(int(sys.argv[1])):
    print(f"latency: {1 + at} ms")
with open("latency.log", "a") as file:
    file.writelines(f"waited {2 * at} us\\n" for at in range(101))
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    (tmp_path / "p.py").write_text(LATENCIES)
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_quantiles_of_launch_have_rows_everywhere(cli: CommandLine) -> None:
    metrics = (
        "--metric",
        "lat@p99=latency: ([0-9.]+)",
        "--metric",
        "wait@median=waited ([0-9.]+)",
        "--metric-file",
        "wait@median=latency.log",
    )
    files = ("--export", "x.md", "--export", "x.csv")
    words = ("--runs", "14", "--goal", "lower", *metrics, *files)
    found = cli("compare", *words, "python3 p.py 101", "python3 p.py 201", cwd=cli.folder)
    assert found.status == 0, found.err
    assert "wait@median" in found.out and "100 " in found.out
    table = list(csv.DictReader(io.StringIO((cli.folder / "x.csv").read_text())))
    values = {(row["arm"][-3:], row["metric"]): float(row["mean"]) for row in table}
    assert values[("101", "lat@p99")] == pytest.approx(100.0)
    assert values[("201", "lat@p99")] == pytest.approx(199.0)
    assert values[("201", "wait@median")] == pytest.approx(100.0)
    assert "wait@median" in (cli.folder / "x.md").read_text()
    for name, begin in (("x.svg", b"<?xml"), ("x.png", b"\x89PNG")):
        drawn = cli("report", "last", "-o", name, cwd=cli.folder)
        assert drawn.status == 0, drawn.err
        assert (cli.folder / name).read_bytes().startswith(begin)


def test_limit_in_trial_launch_is_reported_with_value(cli: CommandLine) -> None:
    words = ("--runs", "9", "--limit", "output=64K", "arg.n=9,8")
    loop = ("sh", "-c", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaa; done", "{n}")
    found = cli("tune", *words, "--", *loop)
    assert found.status == 1
    assert "output limit of 64.0 KiB (--limit output)" in found.err


def test_each_arm_has_its_own_reason(cli: CommandLine) -> None:
    (cli.folder / "loop.sh").write_text("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n")
    arms = ("true", "sh loop.sh", "cat /nonexistent/file")
    found = cli("compare", "--runs", "12", "--limit", "output=64K", *arms, cwd=cli.folder)
    assert found.status == 1
    assert "sh loop.sh: stopped at the output limit of 64.0 KiB" in found.err
    assert "cat /nonexistent/file: exit status 1." in found.err
