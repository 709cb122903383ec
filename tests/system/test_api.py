"""Python API with real launches: results, interrupts, threads and event loops."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import assay
from assay.api.functions.session import NOTHING_KEPT
from assay.records import Outcome, Stage, Status

pytestmark = pytest.mark.system
SRC = Path(assay.__file__).parents[1]
SLOW = "0.03"
FAST = "0.01"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assay_exec: Path) -> Path:
    """Provide a store and a working folder of its own."""
    path = tmp_path / "studies.db"
    monkeypatch.setenv("ASSAY_DB", str(path))
    monkeypatch.setenv("ASSAY_EXEC", str(assay_exec))
    # A study is resumed under the same variables only, and some tests begin it in a subprocess.
    monkeypatch.setenv("PYTHONPATH", str(SRC))
    monkeypatch.chdir(tmp_path)
    return path


def test_measurement_returns_samples_and_is_stored() -> None:
    result = assay.measure(["sleep", FAST], runs=8, disturbed_above="never")
    assert result.kind == "measure"
    assert result.status is Status.DONE
    assert len(result.samples) == 8
    assert result.arms[0].summary["wall_s"].mean > float(FAST)
    stored = assay.load_study()
    assert stored.id == result.id
    assert stored.samples == result.samples
    assert {row["outcome"] for row in result.rows} == {"ok"}


def test_comparison_finds_the_faster_command() -> None:
    result = assay.compare(
        [["sleep", SLOW], ["sleep", FAST]],
        names=["slow", "fast"],
        runs=60,
        disturbed_above="never",
    )
    assert result.verdict == "faster"
    assert (result.claims[0].a, result.claims[0].b) == ("slow", "fast")
    assert result.command == f"sleep {FAST}"


def test_tune_recommends_the_faster_value_and_its_command_reproduces_it() -> None:
    result = assay.tune(
        ["sleep", "{s}"], {"arg.s": [float(SLOW), float(FAST)]}, runs=80, disturbed_above="never"
    )
    assert dict(result.recommendation.settings) == {"arg.s": float(FAST)}
    assert result.command == f"assay run arg.s={FAST} -- sleep '{{s}}'"
    done = assay.run(study=result.id)
    assert done.succeeded
    assert dict(done.sample.launch.configuration) == {"arg.s": float(FAST)}
    again = assay.confirm(result.id, runs=40)
    assert again.kind == "compare"
    with pytest.raises(assay.NotPossibleError, match="too small for a claim") as refused:
        assay.confirm(result, runs=4)
    assert re.search(r'runs=14; `assay.resume\("\w+", runs=12\)` keeps', str(refused.value))


def test_search_space_and_design_launch_nothing(tmp_path: Path, store: Path) -> None:
    marker = tmp_path / "launched"
    space = assay.search_space(["touch", str(marker), "{n}"], {"arg.n": [1, 2]})
    assert list(space.settings) == ["arg.n"]
    file = tmp_path / "experiment.toml"
    file.write_text(f'[workload]\ncommand = "touch {marker} {{n}}"\n[settings]\n"arg.n" = [1, 2]\n')
    design = assay.design(file)
    assert len(design.cells) == 2
    assert design.launches >= 2
    assert not marker.exists()
    assert not store.exists()


def test_sweep_measures_each_cell(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(
        f'[workload]\ncommand = "sleep {{s}}"\n[settings]\n"arg.s" = [{SLOW}, {FAST}]\n'
        "[design]\nrepeats = 6\n"
    )
    result = assay.sweep(file, disturbed_above="never")
    assert [arm.name for arm in result.arms] == [f"arg.s={SLOW}", f"arg.s={FAST}"]
    assert result.verdict == "faster"


def test_calibration_measures_the_noise() -> None:
    result = assay.calibrate(["true"], runs=60, disturbed_above="never")
    assert result.conclusion is not None
    assert result.conclusion.calibration is not None
    assert result.verdict is None


def test_run_returns_output_and_exit_status() -> None:
    done = assay.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.stdout, done.stderr, done.exit_status) == ("out\n", "err\n", 3)
    assert done.sample.outcome is Outcome.FAILED
    with pytest.raises(assay.WorkloadFailedError, match="exit status 3"):
        done.check()
    assert assay.run(["true"]).check().wall_s


def test_run_verifies_settings() -> None:
    done = assay.run(["sh", "-c", 'echo "$A $B"; sleep 0.3'], settings={"env.A": "b c", "env.B": 1})
    assert done.stdout == "b c 1\n"
    assert done.settings["env.A"].status == "granted"
    assert not done.refused


def test_run_inherits_the_streams_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    done = assay.run(["echo", "hello"], capture_output=False)
    assert done.stdout == ""
    assert capfd.readouterr().out == "hello\n"


def test_run_of_a_missing_program_raises_an_error() -> None:
    with pytest.raises(assay.NotPossibleError, match="cannot be started"):
        assay.run(["./missing-program"])


@pytest.mark.parametrize("words", [["./missing"], ["true", "|", "cat"]])
def test_errors_are_raised_and_never_exit(words: list[str]) -> None:
    with pytest.raises(assay.AssayError):
        assay.compare([words, ["./missing"]], runs=4)


def test_failing_program_raises_its_reason() -> None:
    with pytest.raises(assay.WorkloadFailedError, match="exit status 7"):
        assay.measure(["sh", "-c", "exit 7"], runs=8)


def test_resumed_study_keeps_its_samples() -> None:
    first = assay.measure(["sleep", FAST], runs=6, disturbed_above="never")
    more = assay.resume(first.id, runs=4)
    assert more.samples[: len(first.samples)] == first.samples
    assert len(more.samples) > len(first.samples)
    assert any("earlier" in note or "launch" in note for note in more.notes)


def test_build_and_metrics_of_the_output_are_keywords(tmp_path: Path) -> None:
    (tmp_path / "app.sh").write_text("#!/bin/sh\necho rate=$1\n")
    result = assay.measure(
        ["sh", "{build}/app", "5"],
        build="cp app.sh {build}/app",
        metrics={"rate": "rate=([0-9.]+)"},
        goal="higher",
        runs=6,
        disturbed_above="never",
    )
    assert result.arms[0].summary["rate"].mean == 5.0


SCRIPT = """
import sys, assay
try:
    assay.measure(["sleep", "{sleep}"], runs=500, progress_bar=False)
