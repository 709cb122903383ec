import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.machine.cgroup import Cgroups, read_cgroups

V2 = "30 23 0:26 {top} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "3{n} 23 0:3{n} {top} /sys/fs/cgroup/{names} rw shared:9 - cgroup cgroup rw,{names}"


def v1(names, n, top="/"):
    return V1.format(n=n, names=names, top=top)


def host(tree, mountinfo, groups, files=None):
    here = {"/proc/self/mountinfo": "\n".join(mountinfo), "/proc/self/cgroup": "\n".join(groups)}
    below = {f"/sys/fs/cgroup/{name}": text for name, text in (files or {}).items()}
    return read_cgroups(tree(here | below))


def test_v2_uses_nearest_cpuset_and_lowest_limit(tree):
    files = {
        "a/memory.max": "8000000000",
        "a/b/memory.max": "max",
        "a/b/c/memory.max": "9000000000",
        "cpuset.cpus.effective": "0-7",
        "a/cpuset.cpus.effective": "2-3",
    }
    found = host(tree, [V2.format(top="/")], ["0::/a/b/c"], files)
    assert found == Cgroups("v2", (2, 3), 8000000000)


def test_v2_without_limits(tree):
    found = host(tree, [V2.format(top="/")], ["0::/"], {"memory.max": "max"})
    assert found == Cgroups("v2", None, None)


def test_v1(tree):
    mounts = [v1("cpuset", 1), v1("memory", 2), v1("cpu,cpuacct", 3)]
    files = {
        "cpuset/job/cpuset.cpus": "0-7",
        "cpuset/job/cpuset.effective_cpus": "4-5",
        "cpuset/cpuset.cpus": "0-7",
        "memory/x/memory.limit_in_bytes": "1073741824",
        "memory/memory.limit_in_bytes": "9223372036854771712",
    }
    groups = ["3:cpu,cpuacct:/", "2:memory:/x", "1:cpuset:/job"]
    assert host(tree, mounts, groups, files) == Cgroups("v1", (4, 5), 1073741824)


def test_v1_before_effective_cpus(tree):
    files = {"cpuset/job/cpuset.cpus": "", "cpuset/cpuset.cpus": "0-1"}
    found = host(tree, [v1("cpuset", 1)], ["1:cpuset:/job"], files)
    assert found.cpus == (0, 1)


def test_hybrid_reads_each_controller_in_its_hierarchy(tree):
    mounts = [V2.format(top="/").replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified")]
    mounts.append(v1("memory", 2))
    files = {
        "unified/u/cpuset.cpus.effective": "1",
        "unified/u/memory.max": "5",
        "memory/m/memory.limit_in_bytes": "4096000",
    }
    found = host(tree, mounts, ["2:memory:/m", "0::/u"], files)
    assert found == Cgroups("hybrid", (1,), 4096000)


@pytest.mark.parametrize(
    ("top", "group", "expected"),
    [
        ("/docker/abc", "/docker/abc", 100),
        ("/docker/abc", "/docker/abc/inner", 50),
        ("/docker/abcd", "/docker/abc", 100),
        ("/", "/../outside", 100),
    ],
)
def test_mounts_inside_containers_show_part_of_the_hierarchy(tree, top, group, expected):
    files = {"memory.max": "100", "inner/memory.max": "50", "docker/abc/memory.max": "1"}
    found = host(tree, [V2.format(top=top)], [f"0::{group}"], files)
    assert found.memory_limit_bytes == expected


def test_mounts_file_alone_is_enough(tree):
    root = tree(
        {
            "/proc/self/mounts": "cgroup2 /my\\040groups cgroup2 rw 0 0\nproc /proc proc rw 0 0",
            "/proc/self/cgroup": "0::/a",
            "/my groups/a/cpuset.cpus.effective": "5",
        }
    )
    assert read_cgroups(root) == Cgroups("v2", (5,), None)


def test_legacy_cpuset_file_system_is_read(tree):
    root = tree(
        {
            "/proc/self/mounts": "none /dev/cpuset cpuset rw 0 0",
            "/proc/self/cpuset": "/job",
            "/dev/cpuset/job/cpus": "3-4",
        }
    )
    assert read_cgroups(root) == Cgroups("v1", (3, 4), None)


def test_no_control_groups(tree):
    assert read_cgroups(tree({"/proc/self/mounts": "proc /proc proc rw 0 0"})) == Cgroups("none")


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"a/cpu.max": "150000 100000", "cpu.max": "max 100000"}, 1.5),
        ({"a/cpu.max": "300000 100000", "cpu.max": "50000 100000"}, 0.5),
        ({"a/cpu.max": "max 100000"}, None),
        ({"a/cpu.max": "100000 0"}, None),
    ],
)
def test_v2_time_limit(tree, files, limit):
    assert host(tree, [V2.format(top="/")], ["0::/a"], files).cpu_limit == limit


@pytest.mark.parametrize(("quota", "limit"), [("200000", 2.0), ("-1", None)])
def test_v1_time_limit(tree, quota, limit):
    files = {"cpu,cpuacct/a/cpu.cfs_quota_us": quota, "cpu,cpuacct/a/cpu.cfs_period_us": "100000"}
    assert host(tree, [v1("cpu,cpuacct", 1)], ["1:cpu,cpuacct:/a"], files).cpu_limit == limit


LINES = st.text(alphabet="0123456789 -:/,.\\cgroupset2mey\n", max_size=120)


@settings(deadline=None)
@given(mountinfo=LINES, group=LINES)
def test_arbitrary_text_raises_no_error(tmp_path_factory, mountinfo, group):
    from assay.machine.root import Root

    base = tmp_path_factory.getbasetemp() / "any-cgroup"
    (base / "proc" / "self").mkdir(parents=True, exist_ok=True)
    (base / "proc" / "self" / "mountinfo").write_text(V2.format(top="/") + "\n" + mountinfo)
    (base / "proc" / "self" / "cgroup").write_text("0::" + group)
    assert read_cgroups(Root(base)).memory_limit_bytes is None
