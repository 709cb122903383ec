"""System settings on a guest's kernel: applied, read back, and restored byte for byte.

The settings, the journal and the undoing are those of this host; only the `Host` is the guest.
"""

from __future__ import annotations

import errno
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from assay.host.changes import ActionOutcome, ActionStatus, HostChanges
from assay.host.journal import STATE_VARIABLE, Journal, open_journal
from assay.host.undo import undo
from assay.machine.document import Machine
from assay.machine.tunables import HUGETLB, IRQS, NODES, SWAPS, THP, VM, WORKQUEUES
from assay.records.action import HoldFd
from assay.records.configuration import Value
from vm.alive import Alive
from vm.trial import plan_on

from .machine import HUGE_ON_NODE_1, MEMORY_ONLY

pytestmark = pytest.mark.vm

POOL = "hugepages-2048kB/nr_hugepages"
SWAPPINESS = f"{VM}/swappiness"
HOUSEKEEPING = "0-3"
EVERYTHING: dict[str, Value] = {
    "vm.thp": "never",
    "vm.thp.defrag": "never",
    "vm.khugepaged.pages_to_scan": 2048,
    "vm.swappiness": 7,
    "vm.dirty_bytes": 1 << 26,
    "vm.zone_reclaim": 1,
    "vm.stat_interval": 9,
    "vm.hugepages.2m.node0": 4,
    "vm.hugepages.2m.node2": 2,
    "numa.balancing": 0,
    "ksm": 1,
    "watchdog": 0,
    "rt.throttling": -1,
    "irq.cpus": HOUSEKEEPING,
    "workqueue.cpus": HOUSEKEEPING,
}


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    with open_journal() as held:
        yield held


@pytest.fixture(autouse=True)
def as_it_was(guest: Alive, known: Machine) -> Iterator[None]:
    """Check that a test leaves the guest unchanged, byte for byte."""
    before = contents(guest, known)
    yield
    assert contents(guest, known) == before


def contents(guest: Alive, known: Machine) -> bytes:
    """Return every file that settings could write, and those of each interrupt."""
    paths = [path for path in known.system_files if path != SWAPS]
    paths += [f"{IRQS}/{n}/smp_affinity_list" for n in known.system_files[IRQS].split()]
    names = shlex.quote("\n".join(paths))
    return guest.output(
        f"echo {names} > /tmp/names; tree /tmp/names /tmp/files; cat /tmp/files"
    ).encode()


def hold(
    guest: Alive, known: Machine, journal: Journal, values: Mapping[str, Value]
) -> tuple[HostChanges, dict[str, ActionOutcome]]:
    planned = plan_on(known, values)
    assert not planned.refused, planned.refused
    changes = HostChanges(guest.host, journal, "test")
    return changes, {result.action.path: result for result in changes.hold(planned.system)}


def test_all_settings_are_applied_and_restored(
    guest: Alive, known: Machine, journal: Journal
) -> None:
    changes, result = hold(guest, known, journal, EVERYTHING)
    assert guest.host.read(f"{THP}/enabled") == "always madvise [never]"
    assert guest.host.read(SWAPPINESS) == "7"
    assert guest.host.read(f"{VM}/dirty_ratio") == "0", "the kernel resets it with the bytes"
    assert guest.host.read(f"{NODES}/node0/hugepages/{POOL}") == "4"
    assert guest.host.read(f"{NODES}/node1/hugepages/{POOL}") == str(HUGE_ON_NODE_1)
    assert guest.host.read(f"{HUGETLB}/{POOL}") == str(4 + 2 + HUGE_ON_NODE_1)
    assert guest.host.read(f"{WORKQUEUES}/cpumask") == "0f"
    assert guest.host.read(f"{IRQS}/default_smp_affinity") == "0f"
    refused = {path for path, outcome in result.items() if outcome.status is ActionStatus.REFUSED}
    # These two cannot be moved: the clock's and the cascade of the old interrupt controller.
    assert refused == {f"{IRQS}/{n}/smp_affinity_list" for n in (0, 2)}
    assert {result[path].read for path in result if path.startswith(f"{IRQS}/1")} == {HOUSEKEEPING}
    in_force = {ActionStatus.GRANTED, ActionStatus.KEPT}
    assert not {o.status for p, o in result.items() if p not in refused} - in_force
    undone = changes.restore()
    assert {word.fate for word in undone} == {"undone"}
    assert journal.entries == ()


