"""The inventory of every recorded machine, of synthetic trees, and of this host."""

import os
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine.boot import HIDDEN, shown_arguments
from assay.machine.cgroup import Cgroups, own_groups
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.inventory import hwloc
from assay.machine.inventory.dimms import read_dimms, without_serial
from assay.machine.inventory.document import Inventory, MissingReading, Part
from assay.machine.inventory.limits import read_limits
from assay.machine.inventory.pci import read_pci
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.machine.snapshot.archive import open_snapshot
from assay.machine.state import _BOOT
from assay.records.codec import decode, encode
from cases import cases

Tree = Callable[[Mapping[str, str]], Root]
RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "hwloc"
ALONE = {"PATH": ""}
NAMES = sorted(path.name.removesuffix(".tar.bz2") for path in RECORDED.glob("*.tar.bz2"))
# hwloc corrects these differently: a machine without packages or cores, and overlapping tables.
ITS_OWN = ("2ps3-2t", "8ia64-2s2c2t")


@pytest.fixture(scope="module")
def described() -> Iterator[Callable[..., tuple[Machine, Inventory]]]:
    """Provide a recorded machine in both documents; each archive is unpacked once."""
    with ExitStack() as kept:
        roots: dict[str, Root] = {}

        def describe(name: str, env: Mapping[str, str] = ALONE) -> tuple[Machine, Inventory]:
            if name not in roots:
                roots[name] = kept.enter_context(open_snapshot(RECORDED / f"{name}.tar.bz2"))
            machine = read_machine(roots[name])
            return machine, read_inventory(machine, roots[name], env=env, names=())

        yield describe


Described = Callable[..., tuple[Machine, Inventory]]


def parts(part: Part) -> Iterator[Part]:
    yield part
    for inner in part.children:
        yield from parts(inner)


def memory(part: Part) -> Iterator[Part]:
    for one in parts(part):
        pending = list(one.memory)
        while pending:
            found = pending.pop()
            yield found
            pending.extend(found.memory)


@pytest.mark.parametrize("name", cases(NAMES[::3], slow=[*NAMES[1::3], *NAMES[2::3]]))
def test_every_part_occurs_once_within_the_next_larger(described: Described, name: str) -> None:
    machine, found = described(name)
    assert found.topology_source == "assay"
    assert any("hwloc" in (gap.remedy or "") for gap in found.unavailable)
    everything = list(parts(found.topology))
    cpus = [part.id for part in everything if part.kind == "cpu"]
    assert sorted(cpus) == [cpu.id for cpu in machine.cpus]
    for part in everything:
        inside = [cpu for inner in part.children for cpu in inner.cpus]
        assert len(inside) == len(set(inside))
        assert set(inside) <= set(part.cpus)
    nodes = [one.id for one in memory(found.topology) if one.kind == "node"]
    assert sorted(nodes) == [node.id for node in machine.nodes]
    for cache in found.caches:
        shared = [cpu for cpus in cache.shared_by for cpu in cpus]
        assert len(shared) == len(set(shared))
    assert decode(encode(found), Inventory) == found


@pytest.mark.rotating
@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="needs hwloc-nox")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ITS_OWN])
def test_hwloc_finds_the_same_parts(described: Described, name: str) -> None:
    _, own = described(name)
    _, told = described(name, dict(os.environ))
    assert told.topology_source.startswith("hwloc 2")
    kinds = ("package", "die", "l3", "l2", "l1", "l1i", "core", "cpu")

    def seen(top: Part) -> set[tuple[str, tuple[int, ...]]]:
        return {(part.kind, part.cpus) for part in parts(top) if part.kind in kinds}

    assert seen(own.topology) == seen(told.topology)


def test_caches_of_hybrid_machine_are_distinguished(described: Described) -> None:
    _, found = described("20em64t-hybrid-1p6c2t+2ca4co1t")
    level_two = [cache for cache in found.caches if cache.level == 2]
    assert [(c.size_bytes, len(c.shared_by), len(c.shared_by[0])) for c in level_two] == [
        (1310720, 6, 2),
        (2097152, 2, 4),
    ]


