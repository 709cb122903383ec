"""Programs that are built for each configuration: ``--build`` and ``build.NAME``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include "work.h"
int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1;
    static double a[SIZE];
    double sum = 0;
    for (long r = 0; r < rounds; r++)
        for (int i = 0; i < SIZE; i++) sum += a[i] = a[i] * 0.5 + i;
    printf("sum=%.6g\\n", sum);
    return 0;
}
"""
BUILD = ("--build", "gcc {opt} {march} -o {build}/prog prog.c")
RUN = ("--", "{build}/prog", "2000")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    (tmp_path / "prog.c").write_text(SOURCE)
    (tmp_path / "work.h").write_text("#define SIZE 8192\n")
    return CommandLine(assay_exec, tmp_path, more={"XDG_CACHE_HOME": str(tmp_path / "cache")})


def builds(cli: CommandLine) -> list[Path]:
    return sorted((cli.folder / "cache" / "assay" / "builds").glob("*"))


@pytest.mark.slow
def test_tune_over_flags_completes_and_runs_again(cli: CommandLine) -> None:
    settings = ("build.opt=-O0,-O2 -fno-math-errno,-Onever", "build.march=,-march=native")
    found = cli("tune", "--json", *settings, *BUILD, "--check", "sum=", "--runs", "90", *RUN)
    assert found.status == 0, found.err
    document = found.document
    recommended = document["recommendation"]
    assert recommended["settings"]["build.opt"] == "-O2 -fno-math-errno"
    assert recommended["claim"]["verdict"] == "faster"
    assert any("the build ended with status 1" in note for note in document["notes"])
    assert len(builds(cli)) == 4  # one for each that builds

    # The script builds without assay.
    script = cli.folder / "winner.sh"
    script.write_text(recommended["script"])
    plain = {"PATH": os.environ["PATH"], "ASSAY_BUILD_DIR": "made here"}
    done = subprocess.run(["sh", script], capture_output=True, text=True, env=plain, cwd="/")
    assert done.returncode == 0 and done.stdout.startswith("sum="), done.stderr
    assert (cli.folder / "made here" / "prog").is_file()

    # assay runs the study's own command, and another one from another folder.
    again = cli("run", "--from", "last", "--record", "record.json")
    assert (again.status, again.out) == (0, done.stdout)
    record = json.loads((cli.folder / "record.json").read_text())
    assert record["settings"]["build.opt"]["status"] == "granted"
    (message,) = (e["note"] for e in record["evidence"] if e["kind"] == "build")
    assert "gcc -O2 -fno-math-errno" in message and "(gcc" in message
    elsewhere = cli.folder / "elsewhere"
    elsewhere.mkdir()
    other = cli("run", "--from", "last", "--", "{build}/prog", "1", cwd=elsewhere)
    assert other.status == 0 and other.out.startswith("sum="), other.err
    assert len(builds(cli)) == 4
    assert "changed" not in again.err + other.err

    # Changed sources have no measurements: the stored answer is shown with a note about the change.
    (cli.folder / "work.h").write_text("#define SIZE 4096\n")
    for done in (cli("run", "--from", "last"), cli("run", "--from", "last", *RUN)):
        assert done.status == 0 and "changed since study" in done.err
    shown = cli("study", "resume", "last")
    assert shown.status == 0 and "inputs of the build" in shown.out
    assert len(builds(cli)) == 5  # the winner; nothing was built to show the answer

    # A bundle contains the build command, and its verdict follows from its samples.
    assert cli("study", "export", "last", "--bundle", "study.zip").status == 0
    assert cli("study", "verify", "study.zip").status == 0
    explained = cli("run", "--from", "last", "--explain")
    assert "# Build:\n#   gcc -O2 -fno-math-errno" in explained.out
    assert "Build command" in cli("report", "last", "-o", "-").out
    assert "built by gcc '{opt}' '{march}'" in cli("study", "show", "last").out


@pytest.mark.rotating
def test_changed_header_rebuilds_program(cli: CommandLine) -> None:
    words = ("--with", "build.opt=-O1", "build.march=", *BUILD, "--runs", "8", *RUN)
    assert cli("measure", *words).status == 0
    assert cli("study", "resume", "last", "--runs", "2").status == 0
    (cli.folder / "work.h").write_text("#define SIZE 4096\n")
    refused = cli("study", "resume", "last", "--runs", "2")
    assert refused.status == 3 and "the program:" in refused.err
    assert cli("study", "resume", "last", "--new-stratum").status == 0
    assert len(builds(cli)) == 2


def test_failed_first_build_stops_before_launches(cli: CommandLine) -> None:
    found = cli("tune", "build.opt=-Onever,-O2", "build.march=", *BUILD, "--runs", "50", *RUN)
    assert found.status == 1
    assert (
        "cannot be built: the command ended with status 1." in found.err and "-Onever" in found.err
    )
    assert cli.samples() == []
    assert builds(cli) == []