def test_pool_is_limited_by_memory_of_node(guest: Alive, known: Machine, journal: Journal) -> None:
    changes, result = hold(guest, known, journal, {f"vm.hugepages.2m.node{MEMORY_ONLY}": 500})
    (outcome,) = result.values()
    assert outcome.status is ActionStatus.DEGRADED
    assert outcome.read is not None and 0 < int(outcome.read) < 32, "64 MiB in all"
    changes.restore()


def test_pool_of_all_nodes_is_restored_per_node(
    guest: Alive, known: Machine, journal: Journal
) -> None:
    """The kernel spreads it over the nodes, and takes it back from them in turn."""
    for count in (4, 5, 9, 14):
        changes, result = hold(guest, known, journal, {"vm.hugepages": count})
        assert result[f"{VM}/nr_hugepages"].read == str(count)
        changes.restore()
        assert guest.host.read(f"{NODES}/node1/hugepages/{POOL}") == str(HUGE_ON_NODE_1)


def test_latency_request_lasts_while_device_is_open(
    guest: Alive, known: Machine, journal: Journal
) -> None:
    wish = HoldFd(path="/dev/cpu_dma_latency", value=5)
    changes = HostChanges(guest.host, journal, "test")
    (outcome,) = changes.hold([wish])
    assert (outcome.status, outcome.read) == (ActionStatus.GRANTED, "5")
    changes.restore()
    held = guest.host.hold(wish.path, 2_000_000_000)
    assert held.read() == "2000000000", "nobody wishes anything"
    held.close()


def test_external_change_is_reported_and_kept(
    guest: Alive, known: Machine, journal: Journal
) -> None:
    old = guest.host.read(SWAPPINESS)
    changes, _ = hold(guest, known, journal, {"vm.swappiness": 7, "vm.stat_interval": 9})
    guest.output(f"echo 30 > {SWAPPINESS}")
    fates = {word.note.action.path: (word.fate, word.found) for word in changes.restore()}
    assert fates == {SWAPPINESS: ("drifted", "30"), f"{VM}/stat_interval": ("undone", "9")}
    assert guest.host.read(SWAPPINESS) == "30"
    guest.output(f"echo {old} > {SWAPPINESS}")


def test_journal_restores_after_kill(guest: Alive, known: Machine, journal: Journal) -> None:
    hold(guest, known, journal, EVERYTHING)
    journal.close()
    with open_journal() as later:
        result = undo(guest.host, later, later.entries)
        assert result and {word.fate for word in result} == {"undone"}
        assert later.entries == ()


def test_guest_host_fulfills_host_contract(guest: Alive) -> None:
    host = guest.host
    assert host.read("/proc/sys/vm/nothing") is None
    assert host.read("/proc") is None
    assert host.listdir("/nowhere") == ()
    assert {"self", "cmdline"} <= set(host.listdir("/proc"))
    with pytest.raises(OSError) as refused:
        host.write(SWAPPINESS, "500")
    assert refused.value.errno == errno.EINVAL
    with pytest.raises(OSError) as refused:
        host.write("/proc/sys/vm/nothing", "1")
    assert refused.value.errno == errno.ENOENT
    with pytest.raises(OSError) as refused:
        host.write("/proc/self/oom_score_adj", "0")
    assert refused.value.errno == errno.ELOOP, "through a link"
    with pytest.raises(OSError) as refused:
        host.set_affinity(1, (63,))
    assert refused.value.errno == errno.EINVAL