def test_recorded_server_has_devices_modules_and_bridges(described: Described) -> None:
    _, found = described("32em64t-2n8c+dax+nvme+mic+dimms")
    assert {device.kind for device in found.devices} == {"disk", "network", "fabric"}
    by_name = {device.name: device for device in found.devices}
    assert by_name["mlx4_0"].node == 1
    assert by_name["mlx4_0"].address == "0000:82:00.0"
    assert by_name["eth0"].speed_mbit_s == 1000
    assert by_name["sda"].rotational is True
    full = [dimm for dimm in found.dimms if dimm.size_bytes]
    assert len(found.dimms) == 24
    assert {(d.type, d.size_bytes, d.speed_mt_s, d.ranks) for d in full} == {
        ("DDR3", 4 * 2**30, 1600, 2)
    }
    assert {pci.parent for pci in found.pci if pci.address == "0000:82:00.0"} == {"0000:80:02.2"}
    assert found.firmware.product == "DCS8000Z"


def test_memory_side_caches_precede_their_memory(described: Described) -> None:
    _, found = described("memorysidecaches")
    caches = [one for one in memory(found.topology) if one.kind == "memcache"]
    assert len(caches) == 4
    assert all(cache.memory[0].kind == "node" for cache in caches)


def test_this_host_is_described() -> None:
    machine = read_machine()
    found = read_inventory(machine)
    assert found.topology.cpus == tuple(cpu.id for cpu in machine.cpus)
    assert found.kernel.release == machine.kernel
    assert found.limits.affinity
    names = {limit.name: limit for limit in found.limits.resources}
    assert names["open files"].soft == os.sysconf("SC_OPEN_MAX")
    glibc = next(one for one in found.libraries if one.name == "glibc")
    assert glibc.version == os.confstr("CS_GNU_LIBC_VERSION").split()[1]


# PCI

E1 = "/sys/devices/pci0000:00/0000:00:01.0"


def link(folder: str, now: tuple[str, int], most: tuple[str, int]) -> dict[str, str]:
    return {
        f"{folder}/current_link_speed": f"{now[0]} GT/s PCIe",
        f"{folder}/current_link_width": str(now[1]),
        f"{folder}/max_link_speed": f"{most[0]} GT/s PCIe",
        f"{folder}/max_link_width": str(most[1]),
    }


def card(tree: Tree, bridge: dict[str, str], device: dict[str, str]) -> Root:
    return tree(
        {
            "/sys/bus/pci/devices/0000:00:01.0": f"->../../../devices/{E1[13:]}",
            "/sys/bus/pci/devices/0000:01:00.0": f"->../../../devices/{E1[13:]}/0000:01:00.0",
            f"{E1}/class": "0x060400",
            f"{E1}/0000:01:00.0/class": "0x020000",
            f"{E1}/0000:01:00.0/vendor": "0x8086",
            f"{E1}/0000:01:00.0/device": "0x1572",
            **bridge,
            **device,
        }
    )


@pytest.mark.parametrize(
    ("now", "card_can", "slot_can", "below"),
    [
        (("8.0", 8), ("8.0", 8), ("16.0", 16), False),
        (("8.0", 4), ("8.0", 8), ("8.0", 4), False),
        (("8.0", 4), ("8.0", 8), ("8.0", 8), True),
        (("2.5", 8), ("8.0", 8), ("16.0", 8), True),
    ],
)
def test_link_is_below_only_if_both_ends_support_more(
    tree: Tree,
    now: tuple[str, int],
    card_can: tuple[str, int],
    slot_can: tuple[str, int],
    below: bool,
) -> None:
    root = card(tree, link(E1, now, slot_can), link(f"{E1}/0000:01:00.0", now, card_can))
    found = read_pci(root, names=())[1].link
    assert found is not None
    assert (found.speed_gt_s, found.width, found.below_maximum) == (float(now[0]), now[1], below)
    assert (found.slot_speed_gt_s, found.slot_width) == (float(slot_can[0]), slot_can[1])


