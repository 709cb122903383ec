"""Processes that disturb launches."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from assay.executors.evidence.other_processes import (
    MAX_COST_SHARE,
    MIN_INTERVAL_S,
    OtherProcesses,
    is_disturbed,
)
from assay.noise.driver import KernelCounters, ProcessUsage
from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage


def sample(foreign_s: float, wall_s: float = 1.0) -> Sample:
    launch = Launch(configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=0, position=0)
    return Sample(
        launch=launch,
        outcome=Outcome.OK,
        wall_s=wall_s,
        evidence=(
            Evidence(kind="foreign_load", value=foreign_s, unit="s", external=True),
            Evidence(kind="host_cpus", value=2.0),
        ),
    )


class Machine:
    """A machine whose clock passes as it is read; a process takes six tenths of a CPU."""

    def __init__(self, reading_s: float = 0.001) -> None:
        self.now_s = 0.0
        self.readings = 0
        self._reading_s = reading_s

    def clock(self) -> float:
        return self.now_s

    def read(self) -> KernelCounters:
        self.readings += 1
        self.now_s += self._reading_s
        busy = {
            (pid, "1"): ProcessUsage(pid, name, 0, share * self.now_s)
            for pid, name, share in (
                (999_999_999, "burn", 0.6),
                (999_999_998, "idle", 0.01),
                (os.getpid(), "assay", 0.9),
            )
        }
        return KernelCounters(self.now_s, {}, 0, busy)


@pytest.fixture
def machine() -> Iterator[Machine]:
    yield Machine()


def test_disturbed_launch_names_who_used_the_cpus(machine: Machine) -> None:
    others = OtherProcesses(machine.read, machine.clock, machine.clock)
    assert others.evidence(sample(1.0)) == ()  # there is nothing to compare with yet
    machine.now_s += 2.0
    (found,) = others.evidence(sample(1.0))
    assert found.note == "burn (process 999999999)"
    assert found.value == pytest.approx(0.6)
    assert found.external


def test_process_that_was_busy_long_before_is_not_named(machine: Machine) -> None:
    others = OtherProcesses(machine.read, machine.clock, machine.clock)
    others.evidence(sample(1.0))
    machine.now_s += 60.0
    assert others.evidence(sample(1.0)) == (), "59 of these 60 s met no disturbed launch"
    machine.now_s += 2.0
    assert others.evidence(sample(1.0)) != ()


def test_launches_beside_it_are_no_strangers() -> None:
    def read(now_s: float) -> KernelCounters:
        pairs = ((11, os.getpid()), (12, 11), (13, 1))
        busy = {(pid, "1"): ProcessUsage(pid, "busy", 0, now_s, parent) for pid, parent in pairs}
        return KernelCounters(now_s, {}, 0, busy)

    machine = Machine()
    others = OtherProcesses(lambda: read(machine.now_s), machine.clock, lambda: 0.0)
    others.evidence(sample(1.0))
    machine.now_s += 2.0
    assert [one.note for one in others.evidence(sample(1.0))] == ["busy (process 13)"]


def test_quiet_launch_reads_nothing(machine: Machine) -> None:
    others = OtherProcesses(machine.read, machine.clock, machine.clock)
    for foreign_s in (0.0, 0.05, -0.2):
        assert others.evidence(sample(foreign_s)) == ()
        machine.now_s += 10.0
    assert machine.readings == 0


def test_readings_cost_a_small_share_of_the_time() -> None:
    machine = Machine(reading_s=0.02)
    others = OtherProcesses(machine.read, machine.clock, machine.clock)
    began_s = machine.now_s
    for _ in range(10_000):
        machine.now_s += 0.01
        others.evidence(sample(1.0))
    assert 0.0 < machine.readings * 0.02 <= 1.1 * MAX_COST_SHARE * (machine.now_s - began_s)
    assert MIN_INTERVAL_S < 0.02 / MAX_COST_SHARE


def test_step_of_the_count_is_no_disturbance() -> None:
    assert not is_disturbed(sample(0.02, wall_s=0.02))
    assert is_disturbed(sample(0.3, wall_s=1.0))
