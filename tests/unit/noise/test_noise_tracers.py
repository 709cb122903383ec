"""Output of the kernel's tracers of noise.

The lines are those of Documentation/trace/osnoise-tracer.rst and timerlat-tracer.rst, and of a
report on the list of the kernel (a driver's interrupt thread on an isolated CPU).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.host.host import LiveHost
from assay.machine.root import Root
from assay.noise.driver import NoiseMeasurement
from assay.noise.summary import summarize_noise
from assay.noise.tracers import (
    KernelTrace,
    demand_tracer,
    parse_osnoise,
    parse_timerlat,
    with_lost_events,
)

OSNOISE = """\
# tracer: osnoise
#
#                                _-----=> irqs-off
#           TASK-PID      CPU#   ||||   TIMESTAMP
     osnoise/8-961     [008] d.h.  5789.857532: irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns
     osnoise/8-961     [008] dNh.  5789.858408: irq_noise: local_timer:236 start 5789.858404871 duration 2848 ns
   migration/8-54      [008] d...  5789.858413: thread_noise: migration/8:54 start 5789.858409300 duration 3068 ns
     osnoise/8-961     [008] ....  5789.858413: sample_threshold: start 5789.858404555 duration 8812 ns interferences 2
     osnoise/7-2967    [007] d..h2..  5790.898311: irq_noise: dcvsh-irq-7:179 start 5790.898310871 duration 104 ns
 irq/179-dcvsh-i-343   [007] d..h2..  5790.898318: irq_noise: IPI:6 start 5790.898317537 duration 104 ns
 irq/179-dcvsh-i-343   [007] d...3..  5790.898321: thread_noise: irq/179-dcvsh-i:343 start 5790.898316287 duration 4740 ns
   kworker/7:0-85      [007] d...3..  5790.898343: thread_noise: kworker/7:0:85 start 5790.898321339 duration 20990 ns
     osnoise/7-2967    [007] .......  5790.898343: sample_threshold: start 5790.898308475 duration 34531 ns interference 5
     osnoise/7-2967    [007] ..s....  5791.000002: softirq_noise:    TIMER:1 start 5791.000000100 duration 700 ns
     osnoise/7-2967    [007] .......  5791.000003: sample_threshold: start 5791.000000000 duration 1500 ns interferences 1
     osnoise/7-2967    [007] .......  5791.500000: sample_threshold: start 5791.499000000 duration 900000 ns interferences 0
     osnoise/7-2967    [007] .......  5792.000000: 1000000        190  99.98100            9      18    0   1007     18       1
CPU:2 [LOST 7 EVENTS]
"""  # noqa: E501
TIMERLAT = """\
# tracer: timerlat
          <idle>-0       [000] d.h1    54.029328: #1     context    irq timer_latency       932 ns
           <...>-867     [000] ....    54.029339: #1     context thread timer_latency     11700 ns
          <idle>-0       [001] dNh1    54.029346: #1     context    irq timer_latency      2833 ns
           <...>-868     [001] ....    54.029353: #1     context thread timer_latency      9820 ns
          <idle>-0       [000] d.h1    54.030328: #2     context    irq timer_latency      7690 ns
           <...>-867     [000] ....    54.030330: #2     context thread timer_latency      8113 ns
