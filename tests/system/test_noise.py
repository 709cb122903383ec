"""Noise of this host: assay-noise and `assay machine noise`, with disturbances made on purpose.

Other load of this host is part of the measurement, so no test asserts silence.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from launching import wait_until
from marks import marked

from assay.noise.causes import CauseKind, cause_of
from assay.records import decode
from assay.records.noise import CpuNoise, NoiseRun
from rotation import others_in_turns

CPU = min(os.sched_getaffinity(0))
NS = 1_000_000_000
BUSY = f"import os; os.sched_setaffinity(0, [{CPU}]); print(flush=True)\nwhile True: pass"


def run(noise: Path, *words: str) -> NoiseRun:
    done = subprocess.run([noise, *words], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return decode(done.stdout, NoiseRun)


def only(found: NoiseRun) -> CpuNoise:
    (cpu,) = found.measured
    return cpu


def here(noise: Path, method: str, *words: str) -> CpuNoise:
    return only(run(noise, method, "--cpus", str(CPU), *words))


@contextlib.contextmanager
def competitor() -> Iterator[None]:
    """A program that wants the whole CPU."""
    command = [sys.executable, "-c", BUSY]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def measures(pid: int) -> bool:
    """Return whether each measuring thread of assay-noise has worked for a while."""
    with contextlib.suppress(OSError):
        return least_worked_s(pid) > 0.3
    return False


def least_worked_s(pid: int) -> float:
    """Return the smallest CPU time of the measuring threads of assay-noise, in seconds."""
    tasks = [t for t in Path(f"/proc/{pid}/task").iterdir() if t.name != str(pid)]
    return min(map(worked_s, tasks), default=0.0)


def worked_s(task: Path) -> float:
    """Return the CPU time of a thread, in seconds."""
    # After the name in brackets: the times in user and in kernel mode (proc(5)).
    ticks = (task / "stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("method", others_in_turns("fwq", "selfish", "ftq"))
def test_competing_thread_is_found_and_attributed(assay_noise: Path, method: str) -> None:
    with competitor():
        cpu = here(assay_noise, method, "--seconds", "1")
    share = sum(cpu.duration_ns) / cpu.measured_ns
    assert share > 0.25, "two that want the CPU get half of it each, or less with others"
    # It need not be the longest: time stolen by a hypervisor may be longer.
    shared = [
        expected_text
        for expected_text in cpu.worst
        if cause_of(expected_text, cpu).kind is CauseKind.THREAD
    ]
    assert shared
    assert shared[0].duration_ns > 500_000
    assert shared[0].run_queue_wait_ns >= 0.5 * shared[0].duration_ns
    # Time lost in detours equals the missing work, even if the clock readings were disturbed.
    if method == "ftq":
        ideal = max(cpu.values)
        missing = 1 - sum(cpu.values) / (ideal * len(cpu.values))
        # Intervals lie on one grid, and a clock reading counts as work in them.
        of_all = sum(cpu.duration_ns) / cpu.length_ns
        assert missing == pytest.approx(of_all, abs=0.15)
    if method == "fwq":
        least = min(cpu.values)
        assert sum(cpu.values) > 1.2 * least * len(cpu.values)
        assert 1 - least * len(cpu.values) / sum(cpu.values) == pytest.approx(share, abs=0.15)


@pytest.mark.parametrize("method", others_in_turns("selfish", "fwq", "ftq"))
def test_stop_is_found_with_length_and_cause(assay_noise: Path, method: str) -> None:
    command = [assay_noise, method, "--cpus", str(CPU), "--seconds", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as process:
        wait_until(lambda: measures(process.pid), "it measures", 30)
        before = time.monotonic_ns()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        stopped = time.monotonic_ns()
        time.sleep(0.15)
        least = time.monotonic_ns() - stopped
        worked = least_worked_s(process.pid)
        process.send_signal(signal.SIGCONT)
        # The stop counts once work follows it; SIGINT may end the work before.
        wait_until(lambda: least_worked_s(process.pid) > worked + 0.1, "it measures again", 30)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    most = time.monotonic_ns() - before
    cpu = only(decode(out, NoiseRun))
    found = [
        expected_text
        for expected_text in cpu.worst
        if cause_of(expected_text, cpu).kind is CauseKind.STOPPED
        and expected_text.duration_ns >= least
    ]
    assert len(found) == 1
    assert least <= found[0].duration_ns <= most


def test_detours_are_ordered_and_add_up(assay_noise: Path) -> None:
    found = run(assay_noise, "selfish", "--seconds", "0.5")
    assert {cpu.cpu for cpu in found.measured} == os.sched_getaffinity(0)
    for cpu in found.measured:
        assert cpu.length_ns >= NS // 2
        assert list(cpu.start_ns) == sorted(cpu.start_ns)
        ends = [at + took for at, took in zip(cpu.start_ns, cpu.duration_ns, strict=True)]
        assert all(end <= at for end, at in zip(ends, cpu.start_ns[1:], strict=False)), (
            "none overlap"
        )
        assert all(took > found.threshold_ns for took in cpu.duration_ns)
        assert sum(cpu.duration_ns) <= cpu.measured_ns
        longest = sorted(cpu.duration_ns, reverse=True)[: len(cpu.worst)]
        assert [expected_text.duration_ns for expected_text in cpu.worst] == longest
        assert sum(cpu.interrupts.values()) > 0, "no half second is without an interrupt"


def test_intervals_share_one_grid(assay_noise: Path) -> None:
    """This holds even if the CPU is lost for many intervals at once."""
    with competitor():
        cpu = here(assay_noise, "ftq", "--seconds", "0.5", "--quantum-us", "250")
    assert len(cpu.values) in (cpu.length_ns // 250_000, cpu.length_ns // 250_000 - 1)
    assert min(cpu.values) < 0.1 * max(cpu.values), "in some intervals nothing was done"
    assert max(cpu.values) <= 1.2 * cpu.steps


def test_full_buffer_counts_dropped_detours(assay_noise: Path) -> None:
    cpu = here(assay_noise, "ftq", "--seconds", "0.2", "--quantum-us", "100", "--most", "50")
    assert len(cpu.values) == 50
    assert cpu.dropped >= 1000
    worst = here(assay_noise, "selfish", "--seconds", "0.3", "--worst", "2").worst
    assert len(worst) <= 2


@pytest.mark.rotating
def test_early_end_reports_partial_result(assay_noise: Path) -> None:
    command = [assay_noise, "fwq", "--seconds", "60"]
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            wait_until(lambda p=process: measures(p.pid), "all threads measure", 30)
            process.send_signal(number)
            out, _ = process.communicate(timeout=30)
        found = decode(out, NoiseRun)
        assert (process.returncode, found.stopped_early) == (0, True)
        assert all(cpu.values for cpu in found.measured)


def test_probe_ends_with_its_caller(assay_noise: Path) -> None:
    command = [str(assay_noise), "fwq", "--seconds", "600"]
    script = f"import subprocess; p = subprocess.Popen({command!r})"
    script += "; print(p.pid, flush=True); p.wait()"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as asker:
        assert asker.stdout is not None
        pid = int(asker.stdout.readline())
        time.sleep(0.5)
        asker.kill()
    pidfd = None
    with contextlib.suppress(ProcessLookupError):
        pidfd = os.pidfd_open(pid)
    if pidfd is not None:
        import select

        try:
            assert select.select([pidfd], [], [], 20)[0], "it goes on for nobody"
        finally:
            os.close(pidfd)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["sideways"],
        ["fwq", "--seconds"],
        ["fwq", "--seconds", "0"],
        ["fwq", "--seconds", "nan"],
        ["fwq", "--quantum-us", "1e9"],
        ["fwq", "--cpus", "a"],
        ["fwq", "--cpus", ""],
        ["fwq", "--loud", "1"],
    ],
)
def test_invalid_options_are_refused(assay_noise: Path, words: list[str]) -> None:
    done = subprocess.run([assay_noise, *words], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("assay-noise: ")


def test_missing_cpu_is_reported_beside_others(assay_noise: Path) -> None:
    found = run(assay_noise, "fwq", "--cpus", f"{CPU},8000,9000", "--seconds", "0.05")
    assert [(one.cpu, bool(one.error)) for one in found.cpus] == [
        (CPU, False),
        (8000, True),
        (9000, True),
    ]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root")
def test_unprivileged_measurement_works(assay_noise: Path, programs: Path) -> None:
    copy = programs / "assay-noise"
    shutil.copy(assay_noise, copy)
    copy.chmod(0o755)
    command = f"ulimit -l 64; exec setpriv --reuid 65534 --clear-groups {copy} ftq --seconds 0.1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
    found = decode(done.stdout, NoiseRun)
    assert not found.locked
    assert found.measured


# --- assay machine noise ----------------------------------------------------------------------


@pytest.fixture
def cli(assay_exec: Path, assay_noise: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path, more={"ASSAY_NOISE": str(assay_noise)})


@pytest.mark.rotating
def test_all_methods_fit_80_columns(cli: CommandLine) -> None:
    answer = cli("machine", "noise", "--seconds", "0.5")
    assert answer.status == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 80
    for word in ("selfish", "fwq", "ftq", "p99.9", "likely cause"):
        assert word in answer.out
    assert "measuring: ftq" in answer.err


@pytest.mark.rotating
def test_figures_are_readable_by_metric_option(cli: CommandLine) -> None:
    answer = cli("machine", "noise", "selfish", "fwq", "--seconds", "0.3", "--figures", "-q")
    assert (answer.status, answer.err) == (0, "")
    lines = dict(re.findall(r"^([a-z0-9_]+) ([0-9.e+-]+) \S+$", answer.out, re.MULTILINE))
    assert len(lines) == len(answer.out.splitlines())
    assert {"noise_share", "detour_p99_us", "detour_max_us", "work_p999_us"} <= set(lines)
    assert float(lines["detour_p99_us"]) <= float(lines["detour_max_us"])


@pytest.mark.rotating
def test_json_and_figures_are_written(cli: CommandLine) -> None:
    for name in ("noise.svg", "noise.html"):
        answer = cli("machine", "noise", "--seconds", "0.4", "--json", "-o", name)
        assert answer.status == 0, answer.err
        document = answer.document
        assert [one["method"] for one in document["methods"]] == ["selfish", "fwq", "ftq"]
        assert document["worst"][0]["duration_us"] == pytest.approx(
            document["figures"]["detour_max_us"]
        )
        text = (cli.folder / name).read_text()
        assert "<svg" in text and "</svg>" in text
        assert "http://" not in text.replace("http://www.w3.org/", ""), "it loads nothing"


def meters(cli: CommandLine) -> list[int]:
    """Return the processes of assay-noise that a command line started."""
    every = marked(cli.mark).items()
    return [pid for pid, words in every if "assay-noise" in words.partition(" ")[0]]


@pytest.mark.rotating
def test_ctrl_c_shows_partial_result(cli: CommandLine) -> None:
    with subprocess.Popen(
        cli.argv("machine", "noise", "fwq", "ftq", "--seconds", "100", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.env,
        start_new_session=True,
    ) as process:
        wait_until(lambda: any(map(measures, meters(cli))), "all threads measure", 30)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=40)
    assert process.returncode == 130, err
    document: dict[str, Any] = json.loads(out)
    (method,) = document["methods"]
    assert (method["method"], method["stopped_early"]) == ("fwq", True)
    assert method["cpus"][0]["quanta"] > 0
    assert b"Traceback" not in err


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("noise", "loud"), 2, "Unknown method 'loud'"),
        (("noise", "--cpus", "7999"), 2, "CPU 7999 cannot be used"),
        (("noise", "--cpus", "x"), 2, "x"),
        (("noise", "--seconds", "5h"), 2, "out of range"),
        (
            ("noise", "--seconds", "0.05", "--threshold", "1s"),
            2,
            "too long for a measurement of 0.05 s",
        ),
        (
            ("noise", "--seconds", "0.05", "--quantum", "10ms"),
            2,
            "too long for a measurement of 0.05 s",
        ),
        (("noise", "fwq", "fwq"), 2, "fwq is given twice"),
        (("noise", "--figures", "--json"), 2, "exclude each other"),
        (("noise", "-o", "noise.txt"), 2, "unknown suffix"),
        (("noise", "-o", "no/noise.svg"), 2, "there is no folder"),
        (("noise", "fwq", "--tool", "osnoise"), 2, "exclude each other"),
        (("noise", "--tool", "magic"), 2, "Known are osnoise, timerlat"),
        (("noise", "--dry-run"), 2, "takes no --dry-run"),
        (("show", "--figures"), 2, "takes no --figures"),
    ],
)
def test_invalid_input_is_refused(
    cli: CommandLine, words: tuple[str, ...], status: int, message: str
) -> None:
    answer = cli("machine", *words)
    assert (answer.status, answer.out) == (status, "")
    assert message in answer.err


@pytest.mark.rotating
def test_missing_tracer_is_refused_with_next_step(cli: CommandLine) -> None:
    tracers = Path("/sys/kernel/tracing/available_tracers")
    if tracers.exists() and "osnoise" in tracers.read_text():
        pytest.skip("this kernel has it")
    answer = cli("machine", "noise", "--tool", "osnoise", "--seconds", "0.1")
    assert answer.status == 3
    assert "fwq, ftq and selfish need" in answer.err
