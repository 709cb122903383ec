"""A runtime that rejects a value and exits with 0: its message is quoted, the value not granted."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

TEAM = """
#include <omp.h>
#include <cstdio>
int main() {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 3000000; i++) sum += 1.0 / (1 + i);
    std::printf("%d %.3f\\n", omp_get_max_threads(), sum);
}
"""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a program of OpenMP, which prints its number of threads."""
    compiler = shutil.which("g++") or pytest.skip("no GNU compiler")
    folder = tmp_path_factory.mktemp("team")
    source = folder / "team.cpp"
    source.write_text(TEAM)
    command = [compiler, "-O1", "-fopenmp", "-o", folder / "team", source]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no OpenMP")
    return folder / "team"


@pytest.mark.rotating
def test_rejected_value_is_quoted_and_not_granted(
    assay_exec: Path, tmp_path: Path, team: Path
) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    arms = ("--arm", "", "--arm", "env.OMP_NUM_THREADS=1.0", "--arm", "env.OMP_NUM_THREADS=1")
    answer = cli("compare", *arms, "--runs", "30", "--json", "--", team, timeout_s=120)
    notes = answer.document["notes"]
    line = "libgomp: Invalid value for environment variable OMP_NUM_THREADS"
    assert [note for note in notes if "no other does" in note and line in note]
    assert [note for note in notes if "never had env.OMP_NUM_THREADS=1.0" in note]
    # Other notes may name that arm: a busy machine divides its times into two groups.
    assert not [note for note in notes if line in note and "env.OMP_NUM_THREADS=1'" in note]
    assert not [
        note for note in notes if re.search(r"never had env\.OMP_NUM_THREADS=1(?!\.)", note)
    ]
