import os
import subprocess
import sys
import time

import pytest
from progress_files import LaunchFiles

from assay.executors.progress.buffering import buffering_advice, bursts_of
from assay.machine.document import Program
from assay.records import Metric, Progress

SPS = Metric(name="sps", progress=Progress(pattern=r"samples/s: ([0-9.]+)"))


def test_blocks_of_a_buffer_are_recognised_while_the_launch_runs(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    text = "".join(f"step {n} samples/s: {n}\n" for n in range(1000))
    for begin in range(0, 12288, 4096):
        files.write(text[begin : begin + 4096])
        files.drain(1.0 + begin / 4096)
    (notice,) = files.drain(31.0)
    assert notice.kind == "progress_buffered"
    assert "blocks of 4096 bytes" in notice.text
    files.write(text[12288:12300])
    assert [n.kind for n in files.finish(32.0)] == ["progress_buffered"]


def test_flushed_lines_are_not_called_buffered(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    for n in range(10):
        files.write(f"samples/s: {n}\n")
        files.drain(float(n))
    assert files.finish(10.0) == []


def test_lines_at_the_end_of_the_launch_are_reported(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    files.drain(10.0)
    files.write("samples/s: 1\nsamples/s: 2\nsamples/s: 3\n")
    (notice,) = files.finish(10.05)
    assert notice.kind == "progress_buffered"
    assert "All 3 lines of stdout" in notice.text


def test_empty_output_is_reported_once_while_the_launch_runs(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    assert files.drain(29.0) == []
    (notice,) = files.drain(30.5)
    assert notice.kind == "progress_buffered"
    assert "printed nothing" in notice.text
    assert files.drain(60.0) == []


@pytest.mark.parametrize("flushes", [False, True])
def test_python_program_is_recognised_by_its_buffer(tmp_path, flushes):
    files = LaunchFiles(tmp_path, [SPS])
    code = (
        "import time\n"
        "for n in range(2000):\n"
        "    print('a line with', n, 'and samples/s:', n)\n"
        "    n % 100 or time.sleep(0.05)\n"
    )
    env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    if flushes:
        env["PYTHONUNBUFFERED"] = "1"
    with files.stdout.open("wb") as out:
        program = subprocess.Popen([sys.executable, "-c", code], stdout=out, env=env)
        while program.poll() is None:
            time.sleep(0.01)
            files.drain()
    kinds = [notice.kind for notice in files.finish()]
    assert kinds == ([] if flushes else ["progress_buffered"])
    assert files.watch.recorder("sps").reports == 2000


@pytest.mark.parametrize(
    ("program", "words", "advice"),
    [
        (Program(argv0="python3", kind="script", interpreter="python3.11"), (), "PYTHONUNBUFFERED"),
        (None, ("mpirun", "-n", "2", "python3", "train.py"), "PYTHONUNBUFFERED"),
        (Program(argv0="torchrun", kind="unknown"), ("torchrun", "t.py"), "PYTHONUNBUFFERED"),
        (Program(argv0="a", kind="elf"), ("a",), "stdbuf -oL"),
        (Program(argv0="a", kind="elf", static=True), ("a",), "pseudo-terminal"),
        (
            Program(argv0="a", kind="elf", libraries=("/usr/lib/libgfortran.so.5",)),
            ("a",),
            "GFORTRAN_UNBUFFERED_ALL",
        ),
        (Program(argv0="a", kind="elf", runtimes=frozenset({"go"})), ("a",), "bufio"),
        (Program(argv0="x.pl", kind="script", interpreter="perl"), (), "$| = 1"),
        (Program(argv0="x.sh", kind="script", interpreter="bash"), (), "each stage of a pipe"),
        (Program(argv0="x", kind="script", interpreter="tclsh"), (), "pseudo-terminal"),
    ],
)
def test_advice_fits_the_program(program, words, advice):
    assert advice in buffering_advice(program, words)


@pytest.mark.parametrize(
    ("times_s", "bursts"),
    [
        ([4.0] * 200 + [8.0] * 200, 2),
        ([4.0] * 200, 1),
        ([0.02 * n for n in range(400)], 0),
        ([5.0 + 0.02 * n for n in range(400)], 0),
        ([float(n // 5) for n in range(10, 400)], 0),
        ([2.0] * 30, 0),
        ([0.1] * 200, 0),
    ],
)
def test_bursts_are_told_from_single_values(times_s, bursts):
    assert bursts_of(times_s) == bursts


def test_two_bursts_are_reported_as_buffering(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    begin_ns = time.time_ns() - int(1e9 * (time.monotonic() - files.start))
    for at_s in (4.0, 8.0):
        files.drain(at_s - 0.01)
        files.write("samples/s: 1\n" * 100)
        written = begin_ns + int(1e9 * at_s)
        os.utime(files.stdout, ns=(written, written))
        files.drain(at_s + 0.01)
        files.drain(at_s + 0.06)
    (notice,) = files.finish(8.5)
    assert notice.kind == "progress_buffered"
    assert "arrived in 2 bursts" in notice.text


def test_empty_output_of_a_short_launch_names_buffering(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    (notice,) = files.finish(3.0)
    assert "has printed nothing so far, or buffers its output" in notice.text
    assert "pseudo-terminal" in notice.text


def test_value_that_the_channel_lacks_names_pattern_and_call(tmp_path):
    files = LaunchFiles(tmp_path, [Metric(name="sps", progress=Progress())], channel=True)
    (notice,) = files.finish(3.0)
    assert "--progress 'sps=REGEX'" in notice.text
    assert "assay.progress(sps=...)" in notice.text


@pytest.mark.parametrize("exists", [False, True])
def test_progress_file_without_values_says_whether_it_exists(tmp_path, exists):
    metric = Metric(name="sps", progress=Progress(file="log.csv"))
    if exists:
        (tmp_path / "log.csv").write_text("step,sps\n")
    files = LaunchFiles(tmp_path, [metric])
    (notice,) = files.finish(3.0)
    assert ("log.csv exists" if exists else "log.csv does not exist") in notice.text
