"""The kernel's tracers of noise, in a guest whose kernel has them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.noise.causes import CauseKind
from assay.noise.tracers import TOOLS, KernelTrace, TraceResult

from .alive import Alive, alive
from .guest import Guest, UnavailableError, find_tracing_kernel

pytestmark = [pytest.mark.vm, pytest.mark.slow]

TRACING = "/sys/kernel/tracing"
TRACED_S = 1.0
PERIOD_US = "50000"
"""Period of timerlat's thread: an emulated guest could not do real-time work every millisecond."""


@pytest.fixture(scope="module")
def guest(guest_kernel: Path) -> Iterator[Alive]:
    try:
        kernel = find_tracing_kernel()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    with alive(Guest(kernel=kernel, cpus=2), {}) as running:
        running.run(f"mount -t tracefs tracefs {TRACING}")
        known = running.host.read(f"{TRACING}/available_tracers") or ""
        if not set(TOOLS) <= set(known.split()):
            pytest.skip(f"{kernel.name} has no tracers of noise")
        running.host.write(f"{TRACING}/osnoise/timerlat_period_us", PERIOD_US)
        yield running


def traced(guest: Alive, tool: str, cpus: tuple[int, ...] = ()) -> TraceResult:
    files = (f"{TRACING}/osnoise/cpus", f"{TRACING}/current_tracer")
    before = [guest.host.read(path) for path in files]
    with KernelTrace(TRACING, tool, cpus, guest.host).running() as trace:
        time.sleep(TRACED_S)
        guest.host.write(f"{trace.instance}/tracing_on", "0")
        text = trace.text()
        assert set(trace.lost()) == {0, 1}
    assert [guest.host.read(path) for path in files] == before
    assert trace.instance.rpartition("/")[2] not in guest.host.listdir(f"{TRACING}/instances")
    return TOOLS[tool](text, TRACED_S, cpus)


def test_osnoise_names_source_of_noise(guest: Alive) -> None:
    found = traced(guest, "osnoise")
    assert [cpu.cpu for cpu in found.run.cpus] == [0, 1]
    # Both processors of the guest are one thread of the host: the tick alone is seen on each.
    assert all(cpu.duration_ns and min(cpu.duration_ns) > 0 for cpu in found.run.cpus)
    kinds = {cause.kind for cause in found.causes.values()}
    assert CauseKind.TICK in kinds
    assert {message.start_ns for cpu in found.run.cpus for message in cpu.worst} <= {
        at_ns for _, at_ns in found.causes
    }


def test_timerlat_measures_thread_latency(guest: Alive) -> None:
    found = traced(guest, "timerlat", (1,))
    (cpu,) = found.run.cpus
    assert cpu.cpu == 1
    assert len(cpu.duration_ns) > 3
    assert all(took_ns > 0 for took_ns in cpu.duration_ns)
    assert {cause.kind for cause in found.causes.values()} <= {
        CauseKind.INTERRUPT,
        CauseKind.THREAD,
    }
