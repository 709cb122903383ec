import json
import os
import shutil
import struct
import time
from pathlib import Path

import pytest
from progress_files import LaunchFiles

from assay.errors import InvalidInputError
from assay.executors.progress.event_files import masked_crc
from assay.executors.progress.file_kinds import FileKind, file_kind
from assay.records import Metric, Progress

RECORDED = Path(__file__).parents[2] / "fixtures" / "progress"


def metric(file: str, key: str = "", name: str = "loss", pattern: str | None = None) -> Metric:
    return Metric(name=name, progress=Progress(file=file, key=key, pattern=pattern))


def series_of(files: LaunchFiles, name: str = "loss"):
    return files.watch.series()[name]


def test_csv_rows_are_read_as_they_are_appended(tmp_path):
    path = tmp_path / "m.csv"
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    files.write("step,loss,val\n1,0.5,\n2,0.4", path)
    files.drain()
    files.write("5,\n3,,7\n4,nan,\n5,0.25", path)
    files.drain()
    assert [n.kind for n in files.finish()] == ["progress_not_finite"]
    assert series_of(files).steps == (1, 2, 5)
    assert series_of(files).values == (0.5, 0.45, 0.25)


def test_csv_rewritten_with_a_new_column_gives_each_row_once(tmp_path):
    path = tmp_path / "m.csv"
    files = LaunchFiles(tmp_path, [metric("m.csv"), metric("m.csv", name="val")])
    files.write("step,loss\n1,0.5\n2,0.4\n", path)
    files.drain()
    path.write_text("loss,step,val\n0.5,1,\n0.4,2,\n,2,0.6\n0.3,3,\n")
    files.drain()
    files.write("0.2,4,\n", path)
    files.finish()
    assert series_of(files).values == (0.5, 0.4, 0.3, 0.2)
    assert series_of(files, "val").values == (0.6,)


def test_csv_seen_in_the_middle_of_a_rewrite_gives_each_row_once(tmp_path):
    path = tmp_path / "m.csv"
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    files.write("step,loss\n1,0.5\n2,0.4\n3,0.3\n", path)
    files.drain()
    path.write_text("step,loss,val\n1,0.5,\n2,0")
    files.drain()
    files.write(".4,\n3,0.3,\n4,0.2,\n", path)
    files.finish()
    assert series_of(files).values == (0.5, 0.4, 0.3, 0.2)


