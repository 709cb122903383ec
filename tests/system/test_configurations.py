"""Named configurations on the command line: a sweep and a search, their tables and reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

TABLES = """\
[configuration.short]
"env.NAP" = "0.002"
nice = 0

[configuration.long]
"env.NAP" = "0.03"
"""
COMMAND = 'command = "sleep $NAP"\nshell = true\n'


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_sweep_reports_configuration_names(cli: CommandLine) -> None:
    (cli.folder / "s.toml").write_text(
        f'[workload]\n{COMMAND}\n{TABLES}\n[design]\nbaseline = "short"\nrepeats = 2\n'
        '[study]\ndisturbed_above = "never"\n'
    )
    answer = cli("sweep", "s.toml", "--json", "--export", "cells.csv")
    assert answer.status == 0, answer.err
    assert [cell["name"] for cell in answer.document["cells"]] == ["short", "long"]
    rows = (cli.folder / "cells.csv").read_text().splitlines()
    assert rows[0].startswith("configuration,arm,metric")
    assert [row.split(",")[:2] for row in rows[1:]] == [["short", "short"], ["long", "long"]]
    shown = cli("study", "show", "last").out
    assert "  configuration  n" in shown


@pytest.mark.rotating
def test_search_reports_configuration_names(cli: CommandLine) -> None:
    (cli.folder / "t.toml").write_text(TABLES)
    words = ("--space", "t.toml", "--runs", "40", "--disturbed-above", "never")
    answer = cli("tune", *words, "--shell", "--", "sleep ${NAP:-0.03}")
    assert answer.status == 0, answer.err
    assert cli("report", "last", "-o", "r.html").status == 0
    page = (cli.folder / "r.html").read_text()
    assert "Named configurations" in page
    assert '"name":"short"' in page
    assert '"name":"long"' in page
