"""The programs below examples/, each in a small size: output and error messages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
BUILD = ROOT / "build" / "examples"

Words = Sequence[str | Path]


def run(argv: Words, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in argv],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def figures(argv: Words, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run a program that must succeed, and return its output."""
    done = run(argv, env)
    assert done.returncode == 0, done.stderr
    found = dict(re.findall(r"^(\w+)=(\S+)$", done.stdout, re.MULTILINE))
    assert found["check"] == "ok"
    return found


def refusal(argv: Words, status: int, env: Mapping[str, str] | None = None) -> str:
    """The message of a run that must fail: one that names the program, and no traceback."""
    done = run(argv, env)
    assert done.returncode == status, done.stdout + done.stderr
    assert "check=ok" not in done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"^\w+: ", done.stderr, re.MULTILINE)
    return done.stderr


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the native examples, built."""
    # Workers of pytest-xdist would build into one folder at once.
    build = BUILD if "PYTEST_XDIST_WORKER" not in os.environ else tmp_path_factory.mktemp("build")
    steps: list[Words] = [["cmake", "-S", EXAMPLES, "-B", build], ["cmake", "--build", build]]
    for step in steps:
        done = run(step)
        assert done.returncode == 0, done.stdout + done.stderr
    return build


class TestDigits:
    PROGRAM = (sys.executable, EXAMPLES / "digits" / "digits.py")
    SMALL = ("--resamples", "2", "--restarts", "2")

    def test_result_is_independent_of_threads(self) -> None:
        one = figures([*self.PROGRAM, *self.SMALL], {"OMP_NUM_THREADS": "1"})
        two = figures([*self.PROGRAM, *self.SMALL], {"OMP_NUM_THREADS": "2"})
        assert float(one.pop("work_s")) > 0
        assert float(two.pop("work_s")) > 0
        assert one == two
        assert float(one["inertia"]) == pytest.approx(1.14e6, rel=0.02)
        assert 0.5 <= float(one["agreement"]) < 1
        assert 0.5 <= float(one["stability"]) < 1

    def test_poor_clustering_fails(self) -> None:
        message = refusal([*self.PROGRAM, *self.SMALL, "--components", "1"], status=1)
        assert "agreement" in message

    @pytest.mark.parametrize(
        "flags", [("--components", "65"), ("--clusters", "1"), ("--restarts", "x")]
    )
    def test_invalid_flags_are_refused(self, flags: tuple[str, ...]) -> None:
        assert flags[0] in refusal([*self.PROGRAM, *flags], status=2)

    def test_missing_scikit_learn_names_package_to_install(self) -> None:
        message = refusal([sys.executable, "-S", "-E", self.PROGRAM[1]], status=2)
        assert "pip install -r examples/requirements.txt" in message


class TestAllocations:
    @pytest.fixture
    def program(self, native: Path) -> Path:
        return native / "allocations"

    def test_result_is_independent_of_threads(self, program: Path) -> None:
        results = []
        for threads in ("1", "2", "5"):
            found = figures([program, "--rounds", "3", "--threads", threads])
            assert float(found.pop("words_per_s")) > 0
            results.append(found)
        assert results[0] == results[1] == results[2]
        assert int(results[0]["words"]) > 1000

    def test_words_of_text_are_counted(self, program: Path, tmp_path: Path) -> None:
        text = tmp_path / "text"
        text.write_text("One word, two words; a third.\n" * 5000)
        assert figures([program, "--rounds", "2", "--input", text])["words"] == str(6 * 5000 * 2)

    def test_more_threads_than_passages_give_same_result(
        self, program: Path, tmp_path: Path
    ) -> None:
        text = tmp_path / "text"
        text.write_text("word")
        found = figures([program, "--rounds", "1", "--threads", "8", "--input", text])
        assert found["words"] == "1"

    def test_invalid_input_is_refused(self, program: Path, tmp_path: Path) -> None:
        assert "--threads" in refusal([program, "--threads", "0"], status=2)
        assert "--rounds" in refusal([program, "--rounds", "9x"], status=2)
        assert "--rounds" in refusal([program, "--rounds"], status=2)
        assert "--size" in refusal([program, "--size", "1"], status=2)
        missing = tmp_path / "missing"
        assert str(missing) in refusal([program, "--input", missing], status=2)
        assert "no words" in refusal([program, "--input", tmp_path], status=2)


MAKE_INPUT = (sys.executable, EXAMPLES / "compress" / "make_input.py")


@pytest.fixture(scope="module")
def tar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small input for the compressors."""
    target = tmp_path_factory.mktemp("compress") / "input.tar"
    done = run([*MAKE_INPUT, target, "--megabytes", "1"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"input_bytes={target.stat().st_size}\n"
    assert 500_000 < target.stat().st_size < 2_000_000
    return target


class TestCompress:
    SCRIPT = EXAMPLES / "compress" / "compress.sh"

    def test_generated_input_is_reproducible(self, tar: Path, tmp_path: Path) -> None:
        again = tmp_path / "again.tar"
        assert run([*MAKE_INPUT, again, "--megabytes", "1"]).returncode == 0
        assert again.read_bytes() == tar.read_bytes()
        assert list(tmp_path.iterdir()) == [again]

    def test_existing_input_is_kept(self, tmp_path: Path) -> None:
        there = tmp_path / "there.tar"
        there.write_text("something")
        assert run([*MAKE_INPUT, there]).returncode == 0
        assert there.read_text() == "something"

    @pytest.mark.parametrize("program", ["xz", "zstd"])
    def test_higher_levels_compress_more(self, tar: Path, program: str) -> None:
        low, high = (
            figures([self.SCRIPT, "-p", program, "-l", level, "-t", "2", tar])
            for level in ("1", "6")
        )
        assert int(high["packed_bytes"]) < int(low["packed_bytes"]) < tar.stat().st_size
        assert 1 < float(low["ratio"]) < float(high["ratio"])

    def test_lossy_compressor_fails(self, tar: Path, tmp_path: Path) -> None:
        bad = tmp_path / "bin" / "xz"
        bad.parent.mkdir()
        real = shutil.which("xz")
        bad.write_text(
            f'#!/bin/sh\ncase "$*" in *-d*) head -c 1000 ;; *) exec {real} "$@" ;; esac\n'
        )
        bad.chmod(0o755)
        path = f"{bad.parent}:{os.environ['PATH']}"
        message = refusal([self.SCRIPT, "-p", "xz", tar], status=1, env={"PATH": path})
        assert "does not come back" in message

    def test_temporary_files_are_removed(self, tar: Path, tmp_path: Path) -> None:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        figures([self.SCRIPT, tar], {"TMPDIR": str(scratch)})
        assert not list(scratch.iterdir())

    @pytest.mark.parametrize(
        ("flags", "word"),
        [
            (("-p", "gzip"), "gzip"),
            (("-p", "xz", "-l", "10"), "-l 10"),
            (("-p", "zstd", "-l", "0"), "-l 0"),
            (("-l", "best"), "whole numbers"),
            (("-t", ""), "whole numbers"),
            (("-x",), "usage"),
        ],
    )
    def test_invalid_flags_are_refused(self, tar: Path, flags: tuple[str, ...], word: str) -> None:
        assert word in refusal([self.SCRIPT, *flags, tar], status=2)

    def test_invalid_files_are_refused(self, tmp_path: Path) -> None:
        assert "make_input.py" in refusal([self.SCRIPT, tmp_path / "missing"], status=2)
        assert "usage" in refusal([self.SCRIPT], status=2)
        target = tmp_path / "x.tar"
        message = refusal([*MAKE_INPUT, target, "--root", tmp_path / "missing"], status=2)
        assert "no Python files" in message
        assert not target.exists()


class TestLinalg:
    @pytest.fixture
    def program(self, native: Path) -> Path:
        return native / "linalg"

    def test_result_is_independent_of_threads(self, program: Path) -> None:
        small: Words = [program, "--panels", "12", "--gaps", "2"]
        one = figures(small, {"OPENBLAS_NUM_THREADS": "1"})
        two = figures(small, {"OPENBLAS_NUM_THREADS": "2"})
        assert one["threads"] == "1"
        assert one["capacitance"] == two["capacitance"]
        assert float(one["residual"]) < 1e-12
        assert float(one["gflops"]) > 0

    def test_distant_plates_behave_as_single_plate(self, program: Path) -> None:
        # Far apart, two plates are two capacitors in series. A unit square alone holds 0.36679
        # times 4 pi (known to many digits); panels this coarse stay 2 % below.
        found = figures(
            [program, "--panels", "16", "--gaps", "1", "--narrow", "1e6", "--wide", "1e6"]
        )
        assert 2 * float(found["capacitance"]) == pytest.approx(0.36679 * 12.56637, rel=0.025)

    def test_gap_narrower_than_panels_fails(self, program: Path) -> None:
        message = refusal([program, "--panels", "4", "--narrow", "0.01"], status=1)
        assert "too narrow" in message

    @pytest.mark.parametrize(
        "flags",
        [("--panels", "1"), ("--gaps", "none"), ("--narrow", "nan"), ("--wide", "0.05"), ("--n",)],
    )
    def test_invalid_flags_are_refused(self, program: Path, flags: tuple[str, ...]) -> None:
        assert flags[0] in refusal([program, *flags], status=2)
