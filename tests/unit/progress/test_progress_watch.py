import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from progress_files import LaunchFiles

from assay.executors.progress.channel import CHANNEL_NAME
from assay.executors.progress.derived_values import derived_value
from assay.executors.progress.watch import ProgressWatch
from assay.records import Derivation, DerivationKind, Metric, Progress, Workload
from assay.stats.progress.reports import Reports

SPS = Metric(name="sps", progress=Progress(pattern=r"step (?P<step>\d+) .*?([-0-9.einfa]+) sps"))
PLAIN = Metric(name="sps", progress=Progress(pattern=r"samples/s: ([0-9.]+)"))
LOSS = Metric(name="loss", progress=Progress())


def kinds(notices):
    return [notice.kind for notice in notices]


def test_values_of_all_matching_lines_are_in_the_series(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("start\nsamples/s: 54\nsamples/s: 62\n")
    files.drain()
    files.write("samples/s: 44\nsamples/s: 137")
    assert files.finish() == []
    series = files.watch.series()["sps"]
    assert series.values == (54, 62, 44, 137)
    assert series.steps == (1, 2, 3, 4)
    assert list(series.times_s) == sorted(series.times_s)


def test_values_on_standard_error_count_as_well(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 1\n")
    files.write("samples/s: 2\n", files.stderr)
    files.finish()
    assert sorted(files.watch.series()["sps"].values) == [1, 2]


def test_time_of_a_batch_is_the_change_time_of_the_file(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 1\n")
    files.drain(1.0)
    files.write("samples/s: 2\nsamples/s: 3\n")
    written = time.time_ns() + int(7.4e9)  # 7.4 s after now, read at 8 s
    os.utime(files.stdout, ns=(written, written))
    elapsed = time.monotonic() - files.start
    files.drain(8.0 + elapsed)
    times = files.watch.series()["sps"].times_s
    assert times[2] == pytest.approx(7.4 + elapsed, abs=0.05)
    assert 1.0 <= times[1] < times[2]


@pytest.mark.parametrize(
    ("idle_s", "expected"),
    [(0.0, [0.97, 0.98, 0.99, 1.0, 1.01, 1.02]), (0.5, [1.0, 1.0, 1.0, 1.0])],
)
def test_first_batch_has_the_distance_of_the_lines_after_it(tmp_path, idle_s, expected):
    files = LaunchFiles(tmp_path, [PLAIN])
    begin_ns = time.time_ns() - int(1e9 * (time.monotonic() - files.start))

    def lines(count: int, at_s: float) -> None:
        files.write("samples/s: 1\n" * count)
        written = begin_ns + int(at_s * 1e9)
        os.utime(files.stdout, ns=(written, written))

    files.drain(0.9)
    lines(4, 1.0)
    files.drain(1.005)
    if idle_s:
        files.drain(1.0 + idle_s)  # all come from one write
    else:
        lines(2, 1.02)
        files.drain(1.03)
    times = files.watch.series()["sps"].times_s
    assert times == pytest.approx(expected, abs=0.004)


@pytest.mark.parametrize("jump_s", [-86400, 86400])
def test_wall_clock_jump_keeps_times_within_the_reading(tmp_path, jump_s):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 1\n")
    files.drain(1.0)
    files.write("samples/s: 2\n")
    jumped = time.time_ns() + int(jump_s * 1e9)
    os.utime(files.stdout, ns=(jumped, jumped))
    files.drain(2.0)
    times = files.watch.series()["sps"].times_s
    assert 1.0 <= times[1] <= 2.0


def test_frame_is_read_before_the_next_one_completes_it(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("\rsamples/s: 1 ")
    files.drain()
    files.drain()
    assert files.watch.recorder("sps").reports == 1
    files.write("\rsamples/s: 2 \n")
    files.finish()
    assert files.watch.series()["sps"].values == (1, 2)


def test_text_after_a_frame_gives_no_second_value(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("\rsamples/s: 1 ")
    files.drain()
    files.drain()
    files.write("warning\n")
    files.drain()
    files.write("samples/s: 2\n")
    files.finish()
    assert files.watch.series()["sps"].values == (1, 2)


def test_values_that_are_not_finite_are_counted(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    files.write("step 1 nan sps\nstep 2 5.0 sps\nstep 3 -inf sps\n")
    (notice,) = files.finish()
    assert (notice.kind, notice.value) == ("progress_not_finite", 2)
    assert files.watch.series()["sps"].values == (5,)


def test_step_that_falls_back_is_reported_and_continued(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    for step in (*range(1, 41), *range(31, 51)):
        files.write(f"step {step} 5.0 sps\n")
    (notice,) = files.finish()
    assert notice.kind == "progress_steps_fell"
    assert "from 40 to 31" in notice.text
    steps = files.watch.series()["sps"].steps
    assert steps == tuple(range(1, 61))


def test_steps_of_epochs_are_continued(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    for step in (*range(1, 11), *range(1, 11)):
        files.write(f"step {step} 5.0 sps\n")
    assert kinds(files.finish()) == ["progress_steps_restarted"]
    assert files.watch.series()["sps"].steps == tuple(range(1, 21))


def test_inverted_unit_is_converted_to_the_first_one(tmp_path):
    metric = Metric(name="speed", progress=Progress(pattern=r", *([0-9.]+)(it/s|s/it)"))
    files = LaunchFiles(tmp_path, [metric])
    files.write("[00:01<00:09,  2.00it/s]\n[00:03<00:08,  4.00s/it]\n")
    (notice,) = files.finish()
    assert notice.kind == "progress_unit_changed"
    assert files.watch.series()["speed"].values == (2.0, 0.25)
    assert files.watch.units() == {"speed": "it/s"}


def test_pattern_without_match_is_reported_with_the_last_lines_while_running(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    for number in range(20):
        files.write(f"throughput {number}\n")
    assert files.drain(1.0) == []
    (notice,) = files.drain(31.0)
    assert notice.kind == "progress_never"
    assert "throughput 19" in notice.text
    assert files.drain(40.0) == []
    assert kinds(files.finish(50.0)) == ["progress_never"]


def test_silence_is_reported_once_while_the_launch_runs(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    for second in (1.0, 2.0):
        files.write("samples/s: 1\n")
        now = time.time_ns() + int(second * 1e9)
        os.utime(files.stdout, ns=(now, now))
        files.drain(second)
    assert files.drain(31.0) == []
    (notice,) = files.drain(33.0)
    assert notice.kind == "progress_silent"
    assert files.drain(60.0) == []


def test_records_of_the_channel_have_their_own_time_step_and_rank(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    fd = os.open(tmp_path / CHANNEL_NAME, os.O_WRONLY | os.O_NONBLOCK)
    for step in range(3):
        record = {"step": step, "loss": 1 / (step + 1), "time_s": files.start + step, "rank": 1}
        os.write(fd, json.dumps(record).encode() + b"\n")
    os.write(fd, b'{"step": 3, "loss": NaN, "rank": 1}\nno record\n[1]\n')
    os.close(fd)
    files.drain(5.0)
    assert "progress_not_finite" in kinds(files.finish(6.0))
    series = files.watch.series()["loss"]
    assert series.times_s == (0.0, 1.0, 2.0)
    assert series.steps == (0, 1, 2)
    assert series.rank == 1


def test_record_from_another_clock_gets_the_time_of_reading(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
        channel.write(b'{"loss": 1.0, "time_s": 1e12}\n')
    files.drain(2.0)
    files.finish(3.0)
    assert files.watch.series()["loss"].times_s == (2.0,)


def test_lowest_rank_stands_for_the_launch_and_absent_ranks_are_reported(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
        for step in range(1, 4):
            for rank in (3, 0, 1):
                record = {"step": step, "loss": rank + step / 10, "rank": rank}
                channel.write(json.dumps(record).encode() + b"\n")
    (notice,) = files.finish(6.0)
    assert notice.kind == "progress_ranks"
    assert "Rank 2 never reported" in notice.text
    assert files.watch.series()["loss"].values == (0.1, 0.2, 0.3)
    assert [recorder.rank for recorder in files.watch.recorders("loss")] == [3, 0, 1]


def test_channel_survives_writers_that_come_and_go(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    for value in range(3):
        with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
            channel.write(f'{{"loss": {value}}}\n'.encode())
        files.drain()
    files.finish()
    assert files.watch.series()["loss"].values == (0, 1, 2)


def test_missing_key_in_the_channel_is_reported(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
        channel.write(b'{"los": 1.0}\n')
    (notice,) = files.finish(6.0)
    assert notice.kind == "progress_never"
    assert "'loss'" in notice.text


def test_real_program_reports_on_both_ways(tmp_path: Path):
    files = LaunchFiles(tmp_path, [SPS, LOSS], channel=True)
    code = (
        "import json, sys, time\n"
        "with open(sys.argv[1], 'w') as channel:\n"
        "    for step in range(1, 31):\n"
        "        time.sleep(0.005)\n"
        "        print(f'step {step} {100 + step} sps', flush=True)\n"
        "        record = dict(step=step, loss=1 / step, time_s=time.monotonic())\n"
        "        print(json.dumps(record), file=channel, flush=True)\n"
    )
    with files.stdout.open("wb") as out:
        program = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / CHANNEL_NAME)], stdout=out
        )
        while program.poll() is None:
            time.sleep(0.02)
            files.drain()
    assert files.finish() == []
    found = files.watch.series()
    assert found["sps"].values == tuple(range(101, 131))
    assert len(found["loss"].values) == 30
    assert all(
        b > a for a, b in zip(found["loss"].times_s, found["loss"].times_s[1:], strict=False)
    )
    assert math.isclose(found["sps"].times_s[-1], found["loss"].times_s[-1], abs_tol=1.0)


def test_format_without_match_gives_its_advice(tmp_path):
    files = LaunchFiles(tmp_path, [Metric(name="speed", progress=Progress(preset="gromacs"))])
    files.write("some output\n")
    (notice,) = files.finish()
    assert "mdrun" in notice.text


def test_value_that_a_format_lacks_is_reported_with_its_keys(tmp_path):
    metrics = [
        Metric(name="speed", unit="steps/s", progress=Progress(preset="tqdm")),
        Metric(name="los", progress=Progress(preset="tqdm", key="los")),
    ]
    files = LaunchFiles(tmp_path, metrics)
    for step in range(4):
        files.write(f"\r10%|# | {step}/9 [00:01<00:02, 1.00it/s, loss=0.5]", files.stderr)
        files.drain()
        time.sleep(0.002)
    (notice,) = files.finish()
    assert notice.metric == "los"
    assert "it contains loss" in notice.text


def test_instances_have_their_own_series(tmp_path):
    outputs = [[tmp_path / f"stdout.{n}"] for n in range(2)]
    with ProgressWatch(Workload(argv=("true",), metrics=(PLAIN,)), outputs) as watch:
        watch.begin(time.monotonic())
        for number, (path,) in enumerate(outputs):
            path.write_text(f"samples/s: {number + 5}\n" * 3)
        watch.drain(time.monotonic())
        assert watch.finish(time.monotonic()) == []
        assert [list(watch.recorder("sps", n).values) for n in range(2)] == [[5] * 3, [6] * 3]
        assert watch.recorder("sps", 2) is None
        assert watch.series()["sps"].values == (5, 5, 5)


def test_number_that_is_cut_by_the_pattern_is_left_out(tmp_path):
    metric = Metric(name="sps", progress=Progress(pattern=r"sps ([0-9]+)"))
    files = LaunchFiles(tmp_path, [metric])
    files.write("sps 1,234\nsps 12.5\nsps 7\nsps 1e3\n")
    (notice,) = files.finish()
    assert (notice.kind, notice.value) == ("progress_invalid", 3)
    assert files.watch.series()["sps"].values == (7,)


def test_rank_in_a_line_separates_the_series(tmp_path):
    metric = Metric(name="sps", progress=Progress(pattern=r"\[rank (?P<rank>\d)\] sps ([0-9.]+)"))
    files = LaunchFiles(tmp_path, [metric])
    for step in range(3):
        for rank in (1, 0):
            files.write(f"[rank {rank}] sps {rank * 10 + step}\n")
    assert files.finish() == []
    series = files.watch.series()["sps"]
    assert (series.rank, series.values) == (0, (0, 1, 2))


def test_output_that_comes_too_fast_is_skipped_at_a_line(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 1\n")
    files.drain()
    files.write(b"samples/s: 999999 other text\n" * 700_000)
    files.drain()
    files.write("samples/s: 2\n")
    notices = {notice.kind: notice for notice in files.finish()}
    assert notices["progress_skipped"].value > 1 << 20
    recorder = files.watch.recorder("sps")
    assert set(recorder.values) == {1, 999999, 2}


def test_lines_of_one_write_after_a_pause_have_the_same_time(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 1\n")
    for after_s in (1.0, 1.05, 1.1):
        files.drain(after_s)
    files.write("samples/s: 2\nother\nother\nother\n")
    files.drain(1.15)
    files.write("samples/s: 3\nsamples/s: 4\n")
    changed = time.time_ns() + int((files.start + 1.19 - time.monotonic()) * 1e9)
    os.utime(files.stdout, ns=(changed, changed))
    files.drain(1.2)
    times = files.watch.series()["sps"].times_s
    assert times[1] == pytest.approx(1.1)  # the change of the file was long before
    assert 1.15 <= times[2] < times[3]


def test_silence_of_several_metrics_gives_one_notice(tmp_path):
    other = Metric(name="loss", progress=Progress(pattern="loss ([0-9.]+)"))
    files = LaunchFiles(tmp_path, [PLAIN, other])
    for second in (1.0, 2.0):
        files.write("samples/s: 1\nloss 2\n")
        files.drain(second)
    assert len(files.drain(40.0)) == 1


def test_writer_states_values_that_are_not_finite_and_lost_records(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
        channel.write(b'{"step": 1, "loss": null}\n{"step": 9, "loss": 2, "dropped": 7}\n')
    notices = {notice.kind: notice.value for notice in files.finish()}
    assert notices == {"progress_not_finite": 1, "progress_dropped": 7}
    assert files.watch.series()["loss"].steps == (9,)


def test_instances_in_one_channel_are_told_apart_by_rank(tmp_path):
    files = LaunchFiles(tmp_path, [LOSS], channel=True)
    with (tmp_path / CHANNEL_NAME).open("wb", buffering=0) as channel:
        for rank in (1, 0):
            channel.write(f'{{"step": 1, "loss": {rank + 5}, "rank": {rank}}}\n'.encode())
    files.finish()
    assert [list(files.watch.recorder("loss", n).values) for n in range(2)] == [[5], [6]]
    assert files.watch.recorder("loss", 2) is None
    assert files.watch.recorder("other") is None


def test_channel_that_is_not_a_fifo_is_refused_without_open_files(tmp_path):
    (tmp_path / CHANNEL_NAME).write_text("")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="not a FIFO"):
        ProgressWatch(
            Workload(argv=("true",), metrics=(LOSS, PLAIN)),
            [[tmp_path / "stdout"]],
            tmp_path / CHANNEL_NAME,
        )
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_only_values_that_are_not_finite_are_reported_with_the_lines(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    files.write("step 1 nan sps\nstep 2 nan sps\n")
    (notice,) = files.finish()
    assert notice.text.startswith("All 2 values of sps are NaN, infinite or above 1e100")
    assert "the last lines are 'step 1 nan sps', 'step 2 nan sps'." in notice.text


def test_pattern_that_excludes_nan_is_reported_with_its_cause(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: nan\n")
    (notice,) = files.finish()
    assert notice.kind == "progress_never"
    assert "These lines contain NaN or inf." in notice.text


def test_count_of_steps_that_begins_again_is_reported(tmp_path):
    files = LaunchFiles(tmp_path, [SPS])
    for step in (*range(1, 21), *range(1, 21), *range(1, 21)):
        files.write(f"step {step} 5.0 sps\n")
    (notice,) = files.finish()
    assert notice.kind == "progress_steps_restarted"
    assert "began again 2 times, as in each epoch" in notice.text
    assert files.watch.series()["sps"].steps[-1] == 60


def test_nan_that_the_pattern_excludes_counts_as_last_value(tmp_path):
    loss = Metric(name="loss", progress=Progress(pattern=r"step (?P<step>\d+) loss=([0-9.]+)"))
    speed = Metric(name="sps", progress=Progress(pattern=r"([0-9.]+) sps"))
    files = LaunchFiles(tmp_path, [loss, speed])
    files.write("step 1 loss=0.5 9 sps\nstep 2 loss=0.4 9 sps\n")
    files.write("step 3 loss=nan 9 sps\nstep 4 loss=-nan 9 sps\ninfo: inf\n")
    (notice,) = files.finish()
    assert notice.kind == "progress_not_finite" and notice.value == 2
    assert "the last one of the launch among them" in notice.text
    assert not files.watch.recorder("loss").ends_finite
    assert files.watch.recorder("sps").ends_finite
    assert files.watch.series()["loss"].values == (0.5, 0.4)


def test_word_elsewhere_in_a_line_is_no_value(tmp_path):
    files = LaunchFiles(tmp_path, [PLAIN])
    files.write("samples/s: 3\nloss: nan\nsamples/s: nan\nsamples/s: 4 (loss nan)\n")
    files.finish()
    assert files.watch.series()["sps"].values == (3, 4)
    assert files.watch.recorder("sps").ends_finite


@pytest.mark.parametrize(("ends_finite", "value"), [(True, 0.4), (False, None)])
def test_final_value_of_a_diverged_launch_is_absent(ends_finite, value):
    reports = Reports(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([0.5, 0.4]))
    final = Metric(name="f", derivation=Derivation(kind=DerivationKind.FINAL, metric="loss"))
    found = derived_value(final, reports, ended_by_assay=False, ends_finite=ends_finite)
    assert found[0] == value
    assert ends_finite or "NaN" in found[1]
