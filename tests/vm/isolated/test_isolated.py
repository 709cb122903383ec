"""CPUs isolated by the kernel's command line: findings of the checks, and absence of other work.

Counts are compared, never times: the guest is emulated.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.machine.profile_file import read_profile
from assay.host.changes import ActionOutcome, ActionStatus, HostChanges
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.machine.checks import Finding, Host, Status, examine
from assay.machine.root import Root
from assay.machine.tunables import IRQS, WORKQUEUES
from vm.alive import Alive
from vm.trees import WHAT_CHECKS_READ, look
from vm.trial import plan_on

from .conftest import Isolated

pytestmark = pytest.mark.vm

APART, HOUSEKEEPING = (2, 3), (0, 1)
SERIAL = 3
"""Interrupt of the second serial line, over which the guest answers."""


def findings(root: Root) -> dict[str, Finding]:
    return {one.id: one for one in examine(Host(root), read_profile("latency"))}


@pytest.fixture
def changes(
    isolated: Isolated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HostChanges]:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    with open_journal() as journal:
        made = HostChanges(isolated.running.host, journal, "test")
        yield made
        made.restore()
        assert journal.entries == ()


def hold(changes: HostChanges, isolated: Isolated, **values: str) -> dict[str, ActionOutcome]:
    dotted = {name.replace("_", "."): value for name, value in values.items()}
    planned = plan_on(isolated.known, dotted)
    assert not planned.refused
    return {result.action.path: result for result in changes.hold(planned.system)}


def counts(guest: Alive, number: int) -> tuple[int, ...]:
    """Return the number of interrupts on each CPU."""
    lines = (guest.host.read("/proc/interrupts") or "").splitlines()
    (words,) = (line.split() for line in lines if line.split()[0] == f"{number}:")
    return tuple(int(word) for word in words[1:5])


@pytest.mark.parametrize("name", ["cmdline", "cpus", "nohz_full", "rcu_nocbs", "online"])
def test_checks_find_no_fault(isolated: Isolated, name: str) -> None:
    found = findings(isolated.root)[f"isolation.{name}"]
    assert found.status is Status.OK, found
    assert "2-3" in found.evidence or name == "online"


@pytest.mark.parametrize("name", ["irqs", "workqueues"])
def test_isolated_cpus_are_idle_from_boot(isolated: Isolated, name: str) -> None:
    found = findings(isolated.root)[f"isolation.{name}"]
    assert found.status is Status.OK, found


def test_interrupt_on_isolated_cpu_is_found_and_moved(
    isolated: Isolated, changes: HostChanges, tmp_path: Path
) -> None:
    guest = isolated.running
    guest.host.write(f"{IRQS}/{SERIAL}/smp_affinity_list", "2")
    found = findings(look(guest, WHAT_CHECKS_READ, tmp_path / "before"))["isolation.irqs"]
    assert found.status is not Status.OK and f"IRQ {SERIAL} may be routed to 2-3" in found.evidence
    assert found.remedy is not None and found.remedy.setting == "irq.cpus=0-1"
    result = hold(changes, isolated, irq_cpus="0-1")
    assert result[f"{IRQS}/{SERIAL}/smp_affinity_list"].status is ActionStatus.GRANTED
    found = findings(look(guest, WHAT_CHECKS_READ, tmp_path / "after"))["isolation.irqs"]
    assert found.status is Status.OK, found
    changes.restore()
    assert guest.host.read(f"{IRQS}/{SERIAL}/smp_affinity_list") == "2", "as it was found"
    guest.host.write(f"{IRQS}/{SERIAL}/smp_affinity_list", "0-1")


def test_interrupts_arrive_at_new_cpus(isolated: Isolated, changes: HostChanges) -> None:
    guest = isolated.running
    hold(changes, isolated, irq_cpus="1")
    before = counts(guest, SERIAL)
    after = counts(guest, SERIAL)
    assert after[1] > before[1]
    assert after[:1] + after[2:] == before[:1] + before[2:]


def test_kernel_work_on_isolated_cpu_is_found_and_moved(
    isolated: Isolated, changes: HostChanges, tmp_path: Path
) -> None:
    guest = isolated.running
    guest.host.write(f"{WORKQUEUES}/cpumask", "f")
    try:
        found = findings(look(guest, WHAT_CHECKS_READ, tmp_path / "before"))["isolation.workqueues"]
        assert found.status is not Status.OK and "may run on 2-3" in found.evidence
        hold(changes, isolated, workqueue_cpus="0-1")
        assert guest.host.read(f"{WORKQUEUES}/cpumask") == "3"
        found = findings(look(guest, WHAT_CHECKS_READ, tmp_path / "after"))["isolation.workqueues"]
        assert found.status is Status.OK, found
        changes.restore()
        assert guest.host.read(f"{WORKQUEUES}/cpumask") == "f"
    finally:
        guest.host.write(f"{WORKQUEUES}/cpumask", "3")


def test_kernel_refuses_empty_mask(isolated: Isolated) -> None:
    with pytest.raises(OSError) as refused:
        isolated.running.host.write(f"{WORKQUEUES}/cpumask", "0")
    assert refused.value.errno == errno.EINVAL


def test_movable_kernel_threads_are_found(isolated: Isolated) -> None:
    """All but those that belong to a CPU."""
    host = isolated.running.host
    lines = isolated.running.output("ps -o pid,ppid,comm").splitlines()[1:]
    words = (line.split(None, 2) for line in lines)
    threads = {name: int(pid) for pid, parent, name in words if parent == "2"}
    for name in ("oom_reaper", "kcompactd0", "rcuop/2", "rcu_preempt"):
        before = host.affinity(threads[name])
        host.set_affinity(threads[name], (0,))
        assert host.affinity(threads[name]) == (0,), name
        host.set_affinity(threads[name], before)
    for name in ("ksoftirqd/2", "migration/2", "cpuhp/2"):
        with pytest.raises(OSError) as refused:
            host.set_affinity(threads[name], (0,))
        assert refused.value.errno == errno.EINVAL, name
        assert host.affinity(threads[name]) == (2,), name


def test_tick_stops_for_single_program(isolated: Isolated) -> None:
    """As assay-noise counts it in /proc/interrupts."""
    ticks = {
        name: cpu.interrupts.get("LOC Local timer interrupts", 0)
        for name, cpu in isolated.noise.items()
    }
    assert ticks["isolated"] * 4 < ticks["house"], ticks
    assert ticks["isolated"] * 4 < ticks["shared"], "two programs share the CPU by its tick"


def test_other_programs_use_isolated_cpus_only_if_placed(isolated: Isolated) -> None:
    """The longest detours tell which CPU was shared."""
    assert any(result.switches for result in isolated.noise["shared"].worst)
