"""Every check of a machine has a result for any content of its files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.machine.checks import (
    CHECKS,
    Demand,
    Host,
    Interval,
    NumberCheck,
    Profile,
    Status,
    examine,
)
from assay.machine.checks.isolation import CHECKS as ISOLATION
from assay.machine.checks.sampling import read_counters
from assay.machine.cpulist import format_list, parse_mask
from assay.machine.root import Root

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node/node0"
THP = "sys/kernel/mm/transparent_hugepage"
FILES = (
    "proc/2/comm",
    "proc/cmdline",
    "proc/cpuinfo",
    "proc/irq/24/smp_affinity_list",
    "proc/irq/default_smp_affinity",
    "proc/meminfo",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "proc/self/status",
    "proc/stat",
    "proc/swaps",
    "proc/sys/kernel/numa_balancing",
    "proc/sys/kernel/sched_rt_period_us",
    "proc/sys/kernel/sched_rt_runtime_us",
    "proc/sys/vm/swappiness",
    "sys/class/power_supply/a/type",
    "sys/devices/virtual/workqueue/cpumask",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/cpuset.cpus.isolated",
    "sys/fs/cgroup/a/cpuset.cpus.partition",
    "sys/kernel/security/lsm",
    f"{CPU}/cpu0/cpuidle/state0/disable",
    f"{CPU}/cpu0/cpuidle/state0/latency",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count",
    f"{CPU}/cpu0/topology/thread_siblings_list",
    f"{CPU}/cpufreq/policy0/cpuinfo_max_freq",
    f"{CPU}/cpufreq/policy0/scaling_governor",
    f"{CPU}/cpufreq/policy0/scaling_max_freq",
    f"{CPU}/cpufreq/policy0/scaling_min_freq",
    f"{CPU}/intel_pstate/no_turbo",
    f"{CPU}/isolated",
    f"{CPU}/nohz_full",
    f"{CPU}/online",
    f"{CPU}/possible",
    f"{CPU}/vulnerabilities/meltdown",
    f"{NODE}/cpulist",
    f"{NODE}/hugepages/hugepages-2048kB/nr_hugepages",
    f"{NODE}/meminfo",
    f"{THP}/enabled",
    f"{THP}/hugepages-64kB/enabled",
)
LIKELY = (
    "", "0", "-1", "1", "0-3", "2-3", "f", "kthreadd", "performance", "[always] never", "isolated",
    "isolated invalid (x)", "Battery", "9" * 5000, "MemTotal: 0 kB\nMemFree: 3 kB",
    "MemTotal: x kB", "MemTotal: 9 kB\nMemFree: 1 kB", "cpu  1 2 3 4", "Cpus_allowed_list: 0-1",
    "Cpus_allowed_list: 7-1", "isolcpus=2-N nohz_full=all rcu_nocbs=x irqaffinity=2 nohz=off",
    "isolcpus= audit=0 mitigations=off", "Filename\n/a b 1 x", "max 100000", "5 0",
    "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/a", "(null)", "capability,selinux",
    "Mitigation: PTI", "flags : hypervisor",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(LIKELY), st.text(max_size=40))


def asked(text: str) -> dict[str, Demand]:
    return {
        check.id: Demand(Status.FAIL, ("0", "on", text), at_most=0, at_least=100)
        if isinstance(check, NumberCheck)
        else Demand(Status.FAIL, ("0", "on"))
        for check in CHECKS
    }


@pytest.mark.rotating
@given(st.dictionaries(st.sampled_from(FILES), TEXTS, min_size=20), TEXTS)
@settings(max_examples=60, deadline=None)
def test_every_check_has_an_answer(files: dict[str, str], word: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, errors="surrogateescape")
        root = Root(Path(folder))
        moment = read_counters(root)
        found = examine(Host(root, Interval(moment, moment)), Profile("any", demands=asked(word)))
    assert {finding.id for finding in found} == {check.id for check in CHECKS}
    for finding in found:
        assert finding.evidence
        if finding.status is Status.FAIL:
            assert finding.remedy is not None


CPUS = st.frozensets(st.integers(0, 200), min_size=1)


@given(CPUS, CPUS)
@settings(max_examples=40, deadline=None)
def test_masks_name_the_other_cpus(online: frozenset[int], isolated: frozenset[int]) -> None:
    check = next(check for check in ISOLATION if check.id == "isolation.workqueues")
    with tempfile.TemporaryDirectory() as folder:
        cpu, queue = Path(folder, CPU), Path(folder, "sys/devices/virtual/workqueue")
        cpu.mkdir(parents=True)
        queue.mkdir(parents=True)
        (cpu / "online").write_text(format_list(online))
        (cpu / "isolated").write_text(format_list(isolated))
        (queue / "cpumask").write_text(",".join(["ffffffff"] * 7))
        finding = check.judge(Host(Root(Path(folder))), Demand(Status.WARN))
    assert finding.remedy is not None
    mask = finding.remedy.text.split()[1]
    assert set(parse_mask(mask)) == online - isolated
    assert all(len(part) == 8 for part in mask.split(",")[1:])
