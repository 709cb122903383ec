"""Python writer of progress records: as a part of assay, and copied beside a program."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.writers import assay_progress

WRITER = Path(assay_progress.__file__)
SRC = WRITER.parents[2]


class Fifo:
    """FIFO that a test reads."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    @property
    def variables(self) -> dict[str, str]:
        state = self.path.stat()
        return {
            "ASSAY_PROGRESS_FD": "-1",
            "ASSAY_PROGRESS_INODE": f"{state.st_dev:020}:{state.st_ino:020}",
            "ASSAY_PROGRESS_PATH": str(self.path),
        }

    def lines(self) -> list[bytes]:
        text = b""
        while True:
            try:
                text += os.read(self.fd, 1 << 20)
            except BlockingIOError:
                return text.splitlines()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines()]


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Fifo]:
    found = Fifo(tmp_path / "progress")
    yield found
    os.close(found.fd)


@pytest.fixture(autouse=True)
def without_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in assay_progress.RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def progress(fifo: Fifo, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return ``progress`` of a module that was loaded in a launch."""
    for name, value in fifo.variables.items():
        monkeypatch.setenv(name, value)
    return loaded(WRITER).progress


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("loaded_writer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_record_contains_step_values_and_time(fifo: Fifo, progress: Callable[..., None]) -> None:
    progress(step=12, samples_per_s=310.25)
    (record,) = fifo.records()
    assert list(record) == ["step", "samples_per_s", "time_s"]
    assert (record["step"], record["samples_per_s"]) == (12, 310.25)


def test_numbers_of_other_libraries_are_converted(
    fifo: Fifo, progress: Callable[..., None]
) -> None:
    class Scalar:  # as of PyTorch
        def __float__(self) -> float:
            return 0.5

    progress(
        step=np.int64(3), a=np.float32(0.25), b=Scalar(), c=np.array([2.0])[0], d=True, e=2**70
    )
    (record,) = fifo.records()
    assert [record[name] for name in ("step", *"abcde")] == [3, 0.25, 0.5, 2, 1, 2**70]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_number_without_json_form_is_null(
    fifo: Fifo, progress: Callable[..., None], value: float
) -> None:
    progress(loss=value)
    assert fifo.records()[0]["loss"] is None


def test_missing_step_is_the_number_of_the_call(fifo: Fifo, progress: Callable[..., None]) -> None:
    progress()
    progress(loss=1)
    progress(7)
    progress()
    assert [record["step"] for record in fifo.records()] == [1, 2, 7, 4]


def test_any_name_is_quoted(fifo: Fifo, progress: Callable[..., None]) -> None:
    names = ["loss/train", 'quoted "name"', "back\\slash", "naïve", "line\nbreak", "größe"]
    progress(**dict.fromkeys(names, 1.0))
    (record,) = fifo.records()
    assert [name for name in record if name in names] == names


@pytest.mark.parametrize("name", ["time_s", "rank", "dropped"])
def test_reserved_name_is_refused(progress: Callable[..., None], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.*reserved"):
        progress(**{name: 1})


def test_text_is_refused(progress: Callable[..., None]) -> None:
    with pytest.raises((TypeError, ValueError)):
        progress(loss="low")
    with pytest.raises(TypeError):
        progress(loss=[1.0])


def test_long_record_is_refused(fifo: Fifo, progress: Callable[..., None]) -> None:
    with pytest.raises(ValueError, match="limit is 4096: report fewer values"):
        progress(**{"n" * 4096: 1.0})
    assert fifo.lines() == []
    progress(step=1, **{"n" * 4000: 1.0})
    assert 4000 < len(fifo.lines()[0]) < 4096


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"RANK": "3"}, 3),
        ({"OMPI_COMM_WORLD_RANK": "0", "SLURM_PROCID": "9"}, 0),
        ({"RANK": "gold", "PMI_RANK": "12"}, 12),
        ({"SLURM_PROCID": "5", "ASSAY_INSTANCE": "1"}, 5),
        ({"ASSAY_INSTANCE": "1"}, 1),
        ({"RANK": "-1"}, None),
        ({"RANK": "²"}, None),
        ({}, None),
    ],
)
def test_rank_comes_from_the_environment(
    fifo: Fifo,
    progress: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    rank: int | None,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    progress(step=1)
    assert fifo.records()[0].get("rank") == rank


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"ASSAY_PROGRESS_FD": "x", "ASSAY_PROGRESS_INODE": "1:2", "ASSAY_PROGRESS_PATH": "/x"},
        {"ASSAY_PROGRESS_FD": "1", "ASSAY_PROGRESS_INODE": "1", "ASSAY_PROGRESS_PATH": "/x"},
        {"ASSAY_PROGRESS_FD": "1", "ASSAY_PROGRESS_INODE": "1:2"},
        {"ASSAY_PROGRESS_FD": "1", "ASSAY_PROGRESS_INODE": "1:2", "ASSAY_PROGRESS_PATH": "/none"},
    ],
)
def test_nothing_is_written_without_a_reader(variables: dict[str, str]) -> None:
    script = "import assay; [assay.progress(step=1, loss=0.5) for _ in range(3)]"
    env = {**os.environ, "PYTHONPATH": str(SRC), **variables}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=env, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_records_of_threads_are_complete(fifo: Fifo, progress: Callable[..., None]) -> None:
    def work(number: int) -> None:
        for _ in range(100):
            progress(thread=number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = fifo.records()
    assert [record["step"] for record in records] == list(range(1, 401))
    for number in range(4):
        times = [record["time_s"] for record in records if record["thread"] == number]
        assert times == sorted(times)
        assert len(times) == 100


def test_signal_handler_may_report(fifo: Fifo, progress: Callable[..., None]) -> None:
    old = signal.signal(signal.SIGALRM, lambda number, frame: progress(handler=1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for _ in range(300):
            progress(handler=0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert len([record for record in fifo.records() if record["handler"] == 0]) <= 300


FLOOD = """
import sys
{module}
for step in range(1, 20001):
    progress(step=step, loss=step / 2)
"""
PAUSE = """
import time
{module}
for step in range(1, 3001):
    progress(step=step)
held = time.monotonic()
time.sleep(0.05)
progress(step=3001)
"""
FORK = """
import os
{module}
progress()
progress()
if os.fork() == 0:
    progress()
    progress()
    os._exit(0)
os.wait()
progress()
"""
MODULES = {
    "assay": "from assay import progress",
    "copy": "from assay_progress import progress",
}


@pytest.fixture(params=list(MODULES))
def run(
    fifo: Fifo, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[[str], list[dict[str, Any]]]:
    """Return a function that runs a script with one of the writers, and returns its records."""

    def run(script: str) -> list[dict[str, Any]]:
        env = {**os.environ, **fifo.variables, "PYTHONPATH": str(SRC)}
        if request.param == "copy":
            (tmp_path / "assay_progress.py").write_bytes(WRITER.read_bytes())
            env["PYTHONPATH"] = str(tmp_path)
        code = script.format(module=MODULES[request.param])
        subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=60)
        return fifo.records()

    return run


def test_frequent_reports_are_thinned(run: Callable[[str], list[dict[str, Any]]]) -> None:
    records = run(FLOOD)
    steps = [record["step"] for record in records]
    assert steps[:500] == list(range(1, 501))
    assert steps == sorted(set(steps))
    assert steps[-1] == 20_000  # held, and written at the end
    assert all(record["loss"] == record["step"] / 2 for record in records)
    assert not any("dropped" in record for record in records)
    elapsed = records[-1]["time_s"] - records[0]["time_s"]
    assert len(records) <= 500 + elapsed / assay_progress.INTERVAL_S + 3


def test_last_report_before_a_pause_is_written(run: Callable[[str], list[dict[str, Any]]]) -> None:
    before, after = run(PAUSE)[-2:]
    assert (before["step"], after["step"]) == (3000, 3001)
    assert after["time_s"] - before["time_s"] >= 0.05


def test_forked_process_counts_from_one(run: Callable[[str], list[dict[str, Any]]]) -> None:
    assert [record["step"] for record in run(FORK)] == [1, 2, 1, 2, 3]


def test_held_record_is_written_by_its_process_only(fifo: Fifo) -> None:
    script = (
        "import os, sys\n"
        "from assay import progress\n"
        "for step in range(1, 3001): progress(step=step)\n"
        "if os.fork() == 0: sys.exit()\n"
        "os.wait()\n"
    )
    env = {**os.environ, **fifo.variables, "PYTHONPATH": str(SRC)}
    subprocess.run([sys.executable, "-c", script], env=env, check=True, timeout=60)
    steps = [record["step"] for record in fifo.records()]
    assert steps.count(3000) == 1


def test_dropped_records_are_counted(fifo: Fifo, progress: Callable[..., None]) -> None:
    filler = os.open(fifo.path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(filler, b"x" * 4096)
    except BlockingIOError:
        os.close(filler)
    for _ in range(3):
        progress()
    fifo.lines()
    progress()
    progress()
    first, second = fifo.records()
    assert (first["step"], first["dropped"]) == (4, 3)
    assert second["step"] == 5
    assert "dropped" not in second


def test_blocking_descriptor_is_not_used(fifo: Fifo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have made the inherited description blocking."""
    inherited = os.open(fifo.path, os.O_RDWR)
    for name, value in {**fifo.variables, "ASSAY_PROGRESS_FD": str(inherited)}.items():
        monkeypatch.setenv(name, value)
    module = loaded(WRITER)
    for _ in range(400):
        module.progress(**{"n" * 500: 1.0})  # more than the pipe holds
    assert 0 < len(fifo.lines()) < 400
    os.close(inherited)


@given(
    step=st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    values=st.dictionaries(
        st.text(min_size=1, max_size=20).filter(
            lambda name: name not in {"step", "time_s", "rank", "dropped"}
        ),
        st.one_of(st.integers(-(2**80), 2**80), st.floats()),
        max_size=5,
    ),
)
def test_every_record_is_one_line_of_json(step: float, values: dict[str, float]) -> None:
    written: list[bytes] = []

    class Recorder:
        def write(self, record: bytes, now_s: float) -> bool:
            written.append(record)
            return True

    assay_progress._Reporter(Recorder()).report(step, values)
    (record,) = written
    assert record.count(b"\n") == 1
    found = json.loads(record)
    assert found["step"] == step
    for name, value in values.items():
        assert found[name] == (value if math.isfinite(value) else None)


def test_public_name_is_the_writer() -> None:
    assert assay.progress is assay_progress.progress
    assert Path(assay.get_include()) == WRITER.parent
    with pytest.raises(AttributeError, match="no attribute 'progres'"):
        assay.progres  # noqa: B018


def test_copy_needs_nothing_of_assay() -> None:
    text = WRITER.read_text()
    assert "import assay" not in text.replace("from assay_progress import", "")
    assert "from assay." not in text
