from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.executors.progress.lines import LineSplitter
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.presets.registry import PRESETS, preset_named
from assay.executors.progress.sources import PresetReader
from assay.records import Metric, Progress

RECORDED = Path(__file__).parents[2] / "fixtures" / "progress"
LINE_S = 0.1
"""Time between two lines of a replayed log."""


def replayed(preset: str, *files: str, key: str = "", unit: str = "steps/s") -> MetricSeries:
    """Return the series of recorded files, one after another, with a line each 100 ms."""
    metric = Metric(name="m", unit=unit, progress=Progress(preset=preset, key=key))
    series = MetricSeries(metric, key or None, completed=True)
    reader = PresetReader(preset_named(preset), [series])
    number = 0
    for file in files:
        splitter = LineSplitter()
        raw = (RECORDED / file).read_bytes()
        for text in [*splitter.feed(raw), *splitter.finish()]:
            number += 1
            reader.read([(number * LINE_S, text, 0)])
    return series


def steps(series: MetricSeries) -> list[float]:
    return list(series.main.recorder.steps)


def test_tqdm_follows_the_inner_bar_over_epochs():
    found = steps(replayed("tqdm", "tqdm-nested.log"))
    assert found[-1] == 30
    assert found == sorted(found)
    assert len(found) >= 25


def test_tqdm_reads_scaled_steps_and_values_behind_the_rate():
    found = steps(replayed("tqdm", "tqdm-samples.log"))
    assert found == [500.0 * k for k in range(1, 13)]
    losses = replayed("tqdm", "tqdm-samples.log", key="loss").main.recorder
    assert losses.values[-1] == pytest.approx(1 / 12, abs=0.01)


@pytest.mark.parametrize(
    ("line", "step", "total"),
    [
        (" 33%|###3      | 2/6 [00:00<00:00,  6.19it/s]", 2, 6),
        ("a: b: 100%|##########| 1.20k/1.20k [01:02:03<00:00, 1.00kit/s]", 1200, 1200),
        ("12it [00:05,  2.40it/s]", 12, None),
        ("load: 0it [00:00, ?it/s]", 0, None),
        ("  0%|          | 0/2 [00:00<?, ?it/s]", 0, 2),
        ("Val:   5%|# | 1/20 [00:00<00:00, 9.9it/s, loss=nan, acc=1e-3]", 1, 20),
        ("GB:  50%|# | 1.5G/3.0G [1 day, 2:03:04<00:10, 9.9MB/s]", 1.5e9, 3e9),
    ],
)
def test_tqdm_frames_of_all_forms_are_read(line, step, total):
    (report,) = PRESETS["tqdm"].reader().read((1.0, line, 0))
    assert (report.step, report.total) == (step, total)


@pytest.mark.parametrize("line", ["", "[info] 12 files", "took 12 [s]", "a[0]/b[1]", "10/20 done"])
def test_tqdm_ignores_other_lines(line):
    assert not PRESETS["tqdm"].reader().read((1.0, line, 0))


def test_tqdm_unit_of_time_gives_seconds_per_step():
    lines = [f"{50 * k}%|# | {k}/9 [00:0{k}<00:01, 1.00it/s]" for k in range(4)]
    metric = Metric(name="step_s", unit="ms", progress=Progress(preset="tqdm"))
    series = MetricSeries(metric, None, completed=True)
    reader = PresetReader(preset_named("tqdm"), [series])
    for number, line in enumerate(lines):
        reader.read([(2.0 * number, line, 0)])
    assert list(series.main.recorder.values) == pytest.approx([2000.0] * 3)


def test_keras_continues_steps_over_epochs():
    found = steps(replayed("keras", "keras.log"))
    assert found[-1] == 40
    assert found == sorted(set(found))
    losses = replayed("keras", "keras.log", key="val_loss").main.recorder
    assert list(losses.steps) == [20, 40]


def test_keras_without_bar_reads_one_line_for_each_epoch():
    reader = PRESETS["keras"].reader()
    lines = [
        "Epoch 1/2",
        "20/20 - 1s - 64ms/step - loss: 0.5",
        "Epoch 2/2",
        "20/20 - 1s - 9ms/step - loss: nan",
    ]
    found = [r.step for line in lines for r in reader.read((0.0, line, 0))]
    assert found == [20, 40]


def test_keras_2_frames_are_read():
    line = "12/30 [===========>..................] - ETA: 0s - loss: 0.1400 - acc: 1e-2"
    (report,) = PRESETS["keras"].reader().read((0.0, line, 0))
    assert report.values == {"loss": "0.1400", "acc": "1e-2"}


def test_lightning_counts_training_steps_only():
    found = steps(replayed("lightning", "lightning.log"))
    assert found[-1] == 40
    assert found == sorted(set(found))
    losses = replayed("lightning", "lightning.log", key="loss").main.recorder
    assert losses.reports > 30


def test_huggingface_takes_steps_from_the_bar_and_values_from_dictionaries():
    speeds = steps(replayed("huggingface", "huggingface.stderr.log"))
    assert speeds[-1] == 40
    assert speeds == sorted(set(speeds))
    losses = replayed("huggingface", "huggingface.stderr.log", "huggingface.stdout.log", key="loss")
    assert losses.main.recorder.reports == 8
    runtime = replayed("huggingface", "huggingface.stdout.log", key="train_samples_per_second")
    assert list(runtime.main.recorder.values) == [106.7]


def test_lammps_uses_its_own_clock_over_two_runs():
    series = replayed("lammps", "lammps.log")
    found = series.main.recorder
    assert steps(series) == [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
    assert found.values[-1] == pytest.approx(100 / (0.4854055 - 0.38816159))
    energy = replayed("lammps", "lammps.log", key="TotEng").main.recorder
    assert energy.values[-1] == pytest.approx(-4.6201733)


def test_lammps_rows_of_one_buffer_keep_their_distances():
    reader = PRESETS["lammps"].reader()
    lines = ["Step Temp CPU", "0 1.0 0", "10 1.0 2.5", "20 1.0 5.0", "Loop time of 5"]
    reports = [r for line in lines for r in reader.read((9.0, line, 0))]
    assert [report.time_s for report in reports] == [0.0, 2.5, 5.0]


def test_lammps_rows_that_arrive_one_by_one_keep_the_time_of_the_start():
    reader = PRESETS["lammps"].reader()
    rows = [(1.0, "Step Temp CPU"), (3.0, "0 1.0 0"), (5.5, "10 1.0 2.5"), (8.0, "20 1.0 5.0")]
    reports = [r for time_s, row in rows for r in reader.read((time_s, row, 0))]
    assert [report.time_s for report in reports] == [3.0, 5.5, 8.0]


@pytest.mark.parametrize("file", ["gromacs.stderr.log", "gromacs.md.log"])
def test_gromacs_steps_are_read_from_both_outputs(file):
    assert steps(replayed("gromacs", file)) == [100.0 * k for k in range(1, 11)]


def test_unknown_preset_names_the_nearest_one():
    with pytest.raises(InvalidInputError, match="tqmd") as raised:
        preset_named("tqmd")
    assert "tqdm" in str(raised.value.remedy)