def test_link_is_read_from_configuration_without_link_files(tree: Tree) -> None:
    root = card(tree, {}, {})
    config = bytearray(256)
    config[0x06], config[0x34] = 0x10, 0x40
    config[0x40:0x42] = bytes((0x01, 0x50))  # another capability comes first
    config[0x50] = 0x10
    struct.pack_into("<I", config, 0x5C, 4 | 16 << 4)
    struct.pack_into("<H", config, 0x62, 3 | 8 << 4)
    (root.path / f"{E1[1:]}/0000:01:00.0/config").write_bytes(bytes(config))
    found = read_pci(root, names=())[1].link
    assert found is not None
    assert (found.speed_gt_s, found.width, found.card_speed_gt_s, found.card_width) == (
        8,
        8,
        16,
        16,
    )
    assert found.below_maximum


@given(st.binary(max_size=300))
def test_arbitrary_configuration_raises_no_error(content: bytes) -> None:
    from assay.machine.inventory.pci import _from_config

    _from_config(content)


def test_names_come_from_first_readable_table(tree: Tree, tmp_path: Path) -> None:
    table = tmp_path / "pci.ids"
    table.write_text("# table\n8086  Intel\n\t1572  X710\n\t\t8086 0001  A board\nC 02  Network\n")
    found = read_pci(card(tree, {}, {}), names=(tmp_path / "none", table))[1]
    assert (found.vendor, found.product, found.kind) == ("Intel", "X710", "Ethernet")


# Memory modules


def module(serial: str = "S123", size: int = 0x4000) -> bytes:
    fixed = bytearray(0x28)
    fixed[0:2] = bytes((17, 0x28))
    struct.pack_into("<H", fixed, 0x0C, size)
    struct.pack_into("<I", fixed, 0x1C, 65536)
    fixed[0x10], fixed[0x17], fixed[0x18], fixed[0x19], fixed[0x1A] = 1, 2, 3, 4, 5
    fixed[0x12], fixed[0x1B] = 0x22, 2
    struct.pack_into("<H", fixed, 0x15, 5600)
    struct.pack_into("<H", fixed, 0x20, 4800)
    return bytes(fixed) + b"\0".join(
        text.encode() for text in ("A1", "Maker", serial, "Asset7", "Part", "", "")
    )


def test_module_has_speeds_but_no_serial_number(tree: Tree) -> None:
    root = tree({"/sys/firmware/dmi/entries/17-0/instance": "0"})
    raw = root.path / "sys/firmware/dmi/entries/17-0/raw"
    raw.write_bytes(module(size=0x7FFF))
    (found,) = read_dimms(root)
    assert (found.slot, found.manufacturer, found.part_number, found.type) == (
        "A1",
        "Maker",
        "Part",
        "DDR5",
    )
    assert (found.size_bytes, found.rated_mt_s, found.speed_mt_s) == (64 * 2**30, 5600, 4800)
    clean = without_serial(module())
    assert b"S123" not in clean
    assert b"Asset7" not in clean
    raw.write_bytes(clean)
    assert read_dimms(root)[0].part_number == "Part"


@given(st.binary(max_size=200))
def test_arbitrary_table_raises_no_error(content: bytes) -> None:
    clean = without_serial(content)
    assert without_serial(clean) == clean


# Kernel


def test_values_of_unknown_boot_arguments_are_hidden(tree: Tree) -> None:
    line = (
        "root=UUID=1f2e quiet rd.luks.key=secret nohz_full=2-7 processor.max_cstate=1 "
        "ip=10.0.0.7::10.0.0.1 strange/word password=x=y isolcpus=managed_irq,2-7 -- --token abc"
    )
    assert shown_arguments(tree({"/proc/cmdline": line})) == (
        f"root={HIDDEN}",
        "quiet",
        f"rd.luks.key={HIDDEN}",
        "nohz_full=2-7",
        "processor.max_cstate=1",
        f"ip={HIDDEN}",
        HIDDEN,
        f"password={HIDDEN}",
        "isolcpus=managed_irq,2-7",
    )


