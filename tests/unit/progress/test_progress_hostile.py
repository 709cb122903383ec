"""Output of a program is hostile: nothing that it writes may raise an error."""

import struct

from hypothesis import given, settings
from hypothesis import strategies as st
from progress_files import LaunchFiles

from assay.executors.progress.channel import CHANNEL_NAME
from assay.executors.progress.event_files import masked_crc
from assay.executors.progress.metric_series import MAX_PROCESSES, MetricSeries
from assay.executors.progress.presets.registry import PRESETS
from assay.executors.progress.report import Report
from assay.records import Metric, Progress

METRICS = [
    *(
        Metric(name=f"{name}{key}", unit=unit, progress=Progress(preset=name, key=key))
        for name in PRESETS
        for key, unit in (("", "steps/s"), ("loss", ""))
    ),
    Metric(name="p", progress=Progress(pattern=r"(?P<step>\S+)/(\S+)(?: (?P<unit>\S+))?")),
    Metric(name="loss", progress=Progress()),
    Metric(name="c", progress=Progress(file="m.csv", key="loss")),
    Metric(name="j", progress=Progress(file="m.jsonl", key="loss")),
]
TOKENS = (
    *("\r", "\n", "\b", "\x1b[A", "\x1b[32m", "\x1b", " ", "|", "%|", "/", "[", "]", "<", ",", ":"),
    *("12", "9" * 400, "1.2.3", "nan", "-inf", "1e999", "k", "it/s", "s/it", "ms/step", "00:01"),
    *("Epoch 1", "loss=", " - loss: ", "{'loss': '", "'}", "Step Temp CPU\n", "step ", "\u2501"),
    *('{"step": ', '"loss": ', "null", "true", '"rank": ', '"time_s": ', "}", '"', "Loop time"),
    *("---- Step 1 ---- CPU = ", "  Step  Time\n", "100%|# | 2/3 [00:01<00:01, 1it/s]", "[" * 50),
)


@given(st.lists(st.sampled_from(TOKENS), max_size=60), st.binary(max_size=20))
@settings(max_examples=150, deadline=None)
def test_no_output_raises_an_error(tmp_path_factory, tokens, raw):
    files = LaunchFiles(tmp_path_factory.mktemp("launch"), METRICS, channel=True)
    data = "".join(tokens).encode() + raw
    places = ("stdout", "stderr", CHANNEL_NAME, "m.csv", "m.jsonl")
    for part in (data[: len(data) // 2], data[len(data) // 2 :]):
        for place in places:
            files.write(part, files.folder / place)
        files.drain()
    for notice in files.finish():
        notice.evidence()
    files.watch.series()


@given(st.binary(max_size=80))
@settings(max_examples=150, deadline=None)
def test_no_event_raises_an_error(tmp_path_factory, payload):
    folder = tmp_path_factory.mktemp("launch")
    metric = Metric(name="loss", progress=Progress(file="a.tfevents"))
    files = LaunchFiles(folder, [metric])
    head = struct.pack("<Q", len(payload))
    crcs = [struct.pack("<I", masked_crc(part)) for part in (head, payload)]
    files.write(head + crcs[0] + payload + crcs[1] + payload, folder / "a.tfevents")
    files.drain()
    files.finish()


def test_number_of_ranks_is_bounded():
    series = MetricSeries(Metric(name="loss", progress=Progress()), "loss")
    for rank in range(MAX_PROCESSES + 100):
        series.add(Report(1.0, {"loss": 1.0}, rank=rank))
    assert len(series.processes) == MAX_PROCESSES + 1
    assert series.main.recorder.rank == 0