def test_placeholder_fills_build_and_command_and_keeps_other_braces(cli: CommandLine) -> None:
    given = ("--with", "build.opt=-O1", "build.march=", "arg.opt=x")
    found = cli("run", *given, *BUILD, "--", "echo", "{build}", "{opt}", "{other}")
    assert found.status == 0, found.err
    assert found.out.endswith(" x {other}\n")


@pytest.mark.rotating
def test_comparison_builds_its_arms(cli: CommandLine) -> None:
    arms = ("--arm", "build.opt=-O2", "--arm", "build.opt=-O2 build.march=-march=native")
    found = cli("compare", "--json", *arms, *BUILD, "--runs", "24", *RUN)
    assert found.status == 0, found.err
    assert len(builds(cli)) == 2
    broken = ("--arm", "build.opt=-O2", "--arm", "build.opt=-Onever build.march=")
    found = cli("compare", *broken, *BUILD, "--runs", "24", *RUN)
    assert found.status == 1
    assert "The last launch: the build ended with status 1" in found.err
    assert "Correct build.march= build.opt=-Onever or --build" in found.err
    assert "--timeout" not in found.err


@pytest.mark.rotating
def test_sweep_builds_its_cells(cli: CommandLine) -> None:
    (cli.folder / "sweep.toml").write_text(
        "[workload]\n"
        'command = "{build}/prog 2000"\n'
        'build = "make -s -f rules OPT={opt} N={n} OUT={build}"\n'
        "[settings]\n"
        'build.opt = ["-O0", "-O2"]\n'
        'build.n = "1..2"\n'
        "[design]\n"
        "repeats = 3\n"
    )
    (cli.folder / "rules").write_text("all:\n\tgcc $(OPT) -DN=$(N) -o $(OUT)/prog prog.c\n")
    found = cli("sweep", "--json", "sweep.toml")
    assert found.status == 0, found.err
    assert [cell["failures"] for cell in found.document["cells"]] == [0] * 4
    assert len(builds(cli)) == 4


def test_interrupted_build_leaves_no_files_and_no_study(cli: CommandLine) -> None:
    slow = "sh -c 'echo half > $ASSAY_BUILD_DIR/prog; sleep 60' {build}"
    with cli.begun("measure", "--build", slow, "--", "{build}/prog") as process:
        end = time.monotonic() + 30
        while not any(place.joinpath("files", "prog").exists() for place in builds(cli)):
            assert time.monotonic() < end, "it never began to build"
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert "interrupted while building" in cli.begun_err
    assert builds(cli) == []
    assert cli.samples() == []


@pytest.mark.rotating
@pytest.mark.parametrize(
    "words, message",
    [
        (("tune", "build.opt=-O1,-O2", "--", "true"), "there is no build command"),
        (("measure", *BUILD, *RUN), "{march} of the build command has no value"),
        (("tune", "build.o=1,2", "build.march=", *BUILD, *RUN), "no placeholder {o}"),
        (("measure", "--build", "gcc -o {build}/p prog.c", "--", "true"), "contains no {build}"),
        (("measure", "--", "{build}/prog"), "only with --build"),
        (("measure", "--build", "gcc -o {build}/p prog.c", *RUN), "not an executable program"),
        (("measure", "--build", "nosuchcc {build}", *RUN), "'nosuchcc' was not found"),
        (("measure", "--build-input", "x", "--", "true"), "without --build"),
        (("run", "--build", "gcc prog.c | x", *RUN), "holds an unquoted |"),
        (("run", "--with", "build.opt=-O1", "--", "true"), "there is no build command"),
        (("tune", "build.build=1,2", *BUILD, *RUN), "build.build cannot be varied"),
        (("tune", "build.opt=-O1,'x", *BUILD, *RUN), "cannot be split into words"),
        (
            ("tune", "build.opt=-O1,-O2", "build.march=", *BUILD, *RUN, "{opt}"),
            "contains {opt}, but build.opt fills it in the command of --build only",
        ),
        (("run", "--build", " ", *RUN), "--build: The command is missing."),
        (("measure", "--build", " ", *RUN), "--build: The command is missing."),
        (("measure", "--prepare", " ", "--", "true"), "--prepare: The command is missing."),
        (("measure", *BUILD, "--build", "x", *RUN), "--build takes one command"),
        (("measure", "--setup", "true", "--setup", "true", "--", "true"), "--setup takes one"),
    ],
)
def test_invalid_input_is_reported_before_launches(
    cli: CommandLine, words: tuple[str, ...], message: str
) -> None:
    found = cli(*words)
    assert found.status == (125 if words[0] == "run" else 2)
    assert message in found.err
    assert cli.samples() == []
