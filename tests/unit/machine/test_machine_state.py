import os

import pytest

from assay.machine.processor import boot_arguments, read_kernel, read_processor
from assay.machine.rights import read_rights, read_rt_share
from assay.machine.root import Root
from assay.machine.state import read_default_state, read_huge_pages, read_hypervisor

THP = "/sys/kernel/mm/transparent_hugepage"
CPU = "/sys/devices/system/cpu"


def test_default_state_contains_readable_values(tree):
    root = tree(
        {
            f"{THP}/enabled": "always [madvise] never",
            f"{THP}/hugepages-64kB/enabled": "always inherit [never]",
            f"{THP}/hugepages-2048kB/enabled": "always [inherit] madvise never",
            f"{CPU}/cpufreq/policy0/scaling_governor": "powersave",
            f"{CPU}/cpufreq/policy1/scaling_governor": "performance",
            f"{CPU}/cpufreq/boost": "1",
            f"{CPU}/isolated": "\n",
            "/proc/sys/vm/swappiness": "60\n",
            "/proc/cmdline": "root=/dev/sda secret=hunter2 isolcpus=2,3 nosmt quiet -- isolcpus=4",
        }
    )
    assert read_default_state(root) == {
        "boot": "isolcpus=2,3 nosmt",
        "cpu.boost": "1",
        "cpu.governor": "performance,powersave",
        "thp.enabled": "madvise",
        "thp.sizes": "2048k=inherit",
        "vm.swappiness": "60",
    }


def test_huge_pages(tree):
    root = tree({f"{THP}/enabled": "[always] madvise never", f"{THP}/hpage_pmd_size": "2097152"})
    pages = read_huge_pages(root)
    assert (pages.enabled, pages.defrag, pages.size_bytes) == ("always", None, 2097152)


@pytest.mark.parametrize(
    ("files", "flags", "arch", "name"),
    [
        ({"product_name": "KVM"}, {"hypervisor"}, "x86_64", "kvm"),
        ({"sys_vendor": "Amazon EC2"}, {"hypervisor"}, "x86_64", "amazon"),
        ({"sys_vendor": "Amazon EC2"}, {"fpu"}, "x86_64", None),
        ({"sys_vendor": "Dell Inc."}, {"fpu"}, "x86_64", None),
        ({"sys_vendor": "QEMU"}, {"asimd"}, "aarch64", "qemu"),
        ({}, {"asimd"}, "aarch64", None),
        ({}, {"hypervisor"}, "x86_64", "unknown"),
        ({"product_name": "Virtual Machine"}, {"hypervisor"}, "x86_64", "microsoft"),
    ],
)
def test_hypervisor_from_dmi(tree, files, flags, arch, name):
    root = tree({f"/sys/class/dmi/id/{file}": text for file, text in files.items()})
    assert read_hypervisor(root, frozenset(flags), arch) == name


def test_hypervisor_without_dmi(tree):
    clock = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    root = tree({clock: "tsc kvm-clock \n"})
    assert read_hypervisor(root, frozenset({"hypervisor"}), "x86_64") == "kvm"
    assert read_hypervisor(tree({"/sys/hypervisor/type": "xen"}), frozenset(), "x86_64") == "xen"


def test_boot_arguments_exclude_those_of_init(tree):
    assert boot_arguments(tree({"/proc/cmdline": "a b=c -- d"})) == ("a", "b=c")