except KeyboardInterrupt as interrupt:
    print(*interrupt.__notes__, flush=True)
    raise
"""


def _await_launches(store: Path, number: int) -> str:
    """Wait until a study has some launches; return its id."""
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        try:
            found = assay.load_study()
        except assay.AssayError:
            found = None
        if found is not None and len(found.samples) >= number:
            return found.id
        time.sleep(0.05)
    raise AssertionError("no launch within a minute")


def test_interrupt_leaves_a_study_that_can_be_resumed(store: Path) -> None:
    script = SCRIPT.format(sleep="0.05")
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    study = _await_launches(store, 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert f'Study {study} is kept: assay.resume("{study}") continues it.' in out
    assert "KeyboardInterrupt" in err
    kept = assay.load_study(study)
    assert kept.status is Status.INTERRUPTED
    resumed = assay.resume(study, runs=4)
    assert resumed.status is Status.DONE
    assert len(resumed.samples) > len(kept.samples)


RESUMED = """\
import os
import assay

try:
    assay.tune(
        ["sleep", "{{s}}"],
        {{"arg.s": [0.05, 0.04, 0.03, 0.02]}},
        budget="10m",
        disturbed_above="never",
    )
except KeyboardInterrupt as interrupt:
    print(*interrupt.__notes__)
kept = assay.load_study()
print(kept.status, len(kept.samples))
os.environ.update({variables})
try:
    more = assay.resume(kept.id, runs=12)
    print(more.status, len(more.samples), {{sample.launch.stage.value for sample in more.samples}})
except assay.NotPossibleError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("variables", "outcome"),
    [
        ({"KMP_DUPLICATE_LIB_OK": "True", "KMP_INIT_AT_FORK": "FALSE"}, "done"),
        ({"OMP_NUM_THREADS": "1"}, 'del os.environ["OMP_NUM_THREADS"]'),
    ],
)
def test_interrupted_search_is_resumed_in_the_same_interpreter(
    variables: dict[str, str], outcome: str, store: Path
) -> None:
    """Imports of a later cell may set variables; those of OpenMP's start do not matter."""
    process = subprocess.Popen(
        [sys.executable, "-c", RESUMED.format(variables=variables)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: text for name, text in os.environ.items() if name not in variables},
    )
    study = _await_launches(store, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert f'Study {study} is kept: assay.resume("{study}") continues it.' in out
    _, kept, *rest = out.splitlines()
    assert kept.startswith("interrupted")
    assert outcome in "\n".join(rest)
    if outcome == "done":
        assert len(assay.load_study(study).samples) > int(kept.split()[1])
        assert "search" in rest[0]


def test_cancelled_search_is_resumed_by_the_next_cell() -> None:
    space = {"arg.s": [0.05, 0.04, 0.03, 0.02]}

    async def main() -> None:
        study = assay.Study(
            assay.tune, ["sleep", "{s}"], space, budget="10m", disturbed_above="never"
        )
        task = asyncio.ensure_future(_awaited(study))
        while study.id is None and not task.done():
            await asyncio.sleep(0.02)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError) as cancelled:
        asyncio.run(main())
    kept = assay.load_study()
    assert any(f'assay.resume("{kept.id}")' in note for note in cancelled.value.__notes__)
    assert kept.status is Status.INTERRUPTED
    resumed = asyncio.run(assay.in_thread(assay.resume, kept.id, runs=8))
    assert resumed.status is Status.DONE
    assert len(resumed.samples) > len(kept.samples)


