"""The best cell runs again: by ``assay run`` and by its script, with the same environment."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

TEAM = """
#include <omp.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
extern char** environ;
int main() {
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    usleep(50000);  // long enough to be read back
    std::printf("score=%d\\n", 10 * threads);
    for (char** one = environ; *one; ++one)
        if (std::strstr(*one, "_THREADS=") || !std::strncmp(*one, "XZ_", 3)) std::puts(*one);
}
"""
READ = "score=20\nOMP_NUM_THREADS=2\n"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program of OpenMP, which prints its threads and its environment of OpenMP."""
    compiler = shutil.which("g++") or pytest.skip("no GNU compiler")
    folder = tmp_path_factory.mktemp("team")
    (folder / "team.cpp").write_text(TEAM)
    command = [compiler, "-O1", "-fopenmp", "-o", folder / "team", folder / "team.cpp"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no OpenMP")
    return folder / "team"


@pytest.mark.rotating
def test_best_arm_runs_equally_with_and_without_assay(
    assay_exec: Path, tmp_path: Path, team: Path
) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    figure = ("--metric", "score=score=([0-9]+)", "--goal", "higher")
    arms = ("--arm", "threads=1", "--arm", "threads=2")
    found = cli("compare", *arms, *figure, "--runs", "20", "--json", "--", team, timeout_s=120)
    assert found.status == 0, found.err
    assert cli("run", "--from", "last", OMP_NUM_THREADS="7").out == READ
    answer = cli("run", "--from", "last", "--explain")
    assert "Not proven" not in answer.out and "XZ_DEFAULTS" in answer.out
    script = tmp_path / "best.sh"
    script.write_text(answer.out)
    done = subprocess.run(["sh", script], capture_output=True, text=True, check=True)
    assert done.stdout == READ
    other = cli("run", "--from", "last", "--cell", "threads=1")
    assert other.out == READ.replace("2", "1")
    # Another program may read more.
    assert "XZ_DEFAULTS=--threads=2" in cli("run", "--from", "last", "--", "env").out
