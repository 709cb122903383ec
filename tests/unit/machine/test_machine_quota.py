"""Quotas of CPU time of this group and its ancestors, in both versions of control groups."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.machine.quota import cpus_within, describe_quota, quota_stat, read_periods
from assay.machine.reader import read_machine
from assay.machine.root import Root

V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "33 23 0:33 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct"
ONLINE = {"/sys/devices/system/cpu/online": "0-3"} | {
    f"/sys/devices/system/cpu/cpu{n}/topology/core_id": str(n) for n in range(4)
}
STAT = "nr_periods 44\nnr_throttled 38\n"
TREES = {
    "v2, group above": (
        {"/proc/self/mountinfo": V2, "/proc/self/cgroup": "0::/ci/job/step"},
        {
            "ci/cpu.max": "50000 100000",
            "ci/cpu.stat": f"usage_usec 1\n{STAT}throttled_usec 5\n",
            "ci/job/cpu.max": "200000 100000",
            "ci/job/cpu.stat": "nr_periods 1\nnr_throttled 1\n",
            "ci/job/step/cpu.max": "max 100000",
        },
    ),
    "v1, group above": (
        {"/proc/self/mountinfo": V1, "/proc/self/cgroup": "3:cpu,cpuacct:/ci/job"},
        {
            "cpu,cpuacct/ci/cpu.cfs_quota_us": "50000",
            "cpu,cpuacct/ci/cpu.cfs_period_us": "100000",
            "cpu,cpuacct/ci/cpu.stat": f"{STAT}throttled_time 5\n",
            "cpu,cpuacct/ci/job/cpu.cfs_quota_us": "-1",
            "cpu,cpuacct/ci/job/cpu.cfs_period_us": "100000",
        },
    ),
}


@pytest.mark.parametrize("name", list(TREES))
def test_lowest_quota_above_is_found_with_its_periods(
    tree: Callable[[dict[str, str]], Root], name: str
) -> None:
    own, files = TREES[name]
    root = tree(own | ONLINE | {f"/sys/fs/cgroup/{path}": text for path, text in files.items()})
    limit = read_machine(root).cpu_limit
    assert limit == 0.5
    periods = read_periods(root, quota_stat(root))
    assert describe_quota(limit, periods) == "quota 0.5 CPU, throttled in 38 of 44 periods"


def test_no_quota_has_no_periods(tree: Callable[[dict[str, str]], Root]) -> None:
    own, _ = TREES["v2, group above"]
    root = tree(own | ONLINE | {"/sys/fs/cgroup/ci/cpu.max": "max 100000"})
    assert quota_stat(root) is None and read_periods(root, None) is None
    assert read_machine(root).cpu_limit is None


@pytest.mark.parametrize(
    ("quota", "cpus", "within"), [(None, 4, 4), (0.5, 4, 1), (1.5, 4, 2), (2.0, 4, 2), (9.0, 4, 4)]
)
def test_cpus_within_quota_are_rounded_up(quota: float | None, cpus: int, within: int) -> None:
    assert cpus_within(quota, cpus) == within
