"""GPUs, disks and network cards from the view of programs, with their nearest CPUs.

Interfaces: ``Documentation/ABI/testing/sysfs-class-net``, ``ABI/stable/sysfs-block``; GPUs are
found by :mod:`assay.machine.gpus`. Virtual disks and cards are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from assay.machine.cpulist import list_in
from assay.machine.gpus import find_gpus
from assay.machine.inventory.document import Device
from assay.machine.inventory.pci import ADDRESS, FOLDER, near_cpus, near_node
from assay.machine.root import Root
from assay.machine.value_formats import selected_word

_SECTOR_BYTES = 512
"""Unit of ``size`` in sysfs, independent of the disk."""
_UNKNOWN_ROTATION = re.compile(r"(?:vd|xvd|sr|nbd)[a-z0-9]", re.ASCII)
"""Disks of virtio, Xen and the network, and optical drives, whose ``queue/rotational`` is
meaningless.
"""


def read_devices(root: Root) -> tuple[Device, ...]:
    """Return GPUs, disks, network cards and fabrics, each kind by name."""
    return (*_gpus(root), *_disks(root), *_networks(root), *_fabrics(root))


def _gpus(root: Root) -> tuple[Device, ...]:
    found = []
    for index, gpu in enumerate(find_gpus(root)):
        folder = f"{FOLDER}/{gpu.address}"
        text = root.read_text(f"/proc/driver/nvidia/gpus/{gpu.address}/information") or ""
        model = re.search(r"^Model:\s*(.+)$", text, re.M)
        found.append(
            Device(
                kind="gpu",
                name=f"gpu{index}",
                address=gpu.address,
                model=model[1].strip() if model else gpu.vendor,
                node=near_node(root, folder),
                cpus=near_cpus(root, folder),
            )
        )
    return tuple(found)


def _disks(root: Root) -> Iterator[Device]:
    for place, disk in _with_hardware(root, "block", "disk"):
        # A partition has a number, and is below its disk.
        if root.exists(f"{place}/partition"):
            continue
        sectors = root.read_int(f"{place}/size")
        # Virtual disks and drives without a medium count as rotational by default.
        is_known = _UNKNOWN_ROTATION.match(disk.name) is None
        turning = root.read_int(f"{place}/queue/rotational") if is_known else None
        yield replace(
            disk,
            model=_words(root.read_text(f"{place}/device/model")),
            size_bytes=sectors * _SECTOR_BYTES if sectors else None,
            rotational=None if turning is None else turning != 0,
            scheduler=selected_word(root.read_text(f"{place}/queue/scheduler") or ""),
        )


def _networks(root: Root) -> Iterator[Device]:
    for place, card in _with_hardware(root, "net", "network"):
        speed = root.read_int(f"{place}/speed")
        yield replace(card, speed_mbit_s=speed if speed is not None and speed > 0 else None)


def _fabrics(root: Root) -> Iterator[Device]:
    for place, card in _with_hardware(root, "infiniband", "fabric"):
        rate = re.match(r"(\d+) Gb/sec", root.read_text(f"{place}/ports/1/rate") or "")
        yield replace(
            card,
            model=_words(root.read_text(f"{place}/hca_type")),
            speed_mbit_s=int(rate[1]) * 1000 if rate else None,
        )


def _with_hardware(root: Root, folder: str, kind: str) -> Iterator[tuple[str, Device]]:
    """Yield the members of a class in ``/sys/class``: their paths, and the common properties."""
    for name in root.listdir(f"/sys/class/{folder}"):
        place = root.real(f"/sys/class/{folder}/{name}") or ""
        if place and "/virtual/" not in place:
            address, node, cpus = _location_of(root, place)
            yield place, Device(kind=kind, name=name, address=address, node=node, cpus=cpus)


def _words(text: str | None) -> str | None:
    return " ".join((text or "").split()) or None


def _location_of(root: Root, place: str) -> tuple[str | None, int | None, tuple[int, ...]]:
    """Return the nearest PCI device above a path in ``/sys/devices``, its node and CPUs."""
    address = None
    node: int | None = None
    cpus: tuple[int, ...] = ()
    while place.startswith("/sys/devices/"):
        name = place.rpartition("/")[2].lower()
        if address is None and ADDRESS.fullmatch(name):
            address = name
        node = near_node(root, place) if node is None else node
        cpus = cpus or near_cpus(root, place)
        place = place.rpartition("/")[0]
    if not cpus and node is not None:
        cpus = list_in(root.read_text(f"/sys/devices/system/node/node{node}/cpulist"))
    return address, node, cpus
