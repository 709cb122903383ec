"""Drawing of a machine: complete, identical parts combined, without overlap."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from assay.machine.document import Cpu, Machine, Node, Rights
from assay.machine.inventory.document import Control, Device, Inventory, Kernel, Link, Part, Pci
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.snapshot.archive import open_snapshot
from assay.reporting.machine_boxes import Box, badge, machine_box, short_bytes
from assay.reporting.machine_svg import _Placed, _placed, machine_svg
from assay.reporting.pictures.theme import LIGHT
from cases import cases

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "hwloc"
NAMES = ["20em64t-hybrid-1p6c2t+2ca4co1t", "nvidia-dgx-gb10", "32amd64-4s2n4c-cgroup2"]


@cache
def described(name: str) -> tuple[Machine, Inventory]:
    with open_snapshot(RECORDED / f"{name}.tar.bz2") as root:
        machine = read_machine(root)
        return machine, read_inventory(machine, root, env={"PATH": ""}, names=())


def regular(
    packages: int, cores: int, threads: int = 2, allowed: int | None = None
) -> tuple[Machine, Inventory]:
    """Return a machine of identical packages, each with a node and a last-level cache."""
    cpus, tops = [], []
    for package in range(packages):
        inner = []
        for core in range(cores):
            first = (package * cores + core) * threads
            ids = tuple(range(first, first + threads))
            cpus += [
                Cpu(id=i, core=first, siblings=ids, package=package, node=package) for i in ids
            ]
            units = tuple(Part(kind="cpu", id=i, cpus=(i,)) for i in ids)
            unit = Part(kind="core", id=core, cpus=ids, children=units)
            inner.append(Part(kind="l2", cpus=ids, size_bytes=2**20, children=(unit,)))
        own = tuple(cpu for part in inner for cpu in part.cpus)
        cache = Part(kind="l3", cpus=own, size_bytes=2**25, children=tuple(inner))
        # Nodes of one make differ by what the kernel keeps of them.
        node = Part(kind="node", id=package, cpus=own, size_bytes=2**36 - package * 2**28)
        tops.append(Part(kind="package", id=package, cpus=own, memory=(node,), children=(cache,)))
    everything = tuple(cpu.id for cpu in cpus)
    machine = Machine(
        arch="x86_64",
        kernel="6.1",
        kernel_version=(6, 1),
        model="<Big & bold>",
        cpus=tuple(cpus),
        allowed_cpus=everything[:allowed],
        nodes=tuple(Node(id=top.id or 0, cpus=top.cpus, memory_bytes=2**36) for top in tops),
        rights=Rights(uid=0),
        memory_bytes=2**36 * packages,
    )
    inventory = Inventory(
        topology=Part(kind="machine", cpus=everything, children=tuple(tops)),
        topology_source="assay",
        control_groups=Control(mode="none"),
        kernel=Kernel(release="6.1"),
    )
    return machine, inventory


def boxes(box: Box) -> Iterator[Box]:
    yield box
    for inner in (*box.inner, *box.memory, *box.devices):
        yield from boxes(inner)


def held(box: Box) -> int:
    """Return the CPUs that a drawing represents."""
    return box.times * ((box.kind == "cpu") + sum(map(held, box.inner)))


@pytest.mark.parametrize("name", cases(NAMES[:1], slow=NAMES[1:]))
def test_drawing_is_well_formed_and_themed(name: str) -> None:
    machine, inventory = described(name)
    text = machine_svg(machine, inventory)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    roles = {role.replace("_", "-") for role in LIGHT}
    used = set(re.findall(r'class="([^"]+)"', text))
    assert {word[2:] for words in used for word in words.split()} <= roles
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for cpu in machine.cpus:
        assert str(cpu.id) in words
    assert machine_svg(machine, inventory) == text


@pytest.mark.parametrize(("packages", "cores"), [(1, 1), (2, 32), (4, 32), (8, 16), (64, 2)])
def test_every_cpu_is_drawn_or_represented(packages: int, cores: int) -> None:
    machine, inventory = regular(packages, cores)
    box = machine_box(machine, inventory)
    assert held(box) == len(machine.cpus)
    drawn = sum(one.kind == "cpu" for one in boxes(box))
    assert drawn == len(machine.cpus) if len(machine.cpus) <= 48 else drawn <= 48
    ElementTree.fromstring(machine_svg(machine, inventory))


def test_combined_box_lists_all_cpus() -> None:
    box = machine_box(*regular(2, 64))
    (core,) = [one for one in boxes(box) if one.times > 1][:1]
    assert badge(core) == "\u00d7 64: CPUs 0-127"


def test_excluded_cpus_are_not_combined_with_others() -> None:
    box = machine_box(*regular(2, 64, allowed=64))
    looks = {one.look for one in boxes(box) if one.kind == "cpu"}
    assert looks == {"usable", "barred"}
    assert held(box) == 256


def test_kinds_of_cpus_have_different_styles() -> None:
    machine, inventory = described("nvidia-dgx-gb10")
    looks = [one.look for one in boxes(machine_box(machine, inventory)) if one.kind == "cpu"]
    assert looks.count("performance") == looks.count("efficiency") == 10
    text = machine_svg(machine, inventory)
    assert ">performance CPU<" in text
    assert ">efficiency CPU<" in text


def test_devices_are_near_their_cpus_and_slow_links_marked() -> None:
    from msgspec.structs import replace

    machine, inventory = regular(2, 4)
    near = machine.nodes[1].cpus
    slow = Link(speed_gt_s=8.0, width=4, card_speed_gt_s=8.0, card_width=8, below_maximum=True)
    inventory = replace(
        inventory,
        devices=(
            Device(kind="network", name="eth0", address="0000:81:00.0", cpus=near),
            Device(kind="disk", name="sda"),
            *(
                Device(kind="gpu", name=f"gpu{i}", model="G", cpus=machine.nodes[0].cpus)
                for i in range(4)
            ),
        ),
        pci=(Pci(address="0000:81:00.0", kind="Ethernet", ids="8086:1572", link=slow),),
    )
    box = machine_box(machine, inventory)
    first, second = box.inner
    assert [device.lines[0] for device in box.devices] == ["Disk sda"]
    assert [(d.lines[0], d.times) for d in first.devices] == [("GPU gpu0", 4)]
    (card,) = second.devices
    assert card.lines == ("Net eth0", "PCIe 8 GT/s x4")
    assert card.look == "below"


def inside(placed: _Placed) -> None:
    for one in placed.within:
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= placed.width
        assert one.y + one.height <= placed.height
        inside(one)
    for one in placed.within:
        for other in placed.within:
            apart = (
                one is other
                or one.x + one.width <= other.x
                or other.x + other.width <= one.x
                or one.y + one.height <= other.y
                or other.y + other.height <= one.y
            )
            assert apart, (one.box.lines, other.box.lines)


@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 8), (2, 64), (3, 7), (64, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}"
)
def test_boxes_are_nested_without_overlap(shape: tuple[int, int]) -> None:
    inside(_placed(machine_box(*regular(*shape))))


@pytest.mark.parametrize("name", NAMES)
def test_boxes_of_recorded_machines_do_not_overlap(name: str) -> None:
    inside(_placed(machine_box(*described(name))))


def test_sizes_are_short() -> None:
    sizes = (None, 32 * 2**10, 3 * 2**19, 130 * 2**30 + 2**29, 2**40)
    assert [short_bytes(size) for size in sizes] == ["", "32 KiB", "1.5 MiB", "130 GiB", "1 TiB"]


def test_identical_groups_of_large_machine_are_combined() -> None:
    machine, inventory = regular(2, 64)
    (first, second) = inventory.topology.children

    def grouped(package: Part) -> Part:
        (cache,) = package.children
        inner = cache.children
        groups = tuple(
            Part(
                kind="group",
                name="Cluster",
                cpus=tuple(cpu for part in inner[at : at + 8] for cpu in part.cpus),
                children=inner[at : at + 8],
            )
            for at in range(0, len(inner), 8)
        )
        return replace(package, children=(replace(cache, children=groups),))

    top = replace(inventory.topology, children=(grouped(first), grouped(second)))
    found = [
        one
        for one in boxes(machine_box(machine, replace(inventory, topology=top)))
        if one.kind == "group"
    ]
    assert [one.times for one in found] == [8, 8]
    assert badge(found[0]).startswith("\u00d7 8: CPUs 0-")


def test_cpus_with_stride_are_listed_by_stride() -> None:
    assert badge(Box("core", (), cpus=tuple(range(0, 80, 4)), times=20)) == (
        "\u00d7 20: CPUs 0-76 by 4"
    )