async def _awaited(study: assay.Study[assay.Result]) -> assay.Result:
    return await study


def test_end_of_the_block_ends_the_launch_and_keeps_the_study(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = ["sh", "-c", f"echo $$ >> {pids}; exec sleep 600"]
    with assay.Study(assay.measure, command, runs=8, grace=0) as study:
        end_s = time.monotonic() + 60
        while not (pids.exists() and pids.read_text().strip()) and time.monotonic() < end_s:
            time.sleep(0.02)
        assert study.running
    (pid,) = map(int, pids.read_text().split())
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(assay.StudyStopped) as stopped:
        study.result()
    assert study.id is not None
    assert any(study.id in note for note in stopped.value.__notes__)
    assert assay.load_study(study.id).status is Status.INTERRUPTED


def test_cancelled_task_ends_the_launch_and_keeps_the_study(tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    command = ["sh", "-c", f"echo $$ > {marker}; exec sleep 600"]

    async def main() -> None:
        task = asyncio.ensure_future(assay.measure_async(command, runs=8, grace=0))
        while not (marker.exists() and marker.read_text().strip()) and not task.done():
            await asyncio.sleep(0.02)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert not Path(f"/proc/{int(marker.read_text())}").exists()
    assert assay.load_study().status is Status.INTERRUPTED


def test_second_study_of_the_process_is_refused_and_the_first_continues() -> None:
    with assay.Study(assay.measure, ["sleep", "0.05"], runs=20) as study:
        end_s = time.monotonic() + 60
        while study.id is None and study.running and time.monotonic() < end_s:
            time.sleep(0.02)
        with pytest.raises(assay.NotPossibleError, match="Another study"):
            assay.measure(["true"], runs=4)
        assert study.result().kind == "measure"


def test_async_functions_run_beside_the_event_loop() -> None:
    ticks = 0

    async def main() -> assay.Result:
        nonlocal ticks
        task = asyncio.ensure_future(assay.measure_async(["sleep", FAST], runs=6))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0.01)
        return task.result()

    assert asyncio.run(main()).kind == "measure"
    assert ticks > 1


def test_handlers_of_signals_are_unchanged() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    assay.measure(["true"], runs=4)
    assert {number: signal.getsignal(number) for number in before} == before


def test_survey_of_a_stopped_tune_leaves_no_study(store: Path, tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    command = ["sh", "-c", f"echo $$ > {marker}; exec sleep {{s}}"]
    tuning = assay.Study(assay.tune, command, {"arg.s": [600, 601]}, grace=0)
    with tuning:
        end_s = time.monotonic() + 60
        while not (marker.exists() and marker.read_text().strip()) and time.monotonic() < end_s:
            time.sleep(0.02)
    with pytest.raises(assay.StudyStopped) as stopped:
        tuning.result()
    assert stopped.value.__notes__ == [NOTHING_KEPT]
    assert tuning.id is None
    assert not Path(f"/proc/{int(marker.read_text())}").exists()


def test_progress_is_one_line_of_a_terminal_and_silent_on_request() -> None:
    code = """
        import os, pty, sys
        pid, fd = pty.fork()
        if pid == 0:
            import assay
            assay.measure(["sleep", "0.01"], runs=6, progress_bar={bar})
            os._exit(0)
        out = b""
        while True:
            try:
                part = os.read(fd, 4096)
            except OSError:
                break
            if not part:
                break
            out += part
        os.waitpid(pid, 0)
        sys.stdout.buffer.write(out)
    """
    shown = {}
    for bar in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code.format(bar=bar))],
            env={**os.environ, "TERM": "xterm"},
            capture_output=True,
            timeout=120,
        )
        shown[bar] = done.stdout.decode()
    assert re.search(r"\[\.+\] surveying|timing|confirming", shown[True])
    assert "\n" not in shown[True].strip()
    assert shown[False] == ""


def test_document_is_that_of_the_command_line() -> None:
    result = assay.measure(["sleep", FAST], runs=6, disturbed_above="never")
    done = subprocess.run(
        [sys.executable, "-m", "assay", "study", "resume", result.id, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    told, own = json.loads(done.stdout), json.loads(result.to_json())
    told.pop("notes")
    own.pop("notes")
    assert told == own


def test_stages_of_rows_are_those_of_the_samples() -> None:
    result = assay.measure(["true"], runs=5)
    assert {row["stage"] for row in result.rows} <= set(map(str, Stage))
