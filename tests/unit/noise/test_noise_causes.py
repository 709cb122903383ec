"""The likely cause of a detour, from given counts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.machine.root import Root
from assay.noise.causes import CauseKind, cause_of
from assay.noise.periods import KnownPeriod, explain_period, known_periods, tick_hz
from assay.records.noise import CpuNoise, ExplainedDetour

TICK = "LOC Local timer interrupts"
DISK = "36 virtio1-req.0"
CPU = CpuNoise(
    cpu=1,
    length_ns=10**9,
    interrupts={
        TICK: 250,
        DISK: 3,
        "RES Rescheduling interrupts": 900,
        "softirq TIMER": 200,
        "softirq RCU": 240,
        "softirq BLOCK": 3,
        "softirq NET_RX": 1,
    },
)
TOOK = 100_000


def told(
    waited: int = 0, away: int = 0, switches: int = 0, cpu: int = 1, **interrupts: int
) -> ExplainedDetour:
    names = {
        "tick": TICK,
        "disk": DISK,
        "res": "RES Rescheduling interrupts",
        "timer": "softirq TIMER",
        "rcu": "softirq RCU",
        "block": "softirq BLOCK",
        "net": "softirq NET_RX",
    }
    return ExplainedDetour(
        start_ns=0,
        duration_ns=TOOK,
        counter_window_ns=1_000_000,
        on_cpu_ns=1_000_000 - waited - away,
        run_queue_wait_ns=waited,
        switches=switches,
        cpu=cpu,
        interrupt_window_ns=2_000_000,
        interrupts={names[key]: count for key, count in interrupts.items()},
    )


@pytest.mark.parametrize(
    ("detour", "kind", "words"),
    [
        (told(waited=90_000, switches=1, tick=1), "thread", "another thread"),
        (told(away=95_000, switches=1, tick=1), "stopped", "stopped"),
        (told(away=95_000, tick=1), "stolen", "hypervisor"),
        (told(waited=90_000, switches=1, cpu=0), "migration", "CPU 0"),
        (told(tick=1), "tick", "the timer tick"),
        (told(tick=1, timer=1), "tick", "softirq TIMER"),
        (told(tick=2, timer=1, rcu=1, disk=1, block=1), "interrupt", "36 virtio1-req.0"),
        (told(tick=1, disk=1, block=1), "interrupt", "softirq BLOCK"),
        (told(tick=1, net=1), "softirq", "softirq NET_RX"),
        (told(res=1), "interrupt", "RES"),
        (told(), "beneath", "firmware"),
    ],
)
def test_causes(detour: ExplainedDetour, kind: str, words: str) -> None:
    cause = cause_of(detour, CPU)
    assert cause.kind == kind
    assert words in cause.description


def test_cause_outside_guest_kernel_is_hypervisor() -> None:
    assert "hypervisor" in cause_of(told(), CPU, guest=True).description
    assert "hypervisor" not in cause_of(told(), CPU, guest=False).description


def test_unexamined_detour_has_unknown_cause() -> None:
    detour = ExplainedDetour(
        start_ns=0, duration_ns=TOOK, counter_window_ns=TOOK, on_cpu_ns=TOOK, cpu=1
    )
    assert cause_of(detour, CPU).kind is CauseKind.UNKNOWN


# --- periods that a kernel is known for -------------------------------------------------------


def tree(folder: Path, **files: str) -> Root:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Root(folder)


def test_timer_tick_is_read_from_kernel_configuration(tmp_path: Path) -> None:
    root = tree(tmp_path, proc__sys__kernel__osrelease="6.1.0-test\n")
    assert tick_hz(root) is None
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/config-6.1.0-test").write_text("CONFIG_HZ_100=y\nCONFIG_HZ=100\n")
    assert tick_hz(root) == 100
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"# x\nCONFIG_HZ=1000\n"))
    assert tick_hz(root) == 1000
    (tmp_path / "proc/config.gz").write_bytes(b"no gzip")
    assert tick_hz(root) == 100


def test_known_periods_are_those_of_enabled_activities(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        proc__sys__vm__stat_interval="1\n",
        proc__sys__vm__dirty_writeback_centisecs="500\n",
        proc__sys__kernel__watchdog_thresh="10\n",
        proc__sys__kernel__watchdog="0\n",
        sys__kernel__mm__ksm__run="0\n",
        sys__kernel__mm__ksm__sleep_millisecs="20\n",
    )
    assert [one.period_s for one in known_periods(root)] == [1.0, 5.0]
    (tmp_path / "sys/kernel/mm/ksm/run").write_text("1\n")
    (tmp_path / "proc/sys/kernel/watchdog").write_text("1\n")
    assert [one.period_s for one in known_periods(root)] == [1.0, 5.0, 0.02, 4.0]


def test_periods_of_damon_are_known_while_it_is_on(tmp_path: Path) -> None:
    thread = "sys__kernel__mm__damon__admin__kdamonds__0"
    intervals = f"{thread}__contexts__0__monitoring_attrs__intervals"
    files = {f"{intervals}__sample_us": "500000\n", f"{intervals}__aggr_us": "5000000\n"}
    root = tree(tmp_path, **{f"{thread}__state": "off\n"}, **files)
    assert known_periods(root) == ()
    (tmp_path / "sys/kernel/mm/damon/admin/kdamonds/0/state").write_text("on\n")
    assert [one.period_s for one in known_periods(root)] == [0.5, 5.0]
    assert explain_period(5.01, known_periods(root)) == "DAMON (memory.damon)"


def test_cause_of_period_is_found() -> None:
    known = (KnownPeriod(0.004, "the tick"), KnownPeriod(1.0, "a"), KnownPeriod(1.0, "b"))
    assert explain_period(0.00401, known) == "the tick"
    assert explain_period(0.0079, known) == "every 2nd of the tick"
    assert explain_period(0.012, known) == "every 3rd of the tick"
    assert explain_period(1.001, known) == "a or b"
    assert explain_period(0.0051, known) is None
    assert explain_period(0.004, ()) is None
