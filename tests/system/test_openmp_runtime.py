"""A program of GNU's OpenMP under the runtimes that are installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.launch.planner import plan
from assay.machine.reader import read_machine
from assay.records import Configuration
from assay.settings.registry import builtin

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

SOURCE = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += i;
    printf("sum %d\\n", sum);
    return usleep(300000);
}
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Sums up in parallel; compiled for GNU's runtime."""
    if shutil.which("gcc") is None:
        pytest.skip("no GNU compiler")
    folder = tmp_path_factory.mktemp("openmp")
    (folder / "sum.c").write_text(SOURCE)
    words = ["gcc", "-O1", "-fopenmp", str(folder / "sum.c"), "-o", str(folder / "sum")]
    if subprocess.run(words, capture_output=True).returncode:
        pytest.skip("the compiler knows no OpenMP")
    return str(folder / "sum")


@pytest.mark.rotating
@pytest.mark.parametrize("runtime", ["gnu", "llvm", "intel"])
def test_requested_runtime_is_loaded(cli: CommandLine, program: str, runtime: str) -> None:
    """LLVM's and Intel's runtimes print their version (``KMP_VERSION``); GNU's does not."""
    config = Configuration({"omp.runtime": runtime})
    refused = plan(config, read_machine(), builtin()).refused
    words = ("--with", f"omp.runtime={runtime}", "--record", "-", "--", program)
    answer = cli("run", *words, KMP_VERSION="1")
    if refused:
        assert answer.status == 125
        assert f"the {runtime} OpenMP runtime is not installed" in answer.err
        pytest.skip(f"the {runtime} OpenMP runtime is not installed")
    assert answer.status == 0
    assert "sum 499500\n" in answer.out
    assert '"status":"granted"' in answer.out
    assert ("OMP" in answer.err) is (runtime != "gnu")
