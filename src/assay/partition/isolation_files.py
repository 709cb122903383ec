"""Control-group files of a partition, and their contents while its CPUs are isolated.

Interfaces: cgroup-v2.rst, "Cpuset Interface Files" (``cpuset.cpus.partition`` reads ``isolated
invalid (REASON)`` after a conflicting change of another group, and ``member`` without a partition);
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
"""Contents of the files of a partition's group, by version of its control groups, in writing
order."""
ROOT_FILES: Mapping[int, Mapping[str, str]] = {1: {BALANCE: "0"}, 2: {}}
"""Contents of the files of the root group: version 1 would balance load over all CPUs from
there."""


def expected_files(group: str) -> dict[str, str]:
    """Return the expected contents of the files of a partition, by path, for both versions.

    Files of the other version, and of other hierarchies, do not exist.

    Args:
        group: control group of the partition.
    """
    top = group.rpartition("/")[0]
    return {
        f"{folder}/{name}": text
        for folder, table in ((group, GROUP_FILES), (top, ROOT_FILES))
        for files in table.values()
        for name, text in files.items()
    }