def test_csv_of_an_earlier_launch_does_not_count(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("step,loss\n1,0.9\n2,0.8\n")
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    files.drain()
    files.write("3,0.7\n", path)
    files.finish()
    assert series_of(files).values == (0.7,)


def test_csv_that_repeats_the_rows_of_an_earlier_launch_counts(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("step,loss\n1,0.9\n2,0.8\n")
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    path.write_text("step,loss\n1,0.9\n")
    files.drain()
    files.write("2,0.8\n", path)
    files.finish()
    assert series_of(files).values == (0.9, 0.8)


def test_csv_batches_are_spread_since_the_previous_batch(tmp_path):
    path = tmp_path / "m.csv"
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    files.write("step,loss\n1,0.5\n", path)
    set_time(path, files, 1.0)
    files.drain(1.0)
    files.write("2,0.4\n3,0.3\n", path)
    set_time(path, files, 3.0)
    files.drain(3.05)
    files.finish(3.1)
    assert series_of(files).times_s == pytest.approx((1.0, 2.0, 3.0), abs=0.02)


def set_time(path: Path, files: LaunchFiles, after_s: float) -> None:
    ns = time.time_ns() + int((files.start + after_s - time.monotonic()) * 1e9)
    os.utime(path, ns=(ns, ns))


def test_only_the_new_folder_of_a_logger_counts(tmp_path):
    recorded = (RECORDED / "lightning-metrics.csv").read_bytes()
    write_version(tmp_path, 0, recorded)
    files = LaunchFiles(tmp_path, [metric("logs/version_*/metrics.csv")])
    write_version(tmp_path, 1, recorded[:100])
    files.drain(2.0)
    write_version(tmp_path, 1, recorded)
    files.finish(3.0)
    assert series_of(files).steps == (4, 9, 14, 19, 24, 29, 34, 39)


def write_version(folder: Path, version: int, content: bytes) -> None:
    path = folder / "logs" / f"version_{version}" / "metrics.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_json_lines_are_read_with_texts_as_numbers(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"step": 1, "loss": 9}\n')
    files = LaunchFiles(tmp_path, [metric("m.jsonl")])
    files.write('{"step": 2, "loss": "0.69", "name": "x"}\nbroken\n{"step": 3, "lo', path)
    files.drain()
    files.write('ss": 0.5}\n', path)
    files.finish()
    assert series_of(files).steps == (2, 3)
    assert series_of(files).values == (0.69, 0.5)


def test_lines_of_a_text_file_are_matched(tmp_path):
    path = tmp_path / "run.log"
    path.write_text("loss 9\n")
    files = LaunchFiles(tmp_path, [metric("run.log", pattern="loss ([0-9.]+)")])
    files.write("loss 1\nloss 2\n", path)
    files.finish()
    assert series_of(files).values == (1, 2)


def test_missing_file_is_reported_with_its_name(tmp_path):
    files = LaunchFiles(tmp_path, [metric("m.csv")])
    (notice,) = files.finish()
    assert notice.kind == "progress_never"
    assert "m.csv" in notice.text


def test_missing_column_is_reported_with_the_known_ones(tmp_path):
    files = LaunchFiles(tmp_path, [metric("m.csv", key="los")])
    files.write("step,loss\n1,0.5\n", tmp_path / "m.csv")
    (notice,) = files.finish()
    assert "'los'" in notice.text
    assert "It reported loss, step" in notice.text or "It reported loss" in notice.text


def event(step: int, tag: str, value: float, wall_s: float, tensor: bool = False) -> bytes:
    """Return one record as TensorBoard's writers make it."""
    raw = struct.pack("<f", value)
    data = b"\x42" + bytes([len(raw) + 2]) + b"\x22\x04" + raw if tensor else b"\x15" + raw
    entry = b"\x0a" + bytes([len(tag)]) + tag.encode() + data
    summary = b"\x0a" + bytes([len(entry)]) + entry
    payload = b"\x09" + struct.pack("<d", wall_s) + b"\x10" + bytes([step])
    payload += b"\x2a" + bytes([len(summary)]) + summary
    head = struct.pack("<Q", len(payload))
    crc = struct.pack("<I", masked_crc(head))
    return head + crc + payload + struct.pack("<I", masked_crc(payload))


def test_recorded_events_are_read(tmp_path):
    files = LaunchFiles(tmp_path, [metric("tb"), metric("tb", name="sps")])
    (tmp_path / "tb").mkdir()
    shutil.copy(RECORDED / "tensorboard.events", tmp_path / "tb" / "events.out.tfevents.1.host")
    assert files.finish() == []
    assert series_of(files).steps == tuple(range(20))
    assert series_of(files).values[1] == 0.5
    assert series_of(files, "sps").values[19] == 319.0


def test_unfinished_event_is_read_later_and_a_new_file_after_a_restart(tmp_path):
    folder = tmp_path / "tb"
    folder.mkdir()
    old = folder / "events.out.tfevents.0.host"
    old.write_bytes(event(1, "loss", 9.0, time.time()))
    files = LaunchFiles(tmp_path, [metric("tb")])
    raw = event(1, "loss", 4.0, time.time()) + event(2, "loss", 3.0, time.time(), tensor=True)
    first = folder / "events.out.tfevents.1.host"
    for begin in range(0, len(raw), 7):
        files.write(raw[begin : begin + 7], first)
        files.drain(2.0 + begin)
    files.write(event(3, "loss", 2.0, time.time()), folder / "events.out.tfevents.2.host")
    assert files.finish(500.0) == []
    assert series_of(files).values == (4.0, 3.0, 2.0)


def test_damaged_events_end_the_reading_without_error(tmp_path):
    files = LaunchFiles(tmp_path, [metric("a.tfevents")])
    good = event(1, "loss", 4.0, time.time())
    files.write(good + good[:-1] + b"\0" + good, tmp_path / "a.tfevents")
    files.finish()
    assert series_of(files).values == (4.0,)


def test_large_event_is_skipped(tmp_path):
    files = LaunchFiles(tmp_path, [metric("a.tfevents")])
    head = struct.pack("<Q", 100_000)
    image = head + struct.pack("<I", masked_crc(head)) + b"x" * 100_000 + b"crc!"
    path = tmp_path / "a.tfevents"
    files.write(event(1, "loss", 4.0, time.time()) + image[:50_000], path)
    files.drain()
    files.write(image[50_000:] + event(2, "loss", 3.0, time.time()), path)
    files.finish()
    assert series_of(files).values == (4.0, 3.0)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", None, FileKind.CSV),
        ("a.tsv", None, FileKind.CSV),
        ("a.jsonl", None, FileKind.JSON_LINES),
        ("events.out.tfevents.1", None, FileKind.EVENTS),
        ("runs", None, FileKind.EVENTS),
        ("values", json.dumps({"a": 1}), FileKind.JSON_LINES),
    ],
)
def test_kind_follows_from_name_or_content(tmp_path, name, content, kind):
    if content is not None:
        (tmp_path / name).write_text(content)
    assert file_kind(tmp_path / name) is kind


def test_unknown_kind_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="unknown"):
        file_kind(tmp_path / "train.log")
