"""A recorded host of two sockets with two cores each, for partitions."""

from __future__ import annotations

from pathlib import Path

from assay.machine.root import Root
from assay.partition.lifecycle import PartitionHost
from assay.testing.recorded_groups import FaultHook, RecordedGroups

V1 = "/sys/fs/cgroup/cpuset"
V1_MEMORY = "/sys/fs/cgroup/memory"
V2 = "/sys/fs/cgroup"
BOOT = "/proc/sys/kernel/random/boot_id"
CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
POOL = f"{NODE}/node1/hugepages/hugepages-2048kB/nr_hugepages"
CHECKS = "/sys/devices/system/machinecheck/machinecheck0/check_interval"
_KERNEL, _BOUND = 0x200000, 0x4000000

THREADS = {
    1: ("init", 0, "0-3"),
    2: ("kthreadd", _KERNEL, "0-3"),
    9: ("ksoftirqd/3", _KERNEL | _BOUND, "3"),
    12: ("rcu_preempt", _KERNEL, "0-3"),
    13: ("kcompactd1", _KERNEL, "2-3"),
    40: ("shell", 0, "0-3"),
    41: ("pinned", 0, "2-3"),
}
"""Number: name, flags, CPUs."""


def files(version: int) -> dict[str, str]:
    """Return the files of the host, with control groups of a version."""
    found = {
        BOOT: "11111111-2222-3333-4444-555555555555",
        "/proc/self/status": "Name:\tassay\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-3",
        "/proc/self/uid_map": "0 0 4294967295",
        "/proc/cmdline": "quiet nohz_full=3",
        "/proc/meminfo": "MemTotal:       16777216 kB\nMemFree:        8388608 kB",
        f"{CPU}/online": "0-3",
        f"{CPU}/possible": "0-3",
        f"{CPU}/present": "0-3",
        f"{CPU}/nohz_full": "3",
        f"{CPU}/isolated": "",
        f"{NODE}/online": "0-1",
        "/proc/irq/default_smp_affinity": "f",
        "/proc/irq/24/smp_affinity_list": "0-3",
        "/proc/irq/25/smp_affinity_list": "3",
        "/proc/irq/26/smp_affinity_list": "0",
        "/sys/devices/virtual/workqueue/cpumask": "f",
        "/sys/devices/virtual/workqueue/writeback/cpumask": "f",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0",
        CHECKS: "300",
    }
    for cpu in range(4):
        found |= {
            f"{CPU}/cpu{cpu}/topology/core_cpus_list": str(cpu),
            f"{CPU}/cpu{cpu}/topology/package_cpus_list": "0-1" if cpu < 2 else "2-3",
            f"{CPU}/cpu{cpu}/topology/physical_package_id": str(cpu // 2),
        }
        for state, (name, latency_us) in enumerate((("POLL", 0), ("C1", 2), ("C6", 133))):
            folder = f"{CPU}/cpu{cpu}/cpuidle/state{state}"
            found |= {
                f"{folder}/name": name,
                f"{folder}/latency": str(latency_us),
                f"{folder}/disable": "0",
            }
    for node, cpus in ((0, "0-1"), (1, "2-3")):
        place = f"{NODE}/node{node}"
        found |= {
            f"{place}/cpulist": cpus,
            f"{place}/meminfo": f"Node {node} MemTotal: 8388608 kB\nNode {node} MemFree: 4194304 kB"
            + f"\nNode {node} Inactive(file): 0 kB",
            f"{place}/distance": "10 20" if node == 0 else "20 10",
            f"{place}/hugepages/hugepages-2048kB/nr_hugepages": "4",
        }
    for tid, (name, flags, cpus) in THREADS.items():
        fields = ["S", *["0"] * 5, str(flags), *["0"] * 12, str(tid * 10), "0"]
        found[f"/proc/{tid}/stat"] = f"{tid} ({name}) {' '.join(fields)}"
        found[f"/proc/{tid}/affinity"] = cpus
        found[f"/proc/{tid}/task/{tid}/comm"] = name
    everybody = " ".join(map(str, THREADS))
    if version == 1:
        mount = f"30 1 0:30 / {V1} rw - cgroup cgroup rw,cpuset\n"
        mount += f"31 1 0:31 / {V1_MEMORY} rw - cgroup cgroup rw,memory"
        found |= {
            f"{V1}/cpuset.cpus": "0-3",
            f"{V1}/cpuset.mems": "0-1",
            f"{V1}/cpuset.effective_cpus": "0-3",
            f"{V1}/cpuset.cpu_exclusive": "1",
            f"{V1}/cpuset.sched_load_balance": "1",
            f"{V1}/tasks": everybody,
            f"{V1}/cgroup.procs": everybody,
            f"{V1_MEMORY}/tasks": everybody,
            f"{V1_MEMORY}/cgroup.procs": everybody,
            "/proc/self/cgroup": "3:cpuset:/\n4:memory:/",
        }
    else:
        mount = f"30 1 0:30 / {V2} rw - cgroup2 cgroup2 rw"
        found |= {
            f"{V2}/cgroup.controllers": "cpuset cpu io memory hugetlb pids",
            f"{V2}/cgroup.subtree_control": "memory pids",
            f"{V2}/cpuset.cpus.effective": "0-3",
            f"{V2}/cgroup.procs": everybody,
            "/proc/self/cgroup": "0::/",
        }
    return found | {"/proc/self/mountinfo": mount}


def plant(base: Path, version: int) -> None:
    """Write the files of the host."""
    for path, text in files(version).items():
        place = base / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")


def place(base: Path, version: int, fault_hook: FaultHook | None = None) -> PartitionHost:
    """Return the host on which partitions are created; their folder lies beside it."""
    host = RecordedGroups(base, V1 if version == 1 else V2, fault_hook)
    env = {"ASSAY_RUN": str(base.with_name("run"))}
    return PartitionHost(env=env, wait_s=0.0, host=host, root=Root(base), guarded=False)