@pytest.mark.parametrize(
    ("cpuinfo", "model", "flag"),
    [
        ("cpu family\t: 6\nmodel name\t: Intel(R)  Xeon\nflags\t\t: fpu avx2\n",
         "Intel(R) Xeon", "avx2"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\nFeatures\t: asimd\n",
         "ARM implementer 0x41 part 0xd0c", "asimd"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported", None),
        ("", "unknown", None),
    ],
)  # fmt: skip
def test_processor(tree, cpuinfo, model, flag):
    processor = read_processor(tree({"/proc/cpuinfo": cpuinfo}))
    assert processor.model == model
    assert flag is None or flag in processor.flags


@pytest.mark.parametrize(
    ("files", "release", "version", "arch"),
    [
        ({"sys/kernel/osrelease": "6.18.4-x", "sys/kernel/arch": "x86_64"},
         "6.18.4-x", (6, 18), "x86_64"),
        ({"version": "Linux version 5.3.0-rc7 (root@x) #4"}, "5.3.0-rc7", (5, 3), ""),
        ({"hwloc-nofile-info": "OSRelease: 6.1.0\nArchitecture: arm"}, "6.1.0", (6, 1), "arm"),
        ({}, "", (0, 0), ""),
    ],
)  # fmt: skip
def test_kernel(tree, files, release, version, arch):
    kernel = read_kernel(tree({f"/proc/{name}": text for name, text in files.items()}))
    assert (kernel.release, kernel.version, kernel.arch) == (release, version, arch)


def rights(tree, mask="0", nice=0, limit="0", uid_map="0 0 4294967295", uid=1000, rt="0"):
    stat = f"7 (a ) b) R 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 {nice} 1 0 9"
    files = {
        "status": f"Name:\tx\nUid:\t1\t{uid}\t1\t1\nCapEff:\t{int(mask, 16):016x}\n",
        "stat": stat,
        "limits": (
            f"Max nice priority         {limit}                    0    \n"
            f"Max realtime priority     {rt}                    0    \n"
        ),
        "uid_map": f"         {uid_map}\n",
    }
    return read_rights(tree({f"/proc/self/{name}": text for name, text in files.items()}))


def test_rights_of_a_user(tree):
    found = rights(tree, nice=5)
    assert (found.uid, found.nice, found.min_nice) == (1000, 5, 5)
    assert found.capabilities == frozenset() and not found.user_namespace


@pytest.mark.parametrize(("limit", "floor"), [("30", -10), ("40", -20), ("unlimited", -20)])
def test_nice_limit_counts_from_twenty_down(tree, limit, floor):
    assert rights(tree, limit=limit).min_nice == floor


@pytest.mark.parametrize(
    ("mask", "rt", "uid_map", "limit"),
    [
        ("0", "0", "0 0 4294967295", 0),
        ("0", "20", "0 0 4294967295", 20),
        ("0", "unlimited", "0 0 4294967295", 99),
        ("800000", "0", "0 0 4294967295", 99),
        ("800000", "3", "0 1000 1", 3),
    ],
)
def test_real_time_priority(tree, mask, rt, uid_map, limit):
    assert rights(tree, mask=mask, rt=rt, uid_map=uid_map).max_rt_priority == limit


@pytest.mark.parametrize(
    ("runtime", "period", "share"),
    [
        ("950000", "1000000", 0.95),
        ("-1", "1000000", 1.0),
        ("1000000", "1000000", 1.0),
        ("950000", None, None),
        (None, None, None),
    ],
)
def test_real_time_share_is_read(tree, runtime, period, share):
    values = {"sched_rt_runtime_us": runtime, "sched_rt_period_us": period}
    files = {f"/proc/sys/kernel/{name}": text for name, text in values.items() if text}
    assert read_rt_share(tree({"/proc/version": "", **files})) == share


def test_capabilities_by_name(tree):
    found = rights(tree, mask="800004", uid=0)
    assert found.capabilities == {"CAP_DAC_READ_SEARCH", "CAP_SYS_NICE"}
    assert found.min_nice == -20 and found.uid == 0


def test_root_of_a_user_namespace_cannot_lower_nice(tree):
    found = rights(tree, mask="1ffffffffff", uid_map="0 1000 1")
    assert found.user_namespace and "CAP_CHECKPOINT_RESTORE" in found.capabilities
    assert found.min_nice == 0


@pytest.mark.parametrize(
    ("status", "filters"),
    [("Uid:\t1\t1\t1\t1\nSeccomp:\t0\n", True), ("Uid:\t1\t1\n", False), ("", True)],
)
def test_filters_of_system_calls(tree, status, filters):
    assert read_rights(tree({"/proc/self/status": status})).call_filters is filters


@pytest.mark.parametrize("name", ["user/max_user_namespaces", "kernel/unprivileged_userns_clone"])
def test_disabled_user_namespaces_are_reported(tree, name):
    path = f"/proc/sys/{name}"
    assert read_rights(tree({path: "0\n"})).user_namespaces_unavailable == f"{path} is 0"


def test_enabled_user_namespaces_are_reported(tree):
    files = {"/proc/sys/user/max_user_namespaces": "96365\n", "/proc/version": ""}
    assert read_rights(tree(files)).user_namespaces_unavailable is None


def test_rights_of_this_process():
    found = read_rights(Root())
    assert found.uid == os.geteuid()
    assert found.nice == os.getpriority(os.PRIO_PROCESS, 0)
    assert found.min_nice <= found.nice
