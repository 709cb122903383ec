"""``placement=near:``, ``gpus`` and ``limit.NAME``: settings that read the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.launch.planner import plan
from assay.machine.document import Machine, Rights
from assay.machine.root import Root
from assay.records import (
    Affinity,
    Configuration,
    EnvSet,
    GrantStatus,
    Plan,
    Prospect,
    ReadBack,
    Rlimit,
    Value,
)
from assay.records.facts import AppliedStep
from assay.settings.cpus import Cpus, Placement
from assay.settings.gpus import VisibleGpus
from assay.settings.limits import ResourceLimit
from assay.settings.registry import Registry, judge_all

from .hosts import facts, machine

HOST = machine(packages=2, cores=4, smt=2)  # CPUs 4-7 and 12-15 belong to the second package
CARD = "sys/devices/pci0000:40/0000:41:00.0"


def write(base: Path, files: dict[str, str]) -> Root:
    for name, text in files.items():
        place = base / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Root(base)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    found = write(
        tmp_path,
        {
            f"{CARD}/numa_node": "1",
            f"{CARD}/local_cpulist": "4-7,12-15",
            f"{CARD}/net/eth0/address": "",
            "sys/class/net/.keep": "",
            "proc/self/limits": (
                "Limit                     Soft Limit           Hard Limit           Units\n"
                "Max stack size            8388608              unlimited            bytes\n"
                "Max open files            1024                 4096                 files\n"
            ),
        },
    )
    (tmp_path / "sys/class/net/eth0").symlink_to("../../devices/pci0000:40/0000:41:00.0/net/eth0")
    return found


def planned(root: Root, given: dict[str, Value], host: Machine = HOST) -> Plan:
    registry = Registry((Cpus(root=root), Placement(root=root), VisibleGpus(root=root)))
    return plan(Configuration(given), host, registry)


def why(made: Plan, name: str) -> str:
    assert made.settings[name].status is Prospect.REFUSED
    return made.settings[name].reason or ""


def test_near_selects_all_near_cpus(root: Root) -> None:
    made = planned(root, {"placement": "near:eth0"})
    assert made.actions == (Affinity(cpus=(4, 5, 6, 7, 12, 13, 14, 15)),)
    some = planned(root, {"placement": "near:eth0"}, machine(packages=2, cores=4, allowed=(0, 5)))
    assert some.actions == (Affinity(cpus=(5,)),)


def test_near_with_count_selects_close_near_cpus(root: Root) -> None:
    made = planned(root, {"placement": "near:eth0", "cpus": 2})
    assert made.actions == (Affinity(cpus=(4, 12)),)
    assert {w.status for w in made.settings.values()} == {Prospect.GRANTABLE}


@pytest.mark.parametrize(
    ("given", "name", "told"),
    [
        ({"placement": "near:"}, "placement", "names no device"),
        ({"placement": "near:eth9"}, "placement", "ip link"),
        ({"placement": "near:eth0", "cpus": 9}, "cpus", "from 1 to 8"),
        ({"placement": "near:eth9", "cpus": 1}, "cpus", "eth9"),
        ({"placement": "nearby"}, "placement", "near:DEVICE-OR-FILE"),
    ],
)
def test_impossible_near_is_refused(
    root: Root, given: dict[str, Value], name: str, told: str
) -> None:
    assert told in why(planned(root, given), name)


def test_near_without_usable_cpus_is_refused(root: Root) -> None:
    made = planned(root, {"placement": "near:eth0"}, machine(packages=2, cores=4, allowed=(0, 1)))
    assert "CPUs 4-7,12-15 are nearest to eth0" in why(made, "placement")


def test_near_with_all_cpus_adds_note(root: Root) -> None:
    host = machine(packages=2, cores=4, allowed=(4, 5))
    word = planned(root, {"placement": "near:eth0"}, host).settings["placement"]
    assert word.status is Prospect.GRANTABLE
    assert "equally near" in (word.reason or "")


def gpus(root: Root, *cards: tuple[str, str]) -> Root:
    """Return cards by PCI address and driver."""
    for number, (address, driver) in enumerate(cards):
        base = root.path
        device = base / "sys/devices/pci0000:00" / address
        device.mkdir(parents=True)
        drivers = base / "sys/bus/pci/drivers" / driver
        drivers.mkdir(parents=True, exist_ok=True)
        (device / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        card = base / f"sys/class/drm/card{number}"
        card.mkdir(parents=True)
        (card / "device").symlink_to(f"../../../devices/pci0000:00/{address}")
    return root


NVIDIA = (("0000:01:00.0", "nvidia"), ("0000:02:00.0", "nvidia"))
AMD = (("0000:03:00.0", "amdgpu"),)
INTEL = (("0000:00:02.0", "i915"),)


@pytest.mark.parametrize(
    ("cards", "value", "expected"),
    [
        (NVIDIA, 1, {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        (NVIDIA, "1,0", {"CUDA_VISIBLE_DEVICES": "1,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        (AMD, 0, {"ROCR_VISIBLE_DEVICES": "0"}),
        (INTEL, 0, {"ZE_AFFINITY_MASK": "0", "ZE_ENABLE_PCI_ID_DEVICE_ORDER": "1"}),
        ((*NVIDIA, *INTEL), "nvidia:0",
         {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        (NVIDIA, "none", {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}),
        (AMD, "", {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}),
    ],
)  # fmt: skip
def test_gpus_by_the_variable_of_their_runtime(
    root: Root, cards: tuple[tuple[str, str], ...], value: Value, expected: dict[str, str]
) -> None:
    made = planned(gpus(root, *cards), {"gpus": value})
    assert {a.name: a.value for a in made.actions if isinstance(a, EnvSet)} == expected
    assert made.settings["gpus"].status is Prospect.GRANTABLE
    config = Configuration({"gpus": value})
    registry = Registry((VisibleGpus(root=root),))
    got = judge_all(config, registry, made, facts(ReadBack(environ=expected)))["gpus"]
    assert got.status is GrantStatus.GRANTED
    lost = judge_all(config, registry, made, facts(ReadBack(environ={})))["gpus"]
    assert lost.status is GrantStatus.REFUSED


def test_hiding_intel_gpus_is_degraded(root: Root) -> None:
    made = planned(gpus(root, *INTEL), {"gpus": "none"})
    assert EnvSet(name="ZE_AFFINITY_MASK", value="1") in made.actions
    assert made.settings["gpus"].status is Prospect.DEGRADED


@pytest.mark.parametrize(
    ("cards", "value", "told"),
    [
        ((), 0, "no GPU was found"),
        ((), "none", "no GPU was found"),
        (NVIDIA, 2, "Available: 0-1"),
        (NVIDIA, "amd:0", "Available: nvidia"),
        (NVIDIA, "first", "gpus='first'"),
        ((*NVIDIA, *AMD), 0, "Write gpus=amd:0"),
    ],
)
def test_impossible_gpus_are_refused(
    root: Root, cards: tuple[tuple[str, str], ...], value: Value, told: str
) -> None:
    assert told in why(planned(gpus(root, *cards), {"gpus": value}), "gpus")


def test_duplicate_gpu_is_rejected(root: Root) -> None:
    with pytest.raises(InvalidInputError, match="twice"):
        planned(gpus(root, *NVIDIA), {"gpus": "0,0"})


def limited(root: Root, name: str, value: Value, host: Machine = HOST) -> Plan:
    setting = ResourceLimit(name, root=root)
    return plan(Configuration({setting.name: value}), host, Registry((setting,)))


ROOT = machine(rights=Rights(uid=0, capabilities=frozenset(["CAP_SYS_RESOURCE"])))


@pytest.mark.parametrize(
    ("name", "value", "host", "soft", "hard"),
    [
        ("nofile", 100, HOST, 100, 4096),
        ("nofile", 4096, HOST, 4096, 4096),
        ("nofile", 9000, ROOT, 9000, 9000),
        ("nofile", "unlimited", ROOT, None, None),
        ("stack", "1G", HOST, 1 << 30, None),
        ("stack", "unlimited", HOST, None, None),
    ],
)
def test_limits(
    root: Root, name: str, value: Value, host: Machine, soft: int | None, hard: int | None
) -> None:
    made = limited(root, name, value, host)
    assert made.actions == (Rlimit(resource=name, soft=soft, hard=hard),)


def test_limit_above_hard_limit_needs_capability(root: Root) -> None:
    assert "exceeds the hard limit 4096" in why(limited(root, "nofile", 5000), "limit.nofile")


@pytest.mark.parametrize(("name", "value"), [("nofile", "8M"), ("nofile", -1), ("stack", "much")])
def test_unreadable_limits_are_unlimited(root: Root, name: str, value: Value) -> None:
    with pytest.raises(InvalidInputError):
        limited(root, name, value)


def test_unknown_limit_is_rejected() -> None:
    with pytest.raises(InvalidInputError, match=r"limit\.nofile"):
        ResourceLimit("nofiles")


@pytest.mark.parametrize(
    ("applied", "grant"),
    [
        ((), GrantStatus.UNVERIFIED),
        ((AppliedStep(step="rlimits.stack", ok=True),), GrantStatus.GRANTED),
        ((AppliedStep(step="rlimits.stack", ok=False, errno=1),), GrantStatus.REFUSED),
    ],
)
def test_limit_is_judged_by_call_result(
    root: Root, applied: tuple[AppliedStep, ...], grant: GrantStatus
) -> None:
    made = limited(root, "stack", 1 << 20)
    registry = Registry((ResourceLimit("stack", root=root),))
    run = facts(ReadBack(), applied=applied)
    assert judge_all(made.configuration, registry, made, run)["limit.stack"].status is grant
