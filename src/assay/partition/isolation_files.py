"""Apart: what files of control groups say for as long as the CPUs of a partition are set apart.

Interfaces: cgroup-v2.rst, "Cpuset Interface Files" (``cpuset.cpus.partition`` reads ``isolated
invalid (REASON)`` where another group's change has undone it, and ``member`` where it is none);
cgroup-v1/cpusets.rst, sections 1.4 and 1.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.host.control_groups import PARTITION

EXCLUSIVE = "cpuset.cpu_exclusive"
BALANCE = "cpuset.sched_load_balance"

GROUP_FILES: Mapping[int, Mapping[str, str]] = {
    1: {EXCLUSIVE: "1", BALANCE: "0"},
    2: {PARTITION: "isolated"},
}
"""What a partition's own group says, by the version of its control groups, in the order in which it
is written."""
ROOT_FILES: Mapping[int, Mapping[str, str]] = {1: {BALANCE: "0"}, 2: {}}
"""The same of the first group, above it: version 1 would balance load over all CPUs from there."""


def expected_files(group: str) -> dict[str, str]:
    """What the files of a partition are to say, by path, of whichever version it is.

    Files of the other version are not there, and neither are those of other hierarchies.

    Args:
        group: the partition's own.
    """
    top = group.rpartition("/")[0]
    return {
        f"{folder}/{name}": text
        for folder, table in ((group, GROUP_FILES), (top, ROOT_FILES))
        for files in table.values()
        for name, text in files.items()
    }
