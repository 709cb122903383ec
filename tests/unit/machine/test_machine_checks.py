"""Checks on trees for each of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from assay.machine.checks import (
    BY_ID,
    CHECKS,
    CounterReading,
    Demand,
    Finding,
    Host,
    Interval,
    NumberCheck,
    Profile,
    Right,
    Status,
    WordCheck,
    examine,
    read_unassessed,
    sample_interval,
)
from assay.machine.root import Root
from assay.settings.registry import builtin

Tree = Callable[[Mapping[str, str]], Root]

CPU = "/sys/devices/system/cpu"
FREQ = f"{CPU}/cpufreq"
NODE = "/sys/devices/system/node"
THP = "/sys/kernel/mm/transparent_hugepage"
DAMON = "/sys/kernel/mm/damon/admin/kdamonds"
KERNEL = "/proc/sys/kernel"
WORKQUEUES = "/sys/devices/virtual/workqueue"
GROUP = "/sys/fs/cgroup/user.slice"
V2 = {
    "/proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
    "/proc/self/cgroup": "0::/user.slice",
}
V1 = {"/proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu"}
V1_CPUSET = {
    "/proc/self/mountinfo": "31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
    "/proc/self/cgroup": "3:cpuset:/jobs",
}
EIGHT = {f"{CPU}/online": "0-7", f"{CPU}/possible": "0-7", f"{CPU}/isolated": ""}
ISOLATED = {**EIGHT, f"{CPU}/isolated": "2-3"}
PROCESSES = {"/proc/2/comm": "kthreadd"}
STATUS = {"/proc/self/status": "Name:\tassay\nCpus_allowed_list:\t0-7\n"}
MEMORY = {"/proc/meminfo": "MemTotal:  8388608 kB\nMemFree: 4 kB\n"}
SWAPS = "Filename Type Size Used Priority\n"


def moment(
    idle: int = 0, busy: int = 0, steal: int = 0, throttles: Mapping[str, int] | None = None
) -> CounterReading:
    ticks = {"user": busy, "nice": 0, "system": 0, "idle": idle, "iowait": 0}
    return CounterReading({**ticks, "irq": 0, "softirq": 0, "steal": steal}, throttles or {})


def interval(**after: int) -> Interval:
    return Interval(moment(), moment(**after))


def cores(*pairs: str) -> dict[str, str]:
    """Describe two threads per core."""
    found = {}
    for pair in pairs:
        for cpu in pair.split(","):
            found[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = pair
    return found


def nodes(*kilobytes: tuple[int, int]) -> dict[str, str]:
    return {
        f"{NODE}/node{number}/meminfo": f"Node {number} MemTotal: {total} kB\n"
        f"Node {number} MemFree: {free} kB\n"
        for number, (total, free) in enumerate(kilobytes)
    }


def pools(*counts: int) -> dict[str, str]:
    found = {}
    for number, count in enumerate(counts):
        found[f"{NODE}/node{number}/cpulist"] = f"{number}"
        found[f"{NODE}/node{number}/hugepages/hugepages-2048kB/nr_hugepages"] = str(count)
    return found


def idle_states(*states: tuple[str, int, int]) -> dict[str, str]:
    found = {f"{CPU}/online": "0"}
    for number, (name, latency, disabled) in enumerate(states):
        folder = f"{CPU}/cpu0/cpuidle/state{number}"
        found |= {f"{folder}/name": name, f"{folder}/latency": str(latency)}
        found |= {f"{folder}/disable": str(disabled)}
    return found


def policies(file: str, *values: str) -> dict[str, str]:
    return {f"{FREQ}/policy{number}/{file}": value for number, value in enumerate(values)}


def frequencies(file: str, *values: str) -> dict[str, str]:
    return policies(file, *values) | policies("cpuinfo_max_freq", *["4000000"] * len(values))


@dataclass(frozen=True)
class Case:
    """A valid tree, an invalid one, and the evidence of both."""

    good: Mapping[str, str]
    bad: Mapping[str, str]
    evidence: str
    remedy: str
    right: Right = Right.ROOT
    setting: str | None = None
    accept: tuple[str, ...] = ()
    at_most: float | None = None
    at_least: float | None = None
    moments: tuple[Interval | None, Interval | None] = (None, None)
    demand: Demand = field(init=False)

    def __post_init__(self) -> None:
        made = Demand(Status.WARN, self.accept, self.at_most, self.at_least)
        object.__setattr__(self, "demand", made)


def word(path: str, good: str, bad: str, remedy: str, setting: str | None = None) -> Case:
    """Return a case for a file with one word."""
    return Case({path: good}, {path: bad}, f"{bad} ({path})", remedy, Right.ROOT, setting, (good,))


CASES = {
    "isolation.cmdline": Case(
        {**ISOLATED, "/proc/cmdline": "quiet isolcpus=managed_irq,domain,2-3"},
        {**EIGHT, "/proc/cmdline": "isolcpus=2-9 nohz_full=2-3 nohz=off"},
        "isolcpus= names 8-9, but this machine has only 0-7; the kernel does not isolate 2-7 of "
        "isolcpus=; this kernel does not support nohz_full= (CONFIG_NO_HZ_FULL); nohz=off",
        "isolcpus=2-9 nohz_full=2-3 nohz=off",
        Right.REBOOT,
    ),
    "isolation.cpus": Case(
        ISOLATED, EIGHT, "isolated: none", "Boot with isolcpus=", Right.REBOOT, at_least=2
    ),
    "isolation.nohz_full": Case(
        {**ISOLATED, f"{CPU}/nohz_full": "2-3"},
        {**ISOLATED, f"{CPU}/nohz_full": "2-5"},
        "nohz_full 2-5, of which 4-5 is not isolated",
        "Boot with isolcpus=domain,2-5",
        Right.REBOOT,
    ),
    "isolation.rcu_nocbs": Case(
        {**ISOLATED, "/proc/cmdline": "isolcpus=2-3 nohz_full=2 rcu_nocbs=3"},
        {**ISOLATED, "/proc/cmdline": "isolcpus=2-3 nohz_full=2"},
        "isolated 3 without rcu_nocbs= or nohz_full=",
        "Boot with rcu_nocbs=2-3",
        Right.REBOOT,
    ),
    "isolation.online": Case(
        ISOLATED,
        {**ISOLATED, f"{CPU}/online": "0-2,4-7"},
        "isolated but offline: 3",
        f"for cpu in 3; do echo 1 > {CPU}/cpu$cpu/online; done",
    ),
    "isolation.partition": Case(
        {**V2, f"{GROUP}/cpuset.cpus.partition": "isolated"},
        {**V2, f"{GROUP}/a/cpuset.cpus.partition": "isolated invalid (Cpu list not exclusive)"},
        "isolated invalid (Cpu list not exclusive)",
        f"echo member > {GROUP}/a/cpuset.cpus.partition; "
        f"echo isolated > {GROUP}/a/cpuset.cpus.partition",
    ),
    "isolation.balance": Case(
        {
            **V1_CPUSET,
            "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance": "1",
            "/sys/fs/cgroup/cpuset/jobs/cpuset.sched_load_balance": "0",
        },
        {
            **V1_CPUSET,
            "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance": "0",
            "/sys/fs/cgroup/cpuset/jobs/cpuset.sched_load_balance": "0",
        },
        "threads stay on the CPU on which they begin",
        "echo 1 > /sys/fs/cgroup/cpuset/jobs/cpuset.sched_load_balance",
    ),
    "isolation.irqs": Case(
        {**ISOLATED, "/proc/irq/24/effective_affinity_list": "1"},
        {
            **ISOLATED,
            "/proc/irq/24/effective_affinity_list": "3",
            "/proc/irq/25/effective_affinity_list": "",
            "/proc/irq/25/smp_affinity_list": "0-7",
            "/proc/irq/26/effective_affinity_list": "1",
            "/proc/irq/default_smp_affinity": "ff",
        },
        "IRQ 24-25 may be routed to 2-3; new interrupts may be too",
        "do echo 0-1,4-7 > $irq; done; echo f3 > /proc/irq/default_smp_affinity",
        setting="irq.cpus=0-1,4-7",
    ),
    "isolation.workqueues": Case(
        {**ISOLATED, f"{WORKQUEUES}/cpumask": "f3", f"{WORKQUEUES}/writeback/cpumask": "ff"},
        {**ISOLATED, f"{WORKQUEUES}/cpumask": "ff", f"{WORKQUEUES}/writeback/cpumask": "1"},
        f"kernel work may run on 2-3 ({WORKQUEUES}/cpumask)",
        f"echo f3 > {WORKQUEUES}/cpumask",
        setting="workqueue.cpus=0-1,4-7",
    ),
    "isolation.irqbalance": Case(
        PROCESSES,
        {**PROCESSES, "/proc/700/comm": "irqbalance"},
        "running",
        "systemctl stop irqbalance",
        accept=("stopped",),
    ),
    "cpu.governor": Case(
        policies("scaling_governor", "performance", "performance"),
        policies("scaling_governor", "powersave", "performance", "powersave"),
        f"powersave ({FREQ}/policy0/scaling_governor and 1 more)",
        f"echo performance | tee {FREQ}/policy*/scaling_governor",
        setting="cpu.governor=performance",
        accept=("performance",),
    ),
    "cpu.epp": Case(
        policies("energy_performance_preference", "performance"),
        policies("energy_performance_preference", "balance_power"),
        f"balance_power ({FREQ}/policy0/energy_performance_preference)",
        f"echo performance | tee {FREQ}/policy*/energy_performance_preference",
        setting="cpu.epp=performance",
        accept=("performance",),
    ),
    "cpu.driver": Case(
        policies("scaling_driver", "intel_pstate") | {f"{CPU}/nohz_full": "(null)"},
        policies("scaling_driver", "intel_pstate") | {f"{CPU}/nohz_full": "2-3"},
        "with nohz_full 2-3",
        "Boot with intel_pstate=passive",
        Right.REBOOT,
    ),
    "cpu.turbo": Case(
        {f"{CPU}/intel_pstate/no_turbo": "1"},
        {f"{CPU}/intel_pstate/no_turbo": "0"},
        f"on ({CPU}/intel_pstate/no_turbo)",
        f"echo 1 > {CPU}/intel_pstate/no_turbo",
        setting="cpu.turbo=off",
        accept=("off",),
    ),
    "cpu.freq_max": Case(
        frequencies("scaling_max_freq", "4000000"),
        frequencies("scaling_max_freq", "4000000", "3000000"),
        f"limited to 75 % of the hardware's maximum ({FREQ}/policy1/scaling_max_freq)",
        "cat $policy/cpuinfo_max_freq > $policy/scaling_max_freq",
        setting="cpu.freq_max=4000000",
    ),
    "cpu.freq_min": Case(
        frequencies("scaling_min_freq", "4000000"),
        frequencies("scaling_min_freq", "800000"),
        "20 % of the hardware's highest frequency",
        "* 100 / 100)) > $policy/scaling_min_freq",
        setting="cpu.freq_min=4000000",
        at_least=100,
    ),
    "cpu.throttling": Case(
        {},
        {},
        "3 times in the sample, 8 since boot",
        "Improve cooling",
        Right.FIRMWARE,
        at_most=0,
        moments=(
            Interval(moment(throttles={"/a": 5}), moment(throttles={"/a": 5})),
            Interval(moment(throttles={"/a": 5}), moment(throttles={"/a": 8, "/new": 0})),
        ),
    ),
    "cpu.idle": Case(
        idle_states(("POLL", 0, 0), ("C1", 2, 0), ("C6", 133, 1)),
        idle_states(("POLL", 0, 0), ("C1", 2, 0), ("C6", 133, 0)),
        f"C6 has a wake-up latency of 133 us ({CPU}/cpu0/cpuidle/state2)",
        "-le 10 ] || echo 1 > $state/disable",
        setting="cpu.idle=10",
        at_most=10,
    ),
    "cpu.smt": word(f"{CPU}/smt/control", "off", "on", "echo off > ", "cpu.smt=off"),
    "cpu.siblings": Case(
        {
            f"{CPU}/online": "0-3",
            **cores("0,2", "1,3"),
            "/proc/self/status": "Cpus_allowed_list: 0,2",
        },
        {
            f"{CPU}/online": "0-3",
            **cores("0,2", "1,3"),
            "/proc/self/status": "Cpus_allowed_list: 0-2",
        },
        "other processes may use 1 core of it too, on CPU 3",
        "taskset -c 0,2 COMMAND",
        Right.NONE,
    ),
    "memory.thp": Case(
        {f"{THP}/enabled": "always [madvise] never"},
        {f"{THP}/enabled": "[always] madvise never"},
        f"always ({THP}/enabled)",
        f"echo madvise > {THP}/enabled",
        setting="vm.thp=madvise",
        accept=("madvise", "never"),
    ),
    "memory.thp.defrag": Case(
        {f"{THP}/defrag": "always defer defer+madvise [madvise] never"},
        {f"{THP}/defrag": "[always] defer defer+madvise madvise never"},
        "always",
        f"echo madvise > {THP}/defrag",
        setting="vm.thp.defrag=madvise",
        accept=("madvise",),
    ),
    "memory.mthp": Case(
        {f"{THP}/hugepages-64kB/enabled": "always inherit madvise [never]"},
        {
            f"{THP}/hugepages-16kB/stats/x": "0",
            f"{THP}/hugepages-64kB/enabled": "[always] inherit madvise never",
            f"{THP}/hugepages-2048kB/enabled": "always inherit madvise [never]",
        },
        f"always ({THP}/hugepages-64kB/enabled)",
        f"echo never > {THP}/hugepages-64kB/enabled",
        setting="vm.thp.64k=never",
        accept=("never", "inherit"),
    ),
    "memory.hugepages": Case(
        pools(16, 16),
        pools(32, 0),
        "hugepages-2048kB: node0 32, node1 0",
        f"echo 32 > {NODE}/node1/hugepages/hugepages-2048kB/nr_hugepages",
        setting="vm.hugepages.2048k.node1=32",
    ),
    "memory.swap": Case(
        {"/proc/swaps": f"{SWAPS}/dev/sda2 partition 1024 0 -2"},
        {"/proc/swaps": f"{SWAPS}/dev/sda2 partition 1024 12 -2"},
        "used (/proc/swaps)",
        "swapoff -a",
        setting="vm.swap=off",
        accept=("none", "unused"),
    ),
    "memory.swappiness": Case(
        {"/proc/sys/vm/swappiness": "10"},
        {"/proc/sys/vm/swappiness": "60"},
        "60 (/proc/sys/vm/swappiness); required: at most 10",
        "sysctl -w vm.swappiness=10",
        setting="vm.swappiness=10",
        at_most=10,
    ),
    "memory.numa_balancing": word(
        f"{KERNEL}/numa_balancing",
        "0",
        "1",
        "sysctl -w kernel.numa_balancing=0",
        "numa.balancing=0",
    ),
    "memory.zone_reclaim": word(
        "/proc/sys/vm/zone_reclaim_mode",
        "0",
        "1",
        "sysctl -w vm.zone_reclaim_mode=0",
        "vm.zone_reclaim=0",
    ),
    "memory.ksm": word(
        "/sys/kernel/mm/ksm/run", "0", "1", "echo 0 > /sys/kernel/mm/ksm/run", "ksm=0"
    ),
    "memory.damon": Case(
        {f"{DAMON}/0/state": "off", f"{DAMON}/0/contexts/0/schemes/0/action": "pageout"},
        {f"{DAMON}/0/state": "on", f"{DAMON}/0/contexts/0/schemes/0/action": "pageout"},
        f"pageout ({DAMON}/0/state)",
        f"echo off > {DAMON}/0/state",
        accept=("off",),
    ),
    "memory.balance": Case(
        nodes((1000, 500), (1000, 400)),
        nodes((1000, 900), (1000, 100)),
        "node1 has 10% free, the mean of 2 nodes is 50%",
        "drop_caches",
        at_least=50,
    ),
    "kernel.watchdog": word(
        f"{KERNEL}/watchdog", "0", "1", "sysctl -w kernel.watchdog=0", "watchdog=0"
    ),
    "kernel.nmi_watchdog": word(
        f"{KERNEL}/nmi_watchdog", "0", "1", "sysctl -w kernel.nmi_watchdog=0", "watchdog.nmi=0"
    ),
    "kernel.rt_throttling": Case(
        {f"{KERNEL}/sched_rt_runtime_us": "950000", f"{KERNEL}/sched_rt_period_us": "1000000"},
        {f"{KERNEL}/sched_rt_runtime_us": "-1", f"{KERNEL}/sched_rt_period_us": "1000000"},
        f"off ({KERNEL}/sched_rt_runtime_us)",
        "sysctl -w kernel.sched_rt_runtime_us=950000",
        setting="rt.throttling=950000",
        accept=("on",),
    ),
    "kernel.aslr": word(
        f"{KERNEL}/randomize_va_space", "2", "0", "sysctl -w kernel.randomize_va_space=2"
    ),
    "kernel.perf_paranoid": Case(
        {f"{KERNEL}/perf_event_paranoid": "-1"},
        {f"{KERNEL}/perf_event_paranoid": "3"},
        "3 (",
        "sysctl -w kernel.perf_event_paranoid=2",
        at_most=2,
    ),
    "kernel.perf_rate": Case(
        {f"{KERNEL}/perf_event_max_sample_rate": "1"},
        {f"{KERNEL}/perf_event_max_sample_rate": "100000"},
        "100000 per second",
        "sysctl -w kernel.perf_event_max_sample_rate=1",
        setting="perf.rate=1",
        at_most=1,
    ),
    "kernel.mitigations": Case(
        {f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI"},
        {f"{CPU}/vulnerabilities/meltdown": "Vulnerable", "/proc/cmdline": "mitigations=off"},
        "off (/proc/cmdline)",
        "Boot with mitigations=auto",
        Right.REBOOT,
        accept=("on", "none"),
    ),
    "kernel.lsm": Case(
        {"/sys/kernel/security/lsm": "capability,landlock,yama"},
        {"/sys/kernel/security/lsm": "capability,landlock,yama,apparmor"},
        "apparmor (/sys/kernel/security/lsm)",
        "Boot with selinux=0 apparmor=0",
        Right.REBOOT,
        accept=("none",),
    ),
    "kernel.audit": Case(
        {**PROCESSES, "/proc/cmdline": "audit=0", "/proc/9/comm": "auditd"},
        {**PROCESSES, "/proc/cmdline": "", "/proc/9/comm": "auditd"},
        "running (auditd)",
        "auditctl -e 0; service auditd stop",
        accept=("stopped", "off"),
    ),
    "kernel.clocksource": word(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc",
        "hpet",
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    "surroundings.cgroup": Case(
        V2,
        V1,
        "v1 (/proc/self/mountinfo)",
        "Boot with systemd.unified_cgroup_hierarchy=1",
        Right.REBOOT,
        accept=("v2",),
    ),
    "surroundings.delegation": Case(
        {**V2, f"{GROUP}/cgroup.controllers": "cpuset cpu io memory pids"},
        {**V2, f"{GROUP}/cgroup.controllers": "memory pids"},
        f"missing: cpu, cpuset ({GROUP}/cgroup.controllers)",
        "systemctl edit user@.service",
    ),
    "surroundings.cpuset": Case(
        {
            **ISOLATED,
            **V2,
            f"{GROUP}/cpuset.cpus.effective": "0-3",
            "/proc/self/status": "Cpus_allowed_list: 0-1",
        },
        {
            **ISOLATED,
            **V2,
            f"{GROUP}/cpuset.cpus.effective": "0-5",
            "/proc/self/status": "Cpus_allowed_list: 0-1",
        },
        "may use 0-1, the cpuset has 0-5",
        "taskset -c 0-5 assay",
        Right.NONE,
    ),
    "surroundings.cpu_limit": Case(
        {**V2, **STATUS, f"{GROUP}/cpu.max": "max 100000"},
        {**V2, **STATUS, f"{GROUP}/cpu.max": "250000 100000"},
        f"CPU time is limited to 2.5 CPUs, of 8 usable ones ({GROUP}/cpu.max)",
        "Start without a limit",
        Right.NONE,
    ),
    "surroundings.memory_limit": Case(
        {**V2, **MEMORY, f"{GROUP}/memory.max": "max"},
        {**V2, **MEMORY, f"{GROUP}/memory.max": "1073741824"},
        f"1.00 GiB of 8.00 GiB ({GROUP}/memory.max)",
        "Start with a higher limit",
        Right.NONE,
    ),
    "surroundings.hypervisor": Case(
        {"/proc/cpuinfo": "flags : fpu tsc", f"{KERNEL}/arch": "x86_64"},
        {
            "/proc/cpuinfo": "flags : fpu hypervisor",
            f"{KERNEL}/arch": "x86_64",
            "/sys/class/dmi/id/sys_vendor": "QEMU",
        },
        "qemu",
        "Measure on the host itself",
        Right.NONE,
        accept=("none",),
    ),
    "surroundings.steal": Case(
        {},
        {},
        "20.0 % of the time of all CPUs in the sample",
        "Request dedicated CPUs",
        Right.NONE,
        at_most=1,
        moments=(interval(idle=100), interval(idle=80, steal=20)),
    ),
    "surroundings.load": Case(
        {},
        {},
        "other programs use 60 % of the time of all CPUs",
        "top",
        Right.NONE,
        at_most=10,
        moments=(interval(idle=95, busy=5), interval(idle=40, busy=60)),
    ),
    "surroundings.power": Case(
        {
            "/sys/class/power_supply/AC/type": "Mains",
            "/sys/class/power_supply/AC/online": "1",
            "/sys/class/power_supply/BAT0/type": "Battery",
        },
        {
            "/sys/class/power_supply/AC/type": "Mains",
            "/sys/class/power_supply/AC/online": "0",
            "/sys/class/power_supply/BAT0/type": "Battery",
        },
        "battery (/sys/class/power_supply/AC/online)",
        "Connect the power supply",
        Right.NONE,
        accept=("mains",),
    ),
    "surroundings.ntp": Case(
        {**PROCESSES, "/proc/30/comm": "chronyd"},
        PROCESSES,
        "free",
        "systemctl enable --now chronyd",
        accept=("kept",),
    ),
}


def look(name: str, host: Host, demand: Demand) -> Finding:
    (found,) = examine(host, Profile("test", demands={name: demand}))
    return found


def test_every_check_has_a_case() -> None:
    assert list(CASES) == [check.id for check in CHECKS]
    assert len(BY_ID) == len(CHECKS)


@pytest.mark.parametrize("name", CASES)
def test_ok(name: str, tree: Tree) -> None:
    case = CASES[name]
    found = look(name, Host(tree(case.good), case.moments[0]), case.demand)
    assert found.status is Status.OK, found
    assert found.evidence and found.remedy is None


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("otherwise", [Status.WARN, Status.FAIL])
def test_not_ok(name: str, otherwise: Status, tree: Tree) -> None:
    case = CASES[name]
    demand = replace(case.demand, otherwise=otherwise)
    found = look(name, Host(tree(case.bad), case.moments[1]), demand)
    assert found.status is otherwise, found
    assert case.evidence in found.evidence
    assert found.remedy is not None
    assert case.remedy in found.remedy.text
    assert found.remedy.right is case.right
    assert found.remedy.setting == case.setting


@pytest.mark.parametrize("name", CASES)
def test_unknown(name: str, tree: Tree) -> None:
    """An empty tree yields unknown results that name the missing files."""
    found = look(name, Host(tree({})), CASES[name].demand)
    assert found.status is Status.UNKNOWN
    assert "/" in found.evidence or "recorded" in found.evidence
    assert found.remedy is None


@pytest.mark.parametrize("name", CASES)
def test_invalid_content_is_unknown_or_not_ok(name: str, tree: Tree) -> None:
    """Invalid content in the right file is never accepted."""
    case = CASES[name]
    spoilt = dict.fromkeys(case.good, "\x1b[31m?")
    if not spoilt:
        pytest.skip("what moves is not read from a tree")
    found = look(name, Host(tree(spoilt)), case.demand)
    assert found.status in (Status.UNKNOWN, Status.WARN), found


def test_worst_first(tree: Tree) -> None:
    files = {
        f"{KERNEL}/watchdog": "1",
        f"{KERNEL}/nmi_watchdog": "0",
        "/proc/swaps": SWAPS + "a b 1 1 1",
    }
    demands = {
        "kernel.watchdog": Demand(Status.WARN, ("0",)),
        "kernel.nmi_watchdog": Demand(Status.WARN, ("0",)),
        "kernel.aslr": Demand(Status.FAIL, ("2",)),
        "memory.swap": Demand(Status.FAIL, ("none",)),
    }
    found = examine(Host(tree(files)), Profile("test", demands=demands))
    assert [f.status for f in found] == [Status.FAIL, Status.WARN, Status.UNKNOWN, Status.OK]


def test_checks_without_demand_are_read_but_not_judged(tree: Tree) -> None:
    demands = {
        "memory.thp": Demand(Status.OK, reason="A study decides."),
        "kernel.aslr": Demand(Status.OK, reason="So it is."),
    }
    host = Host(tree({f"{THP}/enabled": "[always] never"}))
    profile = Profile("test", demands=demands)
    assert examine(host, profile) == ()
    told = {one.id: (one.evidence, one.reason) for one in read_unassessed(host, profile)}
    assert told["memory.thp"] == (f"always ({THP}/enabled)", "A study decides.")
    assert told["kernel.aslr"][0] == f"{KERNEL}/randomize_va_space is missing"


@pytest.mark.parametrize(
    "told",
    [
        {"/sys/fs/cgroup/cpuset.cpus.isolated": "6-7"},
        {  # before Linux 6.8
            "/sys/fs/cgroup/a/b/cpuset.cpus.partition": "isolated",
            "/sys/fs/cgroup/a/b/cpuset.cpus.effective": "6-7",
            "/sys/fs/cgroup/c/cpuset.cpus.partition": "root",
            "/sys/fs/cgroup/c/cpuset.cpus.effective": "4-5",
            "/sys/fs/cgroup/d/cpuset.cpus.partition": "isolated invalid (Parent is not)",
            "/sys/fs/cgroup/d/cpuset.cpus.effective": "0-3",
        },
    ],
)
def test_isolated_by_a_live_partition(told: dict[str, str], tree: Tree) -> None:
    """CPUs of an isolated partition count like those of the boot line."""
    files = {
        **EIGHT,
        **V2,
        **told,
        f"{CPU}/nohz_full": "6-7",
        f"{WORKQUEUES}/cpumask": "ff",
        "/proc/cmdline": "nohz_full=6-N",
    }
    host = Host(tree(files))
    rule = Demand(Status.WARN)
    assert look("isolation.nohz_full", host, rule).status is Status.OK
    assert look("isolation.rcu_nocbs", host, rule).status is Status.OK
    assert "6-7" in look("isolation.workqueues", host, rule).evidence


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        ("isolcpus=2-3 isolcpus=4-5", "isolcpus= occurs 2 times, with different CPUs"),
        ("rcu_nocbs=x", "rcu_nocbs=x is not a list of CPUs"),
        ("isolcpus=2-3 irqaffinity=0-2", "irqaffinity= sends interrupts to 2"),
        ("isolcpus=nohz,all", "no CPU remains for all other activity"),
        ("-- isolcpus=9", None),
        ("isolcpus=2-3 irqaffinity=0-1 rcu-nocbs=2-N", None),
    ],
)
def test_mistakes_of_kernel_command_line_are_reported(
    words: str, mistake: str | None, tree: Tree
) -> None:
    isolated = {f"{CPU}/isolated": "2-5", f"{CPU}/nohz_full": "0-7"}
    host = Host(tree({**EIGHT, **isolated, "/proc/cmdline": words}))
    found = look("isolation.cmdline", host, Demand(Status.WARN))
    if mistake is None:
        assert found.status is Status.OK, found
    else:
        assert mistake in found.evidence


def test_masks_of_more_than_32_cpus(tree: Tree) -> None:
    files = {
        f"{CPU}/online": "0-39",
        f"{CPU}/isolated": "0-31,38-39",
        f"{WORKQUEUES}/cpumask": "ff,ffffffff",
    }
    found = look("isolation.workqueues", Host(tree(files)), Demand(Status.WARN))
    assert found.remedy is not None
    assert found.remedy.text == f"echo 3f,00000000 > {WORKQUEUES}/cpumask"


def test_turbo_of_other_processors(tree: Tree) -> None:
    host = Host(tree({f"{FREQ}/boost": "1"}))
    found = look("cpu.turbo", host, Demand(Status.WARN, ("off",)))
    assert found.evidence == f"on ({FREQ}/boost)"
    assert found.remedy is not None and found.remedy.text == f"echo 0 > {FREQ}/boost"


def test_damon_by_threads_and_modules(tree: Tree) -> None:
    schemes = f"{DAMON}/0/contexts/0/schemes"
    reclaim = "/sys/module/damon_reclaim/parameters/enabled"
    files = {
        f"{DAMON}/0/state": "on",
        f"{schemes}/0/action": "pageout",
        f"{schemes}/1/action": "stat",
        f"{schemes}/2/action": "pageout",
        f"{DAMON}/1/state": "off",
        f"{DAMON}/2/state": "on",
        reclaim: "Y",
        "/sys/module/damon_stat/parameters/enabled": "N",
    }
    found = look("memory.damon", Host(tree(files)), Demand(Status.WARN, ("off", "watch")))
    assert found.evidence == f"pageout ({reclaim}), pageout and stat ({DAMON}/0/state)"
    assert found.remedy is not None
    assert found.remedy.text == f"echo N > {reclaim}; echo off > {DAMON}/0/state"
    found = look("memory.damon", Host(tree(files)), Demand(Status.WARN, ("off", "pageout")))
    assert "watch (" in found.evidence


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({f"{DAMON}/0/state/x": ""}, f"{DAMON}/0/state cannot be read"),
        ({f"{DAMON}/0/state": "maybe"}, f"{DAMON}/0/state contains neither on nor off: 'maybe'"),
    ],
)
def test_unreadable_damon_state_is_unknown(
    files: dict[str, str], evidence: str, tree: Tree
) -> None:
    found = look("memory.damon", Host(tree(files)), Demand(Status.WARN, ("off",)))
    assert (found.status, found.evidence) == (Status.UNKNOWN, evidence)


def test_unconfigured_damon_is_off(tree: Tree) -> None:
    host = Host(tree({f"{DAMON}/nr_kdamonds": "0"}))
    assert look("memory.damon", host, Demand(Status.WARN, ("off",))).status is Status.OK


def test_interrupt_without_driver_is_ignored(tree: Tree) -> None:
    files = {
        **ISOLATED,
        "/proc/irq/9/smp_affinity_list": "0-7",
        "/sys/kernel/irq/9/actions": "",
    }
    assert look("isolation.irqs", Host(tree(files)), Demand(Status.WARN)).status is Status.OK


def test_existing_unreadable_file_is_unknown(tree: Tree) -> None:
    """A directory is unreadable for every user, a file with mode 0 for most."""
    root = tree({f"{KERNEL}/watchdog/x": ""})
    found = look("kernel.watchdog", Host(root), Demand(Status.WARN, ("0",)))
    assert (found.status, found.evidence) == (
        Status.UNKNOWN,
        f"{KERNEL}/watchdog cannot be read",
    )


def test_processes_of_container_are_unknown(tree: Tree) -> None:
    host = Host(tree({"/proc/1/comm": "sh", "/proc/2/comm": "sleep"}))
    found = look("isolation.irqbalance", host, Demand(Status.WARN, ("stopped",)))
    assert found.status is Status.UNKNOWN
    assert "it belongs to a container" in found.evidence


def test_host_without_battery_runs_on_mains(tree: Tree) -> None:
    root = tree({"/sys/class/power_supply/hid-mouse/scope": "Device"})
    found = look("surroundings.power", Host(root), Demand(Status.FAIL, ("mains",)))
    assert found.status is Status.OK


def test_unrecorded_limits_are_unknown(tree: Tree) -> None:
    host = Host(tree({**V2, **STATUS, **MEMORY}))
    for name in ("surroundings.cpu_limit", "surroundings.memory_limit"):
        assert look(name, host, Demand(Status.WARN)).status is Status.UNKNOWN


def test_hybrid_groups_need_reboot(tree: Tree) -> None:
    mounts = f"{V2['/proc/self/mountinfo']}\n{V1['/proc/self/mountinfo']}"
    files = {**V2, "/proc/self/mountinfo": mounts, f"{GROUP}/cgroup.controllers": ""}
    found = look("surroundings.delegation", Host(tree(files)), Demand(Status.WARN))
    assert found.remedy is not None and found.remedy.right is Right.REBOOT


def test_sample_interval_reads_counters_twice(tree: Tree) -> None:
    path = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
    root = tree({"/proc/stat": "cpu  10 0 5 100 1 0 0 2 0 0\ncpu0 1", path: "4"})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        (root.path / "proc/stat").write_text("cpu  60 0 5 140 1 0 0 12 0 0\n")
        (root.path / path.lstrip("/")).write_text("6")

    seen = sample_interval(root, 0.5, wait)
    assert waited == [0.5]
    assert seen.shares == {
        **dict.fromkeys(("nice", "system", "iowait", "irq", "softirq"), 0.0),
        "user": 0.5,
        "idle": 0.4,
        "steal": 0.1,
    }
    assert seen.throttled == {path: 2}


def test_stopped_clock_yields_no_shares(tree: Tree) -> None:
    host = Host(tree({"/proc/stat": "x"}), interval())
    for name in ("surroundings.steal", "surroundings.load", "cpu.throttling"):
        found = look(name, host, Demand(Status.FAIL, at_most=0))
        assert found.status is Status.UNKNOWN


@pytest.mark.parametrize(
    "name",
    ["32amd64-4s2n4c-cgroup2", "20em64t-hybrid-1p6c2t+2ca4co1t", "nvidia-dgx-gb10", "2ps3-2t"],
)
def test_recorded_machines(name: str, recorded: Callable[[str], Root]) -> None:
    """All checks run on any recorded machine, and missing values are unknown."""
    demands = {check.id: replace(CASES[check.id].demand, otherwise=Status.FAIL) for check in CHECKS}
    found = {f.id: f for f in examine(Host(recorded(name)), Profile("all", demands=demands))}
    assert len(found) == len(CHECKS)
    for moving in ("surroundings.steal", "surroundings.load", "cpu.throttling"):
        assert found[moving].status is Status.UNKNOWN


def test_this_host_has_a_result_for_every_check() -> None:
    """No check raises an error, for any user, and ok results have evidence."""
    host = Host(Root(), interval(idle=1))
    demands = {check.id: CASES[check.id].demand for check in CHECKS}
    for found in examine(host, Profile("all", demands=demands)):
        assert found.evidence
        assert (found.remedy is not None) or found.status in (Status.OK, Status.UNKNOWN)


def test_check_types_list_supported_demand_keys() -> None:
    for check in CHECKS:
        if isinstance(check, WordCheck):
            wanted = {"accept"}
        elif isinstance(check, NumberCheck):
            wanted = {"at_most", "at_least"}
        else:
            wanted = set()
        assert check.demand_keys == wanted
        assert check.summary


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.setting])
def test_remedies_name_existing_settings(name: str) -> None:
    setting, _, _ = (CASES[name].setting or "").partition("=")
    assert builtin().get(setting).name == setting
