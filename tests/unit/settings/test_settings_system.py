"""System settings on recorded trees: writes, read-back and restoration."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from assay.host.changes import ActionOutcome, ActionStatus, HostChanges
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.host.script import system_lines
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.machine.tunables import find_writable
from assay.machine.value_formats import format_mask, is_writable_value, normalised
from assay.records import (
    Configuration,
    GrantStatus,
    HoldFd,
    Plan,
    Prospect,
    RunFacts,
    Swap,
    WriteFile,
    decode,
    encode,
)
from assay.settings.registry import builtin
from assay.settings.system.common import SWITCH_S
from assay.settings.system.idle import persistent_actions
from assay.testing.recorded_host import Effect, RecordedHost

CPU = "/sys/devices/system/cpu"
POLICY = f"{CPU}/cpufreq/policy"
NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"
ROOT = "Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"

SERVER = {
    "/proc/self/status": ROOT,
    "/proc/self/uid_map": "0 0 4294967295",
    "/proc/sys/kernel/random/boot_id": "b",
    f"{CPU}/online": "0-3",
    f"{CPU}/possible": "0-3",
    f"{CPU}/present": "0-3",
    **{f"{CPU}/cpu{n}/topology/core_cpus_list": str(n) for n in range(4)},
    **{f"{CPU}/cpu{n}/topology/thread_siblings_list": str(n) for n in range(4)},
    **{f"{CPU}/cpu{n}/topology/physical_package_id": "0" for n in range(4)},
    **{f"{CPU}/cpu{n}/topology/core_id": str(n) for n in range(4)},
    **{f"{POLICY}{n}/scaling_governor": "powersave" for n in range(4)},
    **{f"{POLICY}{n}/scaling_available_governors": "performance powersave" for n in range(4)},
    **{f"{POLICY}{n}/energy_performance_preference": "balance_performance" for n in range(4)},
    **{
        f"{POLICY}{n}/energy_performance_available_preferences": "default performance power"
        for n in range(4)
    },
    **{f"{POLICY}{n}/cpuinfo_min_freq": "800000" for n in range(4)},
    **{f"{POLICY}{n}/cpuinfo_max_freq": "3500000" for n in range(4)},
    **{f"{POLICY}{n}/scaling_min_freq": "800000" for n in range(4)},
    **{f"{POLICY}{n}/scaling_max_freq": "3500000" for n in range(4)},
    NO_TURBO: "0",
    **{f"{CPU}/cpu{n}/cpuidle/state{s}/disable": "0" for n in range(4) for s in range(3)},
    **{
        f"{CPU}/cpu{n}/cpuidle/state{s}/latency": us
        for n in range(4)
        for s, us in enumerate(("0", "2", "133"))
    },
    "/dev/cpu_dma_latency": "",
    "/proc/irq/9/smp_affinity_list": "0-3",
    "/proc/irq/24/smp_affinity_list": "2",
    "/proc/irq/120/smp_affinity_list": "3",
    "/proc/irq/default_smp_affinity": "f",
    "/sys/devices/virtual/workqueue/cpumask": "f",
    "/sys/devices/virtual/workqueue/writeback/cpumask": "f",
    f"{WEIGHTS}/node0": "1",
    f"{WEIGHTS}/node1": "1",
    f"{WEIGHTS}/auto": "true",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]",
    "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "always inherit madvise [never]",
    "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0",
    "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": "3",
    "/proc/sys/vm/dirty_ratio": "20",
    "/proc/sys/vm/dirty_bytes": "0",
    "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2\tfile\t1024\t0\t-2",
}


def _managed(host: RecordedHost, path: str, text: str) -> str:
    raise OSError(errno.EIO, os.strerror(errno.EIO), path)


def _manual(host: RecordedHost, path: str, text: str) -> str:
    host.put(f"{WEIGHTS}/auto", "false")
    return text


def _frequency(other: str, sign: int) -> Effect:
    def effect(host: RecordedHost, path: str, text: str) -> str:
        # A lower limit above the upper one is refused.
        if sign * int(text) > sign * int(host.read(other) or "0"):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        return text

    return effect


def _governor(number: int) -> Effect:
    def effect(host: RecordedHost, path: str, text: str) -> str:
        host.put(NO_TURBO, "0")
        preference = "performance" if text == "performance" else "balance_performance"
        host.put(f"{POLICY}{number}/energy_performance_preference", preference)
        return text

    return effect


EFFECTS: dict[str, Effect] = {
    "/proc/irq/120/smp_affinity_list": _managed,
    f"{WEIGHTS}/node0": _manual,
    f"{WEIGHTS}/node1": _manual,
    **{f"{POLICY}{n}/scaling_governor": _governor(n) for n in range(4)},
    **{
        f"{POLICY}{n}/scaling_min_freq": _frequency(f"{POLICY}{n}/scaling_max_freq", 1)
        for n in range(4)
    },
    **{
        f"{POLICY}{n}/scaling_max_freq": _frequency(f"{POLICY}{n}/scaling_min_freq", -1)
        for n in range(4)
    },
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a recorded machine with all that can be set."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    base = tmp_path / "tree"
    for path, text in SERVER.items():
        place = base / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")
    return base


def content(base: Path) -> dict[str, bytes]:
    """Return the content of every file of a tree."""
    return {str(p): p.read_bytes() for p in sorted(base.rglob("*")) if p.is_file()}


def applied(base: Path, **values: object) -> tuple[Plan, tuple[ActionOutcome, ...], dict[str, str]]:
    """Apply a configuration, read it back, and restore all values."""
    before = content(base)
    asked = Configuration({name.replace("__", "."): value for name, value in values.items()})  # type: ignore[misc]
    found = plan(asked, read_machine(Root(base)), builtin())
    assert not found.refused, found.refused
    assert decode(encode(found), Plan) == found
    with open_journal() as journal:
        changes = HostChanges(RecordedHost(base, EFFECTS), journal, "test")
        outcomes = changes.hold(found.system)
        seen = changes.read_targets(found.system)
        assert {word.fate for word in changes.restore()} <= {"undone"}
        assert not journal.entries
    assert content(base) == before
    return found, outcomes, seen


def judged(found: Plan, seen: dict[str, str], name: str) -> GrantStatus:
    """Return the grant of a setting for this content of its files before a launch."""
    facts = RunFacts(outcome="exited", system_files=seen)
    return builtin().get(name).judge(found.configuration, facts, found).status


@pytest.mark.parametrize(
    "values",
    [
        {"cpu__governor": "performance"},
        {"cpu__epp": "performance"},
        {"cpu__turbo": "off"},
        {"cpu__governor": "performance", "cpu__turbo": "off", "cpu__epp": "performance"},
        {"cpu__freq_min": 3000000, "cpu__freq_max": 3000000},
        {"cpu__freq_max": 800000},
        {"cpu__idle": 0},
        {"workqueue__cpus": "0-1"},
        {"numa__weights": "3:1"},
        {"rt__throttling": -1},
        {"vm__thp": "always", "vm__thp__64k": "inherit"},
        {"vm__hugepages__1g": 2, "vm__hugepages__2m__node0": 8},
        {"vm__dirty_bytes": 1 << 20},
        {"vm__swap": "off"},
    ],
    ids=str,
)
def test_values_are_granted_and_restored(server: Path, values: dict[str, object]) -> None:
    found, outcomes, seen = applied(server, **values)
    assert {outcome.status for outcome in outcomes} <= {ActionStatus.GRANTED, ActionStatus.KEPT}
    for name in found.configuration:
        assert judged(found, seen, name) is GrantStatus.GRANTED


def test_managed_interrupt_is_not_moved(server: Path) -> None:
    found, outcomes, seen = applied(server, irq__cpus="0-1")
    words = {o.action.path: (o.status, o.reason) for o in outcomes}
    assert words["/proc/irq/24/smp_affinity_list"][0] is ActionStatus.GRANTED
    word, reason = words["/proc/irq/120/smp_affinity_list"]
    assert word is ActionStatus.REFUSED
    assert "isolcpus=managed_irq" in (reason or "")
    assert seen["/proc/irq/default_smp_affinity"] == "3"
    assert judged(found, seen, "irq.cpus") is GrantStatus.DEGRADED


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("cpu.governor", "ondemand", "invalid value"),
        ("cpu.freq_max", 9000000, "invalid value"),
        ("vm.hugepages.16k", 1, "no /sys/kernel/mm/hugepages/hugepages-16kB"),
        ("vm.thp.2m", "always", "has no"),
        ("vm.swappiness", 10, "has no /proc/sys/vm/swappiness"),
        ("irq.cpus", "0-9", "only CPUs 0-3"),
        ("irq.cpus", "all", "invalid value"),
        ("workqueue.cpus", "7", "only CPUs 0-3"),
        ("numa.weights", "3", "2 nodes"),
        ("numa.weights", "300:1", "invalid value"),
        ("vm.thp", "sometimes", "invalid value"),
        ("cpu.turbo", "maybe", "invalid value"),
        ("cpu.idle", -1, "invalid value"),
    ],
)
def test_impossible_value_is_refused_with_reason(
    server: Path, name: str, value: str | int, why: str
) -> None:
    found = plan(Configuration({name: value}), read_machine(Root(server)), builtin())
    assert why in (found.refused[name].reason or "")
    assert not found.system


def test_system_settings_need_root_outside_user_namespaces(server: Path) -> None:
    for status, uid_map, why in (
        (ROOT.replace("0\t0\t0\t0", "1000\t1000\t1000\t1000"), "0 0 4294967295", "as root"),
        (ROOT, "0 1000 1", "user namespace"),
    ):
        (server / "proc/self/status").write_text(status)
        (server / "proc/self/uid_map").write_text(uid_map)
        machine = read_machine(Root(server))
        for name, value in (("vm.thp", "always"), ("irq.cpus", "0"), ("cpu.turbo", "off")):
            found = plan(Configuration({name: value}), machine, builtin())
            assert why in (found.refused[name].reason or "")


def test_resetting_writes_come_first(server: Path) -> None:
    asked = Configuration({"cpu.epp": "performance", "cpu.governor": "performance"})
    found = plan(asked, read_machine(Root(server)), builtin())
    files = [action.path.rpartition("/")[2] for action in found.system]
    assert files == ["scaling_governor"] * 4 + ["energy_performance_preference"] * 4


def test_two_settings_of_one_file_conflict(server: Path) -> None:
    machine = read_machine(Root(server))
    asked = Configuration({"vm.dirty_ratio": 5, "vm.dirty_bytes": 1 << 20})
    found = plan(asked, machine, builtin())
    assert list(found.refused) == ["vm.dirty_ratio"]
    assert "vm.dirty_bytes already sets this" in (found.refused["vm.dirty_ratio"].reason or "")


def test_process_settings_use_planned_system_state(server: Path) -> None:
    machine = read_machine(Root(server))
    alone = plan(Configuration({"thp": "madvise"}), machine, builtin())
    assert "huge pages are disabled" in (alone.refused["thp"].reason or "")
    both = plan(Configuration({"thp": "madvise", "vm.thp": "madvise"}), machine, builtin())
    assert both.settings["thp"].status is Prospect.GRANTABLE
    hog = Configuration({"sched": "fifo:10", "rt.throttling": -1})
    assert "sched" in plan(hog, machine, builtin()).refused


def test_persistent_latency_limit_disables_states(server: Path) -> None:
    machine = read_machine(Root(server))
    found = persistent_actions(HoldFd(path="/dev/cpu_dma_latency", value=10), machine)
    assert [action.path for action in found] == [
        f"{CPU}/cpu{n}/cpuidle/state2/disable" for n in range(4)
    ]
    deeper = persistent_actions(HoldFd(path="/dev/cpu_dma_latency", value=0), machine)
    assert len(deeper) == 8
    before = content(server)
    with open_journal() as journal:
        changes = HostChanges(RecordedHost(server), journal, "test")
        assert {o.status for o in changes.hold(deeper)} == {ActionStatus.GRANTED}
        changes.restore()
    assert content(server) == before


def test_cores_of_several_kinds_have_idle_states_of_their_own(server: Path) -> None:
    """On hybrid processors, the wake-up latency differs between kinds of cores."""
    for cpu in (2, 3):
        folder = server / f"{CPU}/cpu{cpu}/cpuidle".lstrip("/")
        (folder / "state1/latency").write_text("40\n")
        (folder / "state2/latency").unlink()
    found = persistent_actions(
        HoldFd(path="/dev/cpu_dma_latency", value=10), read_machine(Root(server))
    )
    assert [action.path for action in found] == [
        f"{CPU}/cpu{cpu}/cpuidle/state{state}/disable"
        for cpu, state in ((0, 2), (1, 2), (2, 1), (3, 1))
    ]


def test_missing_or_different_reading_is_not_granted(server: Path) -> None:
    found = plan(Configuration({"vm.thp": "always"}), read_machine(Root(server)), builtin())
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    assert judged(found, {}, "vm.thp") is GrantStatus.UNVERIFIED
    assert judged(found, {path: "never"}, "vm.thp") is GrantStatus.REFUSED
    facts = RunFacts(
        outcome="exited", system_files={path: "always"}, changed_system_files={path: "madvise"}
    )
    grant = builtin().get("vm.thp").judge(found.configuration, facts, found)
    assert grant.status is GrantStatus.DEGRADED
    assert "changed to madvise while the program ran" in (grant.reason or "")
    pool = plan(Configuration({"vm.hugepages.1g": 4}), read_machine(Root(server)), builtin())
    (action,) = pool.system
    assert judged(pool, {action.path: "2"}, "vm.hugepages.1g") is GrantStatus.DEGRADED
    assert judged(pool, {action.path: "0"}, "vm.hugepages.1g") is GrantStatus.REFUSED


def test_rounded_frequency_is_degraded(server: Path) -> None:
    found = plan(Configuration({"cpu.freq_max": 3000000}), read_machine(Root(server)), builtin())
    paths = [action.path for action in found.system]
    for read, word in (("2900000", GrantStatus.DEGRADED), ("3500000", GrantStatus.REFUSED)):
        assert judged(found, dict.fromkeys(paths, read), "cpu.freq_max") is word


def test_script_contains_changes(server: Path) -> None:
    asked = Configuration({"vm.swap": "off", "cpu.idle": 5, "irq.cpus": "0"})
    lines = "\n".join(system_lines(plan(asked, read_machine(Root(server)), builtin())))
    assert "swapoff /dev/sda2" in lines
    assert "  swapon /dev/sda2 || true" in lines
    assert r"printf '\005\000\000\000' >&9" in lines


def test_machine_without_system_files_round_trips_json() -> None:
    machine = read_machine(Root(Path("/nonexistent")))
    assert machine.system_files == {}
    assert decode(encode(machine), Machine) == machine


@pytest.mark.parametrize(
    "setting", [s for s in builtin() if s.scope == "system"], ids=lambda s: s.name
)
def test_system_settings_are_never_suggested_and_have_costs(setting: object) -> None:
    assert isinstance(setting.suggest(None, None), str)  # type: ignore[attr-defined]
    assert setting.switch_cost_s >= SWITCH_S  # type: ignore[attr-defined]


def test_system_values_are_normalised_and_checked() -> None:
    assert normalised("choice", "always [madvise] never\n") == "madvise"
    assert normalised("mask", "00000000,0000000f") == normalised("mask", "f") == "f"
    assert normalised("cpulist", "0,1,2,3") == "0-3"
    assert format_mask((0, 33)) == "2,00000001"
    assert not is_writable_value("number", "1\n2")
    assert not is_writable_value("mask", "f,f")
    assert find_writable("/proc/swaps") is None
    assert find_writable("/proc/irq/24/smp_affinity_list") is not None
    assert find_writable("/proc/irq/24/../../sys/vm/swappiness") is None


def test_other_actions_are_distinguished() -> None:
    assert Plan(
        configuration=Configuration(),
        actions=(Swap(path="/s", on=False), WriteFile(path="/x", value="1")),
    ).system == (Swap(path="/s", on=False), WriteFile(path="/x", value="1"))
