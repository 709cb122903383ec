"""C header for the progress of programs: compiled strictly, and run by assay-exec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher
from reporting_channel import SRC, Channel, reported

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion", "-O2")
WRITERS = SRC / "assay" / "writers"
COMPILERS = {
    "c99": ["gcc", "-std=c99"],
    "gnu17": ["gcc", "-std=gnu17"],
    "c++11": ["g++", "-std=c++11"],
    "c++20": ["g++", "-std=c++20"],
    "fast math": ["gcc", "-ffast-math"],
    "sanitized": ["gcc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}
PROGRAM = r"""
#include "assay_progress.h"
#include <locale.h>

int main(int argc, char** argv) {
    const char* const names[] = {"loss", "samples_per_s"};
    const double values[] = {0.125, strtod("nan", NULL)};
    const double infinite = strtod("inf", NULL);
    static char name[5000];
    int i;
    if (argc > 1) { /* close the descriptor, and open a file under its number */
        const int number = atoi(getenv("ASSAY_PROGRESS_FD"));
        if (close(number) != 0 || open(argv[1], O_RDWR | O_CREAT | O_NONBLOCK, 0600) < 0) return 2;
        if (dup2(open(argv[1], O_RDWR | O_NONBLOCK), number) != number) return 2;
    }
    setlocale(LC_ALL, "");
    if (assay_progress(1, "samples_per_s", 310.25) != 0) return 3;
    if (assay_progress_values(2.5, 2, names, values) != 0) return 3;
    if (assay_progress(1e15, "loss", infinite) != 0) return 3;
    for (i = 0; i < 4999; ++i) name[i] = 'n';
    if ((assay_progress(4, name, 1.0) == -1) != (getenv("ASSAY_PROGRESS_INODE") != NULL)) return 4;
    name[3900] = '\0';
    return assay_progress(5, name, 1.0) == 0 ? 0 : 3;
}
"""
FLOOD = r"""
#include "assay_progress.h"

int main(void) {
    int i;
    for (i = 1; i <= 100000; ++i) assay_progress(i, "sps", 310.25);
    return 0;
}
"""
THREADS = r"""
#include "assay_progress.h"
#include <pthread.h>

static void* report(void* thread) {
    int i;
    for (i = 0; i < 100; ++i) assay_progress(i, "thread", *(double*)thread);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    double numbers[4] = {0, 1, 2, 3};
    int i;
    close(atoi(getenv("ASSAY_PROGRESS_FD"))); /* the threads open the FIFO */
    for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, report, &numbers[i]);
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return 0;
}
"""


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Channel]:
    with Channel(tmp_path / "progress") as found:
        yield found


def compiled(folder: Path, source: str, *command: str) -> Path:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    file = folder / ("program.cpp" if command[0] == "g++" else "program.c")
    file.write_text(source)
    program = folder / "program"
    words = [*command, *WARNINGS, f"-I{WRITERS}", str(file), "-o", str(program), "-pthread"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def check(channel: Channel) -> None:
    found = channel.records()
    assert found[0]["samples_per_s"] == 310.25
    assert [one["step"] for one in found] == [1, 2.5, 10**15, 5]
    assert (found[1]["loss"], found[1]["samples_per_s"]) == (0.125, None)
    assert found[2]["loss"] is None
    times = [one["time_s"] for one in found]
    assert times == sorted(times)
    assert all(one["rank"] == 3 for one in found)


@pytest.mark.parametrize("compiler", list(COMPILERS))
def test_c_program_reports(
    launcher: Launcher, channel: Channel, tmp_path: Path, compiler: str
) -> None:
    program = compiled(tmp_path, PROGRAM, *COMPILERS[compiler])
    reported(launcher, channel, [program], env_set={"RANK": "?", "PMI_RANK": "3"})
    check(channel)


def test_c_program_writes_into_no_file_of_the_user(
    launcher: Launcher, channel: Channel, tmp_path: Path
) -> None:
    program = compiled(tmp_path, PROGRAM, "gcc")
    reported(launcher, channel, [program, tmp_path / "file"], env_set={"PMI_RANK": "3"})
    check(channel)
    assert (tmp_path / "file").read_bytes() == b""


def test_c_program_runs_without_assay(tmp_path: Path) -> None:
    program = compiled(tmp_path, PROGRAM, "gcc", "-std=c99")
    done = subprocess.run([program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_c_program_with_full_pipe_ends(
    launcher: Launcher, channel: Channel, tmp_path: Path
) -> None:
    program = compiled(tmp_path, FLOOD, "gcc")
    reported(launcher, channel, [program])
    steps = channel.steps()
    assert steps[:500] == list(range(1, 501))
    assert len(steps) < 100_000


def test_threads_of_c_program_report(launcher: Launcher, channel: Channel, tmp_path: Path) -> None:
    program = compiled(tmp_path, THREADS, "gcc", "-fsanitize=thread")
    reported(launcher, channel, ["setarch", "-R", program])
    found = channel.records()
    dropped = sum(one.get("dropped", 0) for one in found)
    assert len(found) + dropped <= 400
    assert {one["thread"] for one in found} == {0, 1, 2, 3}


def test_header_is_found_by_the_documented_command(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import assay; print(assay.get_include())"]
    env: dict[str, Any] = {**os.environ, "PYTHONPATH": str(SRC)}
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    assert {"assay_progress.h", "assay_progress.py"} <= {
        path.name for path in Path(out.strip()).iterdir()
    }
