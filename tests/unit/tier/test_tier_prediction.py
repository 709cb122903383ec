"""Prediction for a program from a short observation."""

from __future__ import annotations

import pytest

from assay.tier.efficiency import Device
from assay.tier.prediction import ActivitySnapshot, Prediction, predict, reasons

DEVICE = Device(read=2 * 2**30, write=2**30)
NOTHING = ActivitySnapshot(
    at_s=10.0,
    cpu_s=1.0,
    thread_s={7: 1.0},
    stall_s=1.0,
    zero_fill_faults=100,
    demand_faults=10,
    in_flight_faults=10,
    prefetch_hits=10,
    read_bytes=2**30,
    written_bytes=0,
)


def after(threads: int = 1, **more: float) -> Prediction:
    """Return the state ten seconds later, with the work divided among threads."""
    values = {name: getattr(NOTHING, name) for name in ActivitySnapshot.__struct_fields__}
    later = {name: v + more.get(name, 0) for name, v in values.items() if name != "thread_s"}
    each_s = more.get("cpu_s", 0.0) / threads
    ran = {7: 1.0 + each_s, **dict.fromkeys(range(8, 7 + threads), each_s)}
    return predict(NOTHING, ActivitySnapshot(**{**later, "at_s": 20.0, "thread_s": ran}), DEVICE)


def test_efficiency_is_work_over_work_plus_waiting() -> None:
    found = after(cpu_s=6.0, stall_s=2.0, prefetch_hits=100, read_bytes=2**30)
    assert found.efficiency == pytest.approx(0.75)
    assert found.max_efficiency == 1.0
    assert found.compute_s_per_gib == pytest.approx(6.0)
    assert found.transfer_s_per_gib == pytest.approx(0.5)
    assert found.prefetched_share == 1.0


def test_overlap_follows_model() -> None:
    """Four GiB read in two seconds, two written in two more; one second of work."""
    found = after(
        cpu_s=1.0, stall_s=5.0, prefetch_hits=9, read_bytes=4 * 2**30, written_bytes=2 * 2**30
    )
    assert found.max_efficiency == pytest.approx(0.25)
    assert found.transfer_s_per_gib == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("stall_s", "efficiency"),
    [(6.0, 0.4), (48.0, 0.4), (2.0, 4 / 6)],
    ids=["one waits and the others for it", "all wait", "little waiting"],
)
def test_concurrent_threads_are_counted(stall_s: float, efficiency: float) -> None:
    """Eight threads, four of them with ten seconds each; the transfers take eight."""
    found = after(
        8,
        cpu_s=32.0,
        stall_s=stall_s,
        prefetch_hits=9,
        read_bytes=8 * 2**30,
        written_bytes=4 * 2**30,
    )
    assert found.compute_s == pytest.approx(4.0)
    assert found.efficiency == pytest.approx(efficiency)
    assert found.max_efficiency == pytest.approx(0.5)


def test_ended_threads_count_as_sequential() -> None:
    values = {name: getattr(NOTHING, name) for name in ActivitySnapshot.__struct_fields__}
    gone = {**values, "at_s": 20.0, "cpu_s": 4.0, "thread_s": {9: 1.0}}
    assert predict(NOTHING, ActivitySnapshot(**gone), DEVICE).compute_s == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"cpu_s": 1.0}, "fit into DRAM"),
        (
            {"cpu_s": 1.0, "zero_fill_faults": 50, "prefetch_hits": 10, "read_bytes": 1},
            "initialising its memory",
        ),
        ({"cpu_s": 9.0, "stall_s": 1.0, "prefetch_hits": 9, "read_bytes": 2**30}, "well suited"),
        (
            {"cpu_s": 1.0, "stall_s": 1.0, "prefetch_hits": 9, "read_bytes": 20 * 2**30},
            "Fault handling counts",
        ),
        (
            {"cpu_s": 1.0, "stall_s": 9.0, "demand_faults": 9, "read_bytes": 2**30},
            "Only 0 % of the fetched",
        ),
        (
            {"cpu_s": 1.0, "stall_s": 9.0, "prefetch_hits": 9, "read_bytes": 20 * 2**30},
            "The device is the bottleneck",
        ),
    ],
)
def test_limiting_reason_is_named(more: dict[str, float], told: str) -> None:
    assert told in " ".join(reasons(after(**more)))


def test_empty_samples_have_no_prediction() -> None:
    found = after()
    assert (found.efficiency, found.max_efficiency) == (1.0, 1.0)
    assert found.prefetched_share is None