"""


def test_osnoise_detours_and_causes() -> None:
    traced = parse_osnoise(OSNOISE, 3.0, (6,))
    by_cpu = {cpu.cpu: cpu for cpu in traced.run.cpus}
    assert set(by_cpu) == {6, 7, 8}
    assert by_cpu[6].duration_ns == ()
    assert by_cpu[8].duration_ns == (8812,)
    assert by_cpu[7].duration_ns == (34531, 1500, 900000)
    assert by_cpu[8].start_ns == (0,), "time begins with the first"
    assert by_cpu[7].start_ns[0] == 5790898308475 - 5789858404555

    answer = summarize_noise([NoiseMeasurement(traced.run, {}, 0, ())], (), causes=traced.causes)
    told = [
        (one.detour.duration_ns, str(one.cause.kind), one.cause.description) for one in answer.worst
    ]
    assert told == [
        (900000, "beneath", "firmware or the hypervisor: no event in the kernel"),
        (34531, "thread", "thread kworker/7:0"),
        (8812, "thread", "thread migration/8"),  # the interrupt a millisecond earlier has no part
        (1500, "softirq", "softirq TIMER"),
    ]
    figures = {figure.name: figure.value for figure in answer.figures}
    assert figures["detour_max_us"] == 900.0
    assert figures["noise_share"] == pytest.approx(100 * (8812 + 34531 + 1500 + 900000) / 9e9)


def test_timerlat_latencies() -> None:
    traced = parse_timerlat(TIMERLAT, 1.0)
    assert [cpu.duration_ns for cpu in traced.run.cpus] == [(11700, 8113), (9820,)]
    late = [
        cause.description
        for (cpu, _), cause in sorted(traced.causes.items(), key=lambda item: item[0])
        if cpu == 0
    ]
    assert late == ["late wake-up of its thread, or other threads", "late timer interrupt"]


def test_no_event_is_no_detour() -> None:
    answer = summarize_noise(
        [NoiseMeasurement(parse_osnoise("# tracer: osnoise\n", 1.0, (0,)).run, {}, 0, ())], ()
    )
    assert answer.worst == ()
    assert {figure.value for figure in answer.figures} == {0.0}


def test_kernel_without_tracer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotPossibleError, match="cannot be used"):
        demand_tracer("osnoise", Root(tmp_path))
    folder = tmp_path / "sys/kernel/tracing"
    folder.mkdir(parents=True)
    (folder / "available_tracers").write_text("hwlat function nop\n")
    with pytest.raises(NotPossibleError, match="no tracer osnoise") as refused:
        demand_tracer("osnoise", Root(tmp_path))
    assert "CONFIG_OSNOISE_TRACER" in str(refused.value)
    (folder / "available_tracers").write_text("timerlat osnoise nop\n")
    assert demand_tracer("osnoise", Root(tmp_path)) == "/sys/kernel/tracing"


class Tracefs(LiveHost):
    """Substitute for tracefs: a new instance has its files."""

    files: tuple[str, ...] = ("current_tracer", "buffer_size_kb", "events/osnoise/enable", "trace")

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.base = base

    def mkdir(self, path: str) -> None:
        super().mkdir(path)
        for name in (*self.files, "per_cpu/cpu2/stats"):
            file = self.base / path.lstrip("/") / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("0\n")

    def rmdir(self, path: str) -> None:
        shutil.rmtree(self.base / path.lstrip("/"))


@pytest.fixture
def tracefs(tmp_path: Path) -> Tracefs:
    (tmp_path / "osnoise").mkdir()
    (tmp_path / "osnoise/cpus").write_text("0-7\n")
    (tmp_path / "instances").mkdir()
    return Tracefs(tmp_path)


@pytest.mark.parametrize("tool", ["osnoise", "timerlat"])
def test_tracer_files_are_restored(tracefs: Tracefs, tool: str) -> None:
    trace = KernelTrace("", tool, (2, 3), tracefs)
    with trace.running():
        assert tracefs.read("/osnoise/cpus") == "2-3"
        assert tracefs.read(f"{trace.instance}/current_tracer") == tool
        enabled = tracefs.read(f"{trace.instance}/events/osnoise/enable")
        assert enabled == ("1" if tool == "osnoise" else "0")
        tracefs.write(f"{trace.instance}/trace", "text")
        assert trace.text() == "text"
        tracefs.write(f"{trace.instance}/per_cpu/cpu2/stats", "entries: 9\noverrun: 7\nbytes: 1")
        assert trace.lost() == {2: 7}
    assert tracefs.read("/osnoise/cpus") == "0-7"
    assert tracefs.listdir("/instances") == ()


def test_lost_events_are_counted() -> None:
    run = parse_timerlat(TIMERLAT, 1.0).run
    assert {cpu.cpu: cpu.dropped for cpu in with_lost_events(run, {0: 7}).cpus} == {
        cpu.cpu: 7 if cpu.cpu == 0 else 0 for cpu in run.cpus
    }


def test_tracer_files_are_restored_after_error(tracefs: Tracefs) -> None:
    tracefs.files = ("events/osnoise/enable",)  # it cannot be switched on
    with (
        pytest.raises(NotPossibleError, match="cannot be started"),
        KernelTrace("", "osnoise", (2,), tracefs).running(),
    ):
        pytest.fail("it did not start")
    assert tracefs.read("/osnoise/cpus") == "0-7"
    assert tracefs.listdir("/instances") == ()


def test_second_trace_is_refused(tracefs: Tracefs) -> None:
    with (
        KernelTrace("", "timerlat", (), tracefs).running(),
        pytest.raises(NotPossibleError, match="another run"),
        KernelTrace("", "timerlat", (), tracefs).running(),
    ):
        pytest.fail("both ran")