def test_boot_arguments_of_default_state_are_shown(tree: Tree) -> None:
    words = [f"{name}=1" for name in sorted(_BOOT)]
    assert list(shown_arguments(tree({"/proc/cmdline": " ".join(words)}))) == words


def test_kernel_options_are_found_compressed_or_in_boot(tree: Tree) -> None:
    text = "CONFIG_HZ=250\nCONFIG_NO_HZ_FULL=y\n# CONFIG_PREEMPT_RT is not set\n"
    root = tree({"/boot/config-6.1.0": text, "/proc/sys/kernel/osrelease": "6.1.0"})
    machine = read_machine(root)
    found = read_inventory(machine, root, env=ALONE).kernel
    assert found.config_file == "/boot/config-6.1.0"
    assert (found.config["HZ"], found.config["NO_HZ_FULL"]) == ("250", "y")
    assert found.config["PREEMPT_RT"] == "n"
    packed = zlib.compressobj(wbits=31)
    (root.path / "proc/config.gz").write_bytes(
        packed.compress(b"CONFIG_HZ=1000\n") + packed.flush()
    )
    found = read_inventory(machine, root, env=ALONE).kernel
    assert (found.config_file, found.config["HZ"]) == ("/proc/config.gz", "1000")


def test_performance_options_have_current_names(tree: Tree) -> None:
    text = (
        'CONFIG_CC_VERSION_TEXT="gcc-12 (Debian) 12.2"\nCONFIG_HZ=250\nCONFIG_RETPOLINE=y\n'
        "# CONFIG_PREEMPT is not set\nCONFIG_USB=y\nCONFIG_MOS_FOR_HPC=y\n"
    )
    root = tree({"/boot/config-5.4.18": text, "/proc/sys/kernel/osrelease": "5.4.18"})
    assert read_machine(root, config=True).boot.config == {
        "CC_VERSION_TEXT": "gcc-12 (Debian) 12.2",
        "HZ": "250",
        "MITIGATION_RETPOLINE": "y",
        "MOS_FOR_HPC": "y",
        "PREEMPT": "n",
    }
    assert read_machine(root).boot.config == {}


# Limits and control groups


def test_limits_are_numbers_or_absent(tree: Tree) -> None:
    root = tree(
        {
            "/proc/self/limits": "Limit                     Soft Limit           Hard Limit\n"
            "Max cpu time              unlimited            unlimited            seconds   \n"
            "Max locked memory         65536                131072               bytes     \n"
            "Max nice priority         0                    0                    \n",
            "/proc/self/status": "Cpus_allowed_list:\t0-1,4\nMems_allowed_list:\t0\n"
            "THP_enabled:\t0\nNoNewPrivs:\t1\nSeccomp:\t2\n",
        }
    )
    found = read_limits(root, Cgroups("v2", memory_limit_bytes=2**30, cpu_limit=1.5))
    assert [(one.name, one.unit, one.soft, one.hard) for one in found.resources] == [
        ("cpu time", "seconds", None, None),
        ("locked memory", "bytes", 65536, 131072),
        ("nice priority", None, 0, 0),
    ]
    assert (found.affinity, found.memory_bytes, found.cpus) == ((0, 1, 4), 2**30, 1.5)
    assert (found.thp_disabled, found.no_new_privileges, found.seccomp) == (True, True, True)


def test_own_groups_of_a_hybrid_host(tree: Tree) -> None:
    root = tree(
        {
            "/proc/self/cgroup": "4:memory:/a/b\n2:cpu,cpuacct:/\n0::/user\n",
            "/proc/self/mountinfo": "30 1 0:1 / /cg/mem rw - cgroup cgroup rw,memory\n"
            "31 1 0:2 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
            "32 1 0:3 / /cg/unified rw - cgroup2 cgroup2 rw\n",
            "/cg/unified/user/cgroup.controllers": "pids io",
            "/cg/unified/user/cgroup.subtree_control": "pids",
        }
    )
    found = own_groups(root)
    assert [(one.version, one.controllers, one.folder) for one in found] == [
        (2, (), "/cg/unified/user"),
        (1, ("cpu", "cpuacct"), "/cg/cpu"),
        (1, ("memory",), "/cg/mem/a/b"),
    ]
    control = read_inventory(read_machine(root), root, env=ALONE).control_groups
    assert control.mode == "hybrid"
    assert control.hierarchies[0].controllers == ("io", "pids")
    assert control.hierarchies[0].delegated_controllers == ("pids",)
    assert control.hierarchies[0].writable is None


# Hwloc

XML = b"""<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x00000003">
<info name="hwlocVersion" value="2.9.0"/><info name="HostName" value="secret-host"/>
<object type="NUMANode" os_index="0" cpuset="0x3" local_memory="4096"/>
<object type="L2Cache" cpuset="0x00000001,,0x00000003" cache_size="1024">
<object type="PU" os_index="1" cpuset="0x2"/></object>
<object type="Bridge"><object type="PCIDev" pci_busid="0000:00:03.0">
<object type="OSDev" name="eth0"><info name="Address" value="02:fc:00:00:00:01"/></object>
</object></object></object></topology>"""


def test_hwloc_documents_are_read_without_host_names() -> None:
    found = hwloc.parse(XML)
    assert found is not None
    version, top = found
    assert (version, top.memory[0].size_bytes) == ("2.9.0", 4096)
    assert (top.children[0].kind, top.children[0].cpus) == ("l2", (0, 1, 64))
    clean = hwloc.without_names(XML)
    assert clean is not None
    assert b"secret-host" not in clean
    assert b"02:fc" not in clean
    assert hwloc.parse(clean) == found


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<topology",
        b"<topology version='1.11'><object type='Machine'/></topology>",
        b"<!DOCTYPE t [<!ENTITY a 'b'>]>"
        b"<topology version='2.0'><object type='Machine'/></topology>",
        b"<other/>",
    ],
)
def test_documents_of_other_formats_are_rejected(text: bytes) -> None:
    assert hwloc.parse(text) is None
    assert hwloc.without_names(text) is None


def program(folder: Path, script: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    place = folder / "lstopo"
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_hwloc_runs_once_per_boot(tmp_path: Path) -> None:
    if not Root().exists("/proc/sys/kernel/random/boot_id"):
        pytest.skip("this kernel tells no boots apart")
    (tmp_path / "answer.xml").write_bytes(XML)
    script = f"echo asked >> {tmp_path}/asked; cat {tmp_path}/answer.xml"
    env = {"PATH": program(tmp_path / "bin", script)["PATH"]}
    (tmp_path / "bin/lstopo").rename(tmp_path / "bin/lstopo-no-graphics")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "hwloc-0000000000000000.xml").write_text("of an earlier boot")
    for _ in range(2):
        assert hwloc.read_hwloc(Root(), "0-1", env, cache) == hwloc.parse(XML)
    assert (tmp_path / "asked").read_text() == "asked\n"
    hwloc.read_hwloc(Root(), "0", env, cache)  # a CPU went offline
    assert (tmp_path / "asked").read_text() == "asked\nasked\n"
    assert len(list(cache.iterdir())) == 1


def test_failing_hwloc_is_reported_with_its_error(tmp_path: Path) -> None:
    env = program(tmp_path / "bin", "echo broken tables >&2; exit 3")
    (tmp_path / "bin/lstopo").rename(tmp_path / "bin/lstopo-no-graphics")
    found = hwloc.read_hwloc(Root(), "0", env)
    assert isinstance(found, MissingReading)
    assert "broken tables" in found.reason


@pytest.mark.rotating
@given(st.sets(st.integers(0, 200), min_size=1))
def test_bitmaps_of_hwloc_are_read(cpus: set[int]) -> None:
    mask = sum(1 << cpu for cpu in cpus)
    words = []
    while mask:
        words.append(f"0x{mask & 0xFFFFFFFF:08x}" if mask & 0xFFFFFFFF else "")
        mask >>= 32
    assert format_list(hwloc._bitmap(",".join(words[::-1]))) == format_list(cpus)
