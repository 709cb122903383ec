"""PCI devices, the bridges above them, and the speed of their links.

Interfaces: ``Documentation/ABI/testing/sysfs-bus-pci`` (links: Linux 4.13); if a kernel or a
recorded tree lacks the links, the PCI Express capability in the first 256 bytes of ``config`` (PCI
Express Base Specification, 7.5.3).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from pathlib import Path

from assay.machine.cpulist import list_in
from assay.machine.inventory.document import Link, Pci
from assay.machine.root import Root

FOLDER = "/sys/bus/pci/devices"
ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
NAMES = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids")
"""Tables of names in distributions (package ``pci.ids`` or ``hwdata``)."""

_KINDS = {
    0x01: "storage",
    0x0101: "IDE controller",
    0x0104: "RAID controller",
    0x0106: "SATA controller",
    0x0107: "SAS controller",
    0x0108: "NVMe",
    0x02: "network",
    0x0200: "Ethernet",
    0x0207: "InfiniBand",
    0x0208: "fabric",
    0x03: "display",
    0x0300: "VGA",
    0x0302: "3D controller",
    0x04: "multimedia",
    0x05: "memory",
    0x0502: "CXL memory",
    0x06: "bridge",
    0x0600: "host bridge",
    0x0601: "ISA bridge",
    0x0604: "PCI bridge",
    0x07: "communication",
    0x08: "system",
    0x0880: "system",
    0x0C: "serial bus",
    0x0C03: "USB controller",
    0x0C06: "InfiniBand",
    0x0D: "wireless",
    0x10: "encryption",
    0x11: "signal processing",
    0x12: "accelerator",
}
"""Class, or class and subclass, in words; from the table of the PCI-SIG."""

_GT_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""Speeds in GT/s by their number in the capability."""


def read_pci(root: Root, names: Iterable[Path] | None = None) -> tuple[Pci, ...]:
    """Return all PCI devices, by address.

    Args:
        root: root of the machine.
        names: tables of names, of which the first readable one is used; by default those of this
            host.
    """
    addresses = [name for name in root.listdir(FOLDER) if ADDRESS.fullmatch(name.lower())]
    ids = {address: _ids(root, address) for address in addresses}
    known = _names(set(ids.values()), map(Path, NAMES) if names is None else names)
    return tuple(
        Pci(
            address=address.lower(),
            parent=parent_of(root.real(f"{FOLDER}/{address}") or ""),
            kind=_kind(root.read_text(f"{FOLDER}/{address}/class")),
            ids=ids[address],
            vendor=known.get(ids[address].partition(":")[0]),
            product=known.get(ids[address]),
            driver=_last(root.real(f"{FOLDER}/{address}/driver")),
            node=near_node(root, f"{FOLDER}/{address}"),
            cpus=near_cpus(root, f"{FOLDER}/{address}"),
            link=_link(root, address),
        )
        for address in sorted(addresses, key=_order)
    )


def parent_of(place: str) -> str | None:
    """Return the address of the bridge above a device at ``place`` in ``/sys/devices``."""
    above = place.rpartition("/")[0].rpartition("/")[2].lower()
    return above if ADDRESS.fullmatch(above) else None


def near_cpus(root: Root, folder: str) -> tuple[int, ...]:
    """Return the CPUs nearest to a PCI device; an empty tuple if unknown."""
    return list_in(root.read_text(f"{folder}/local_cpulist"))


def near_node(root: Root, folder: str) -> int | None:
    """Return the NUMA node nearest to a PCI device; ``None`` if unknown (-1)."""
    node = root.read_int(f"{folder}/numa_node")
    return node if node is not None and node >= 0 else None


def _order(address: str) -> tuple[int, str]:
    return len(address), address


def _ids(root: Root, address: str) -> str:
    words = (_hex(root.read_text(f"{FOLDER}/{address}/{name}")) for name in ("vendor", "device"))
    return ":".join(f"{word:04x}" for word in words)


def _hex(text: str | None) -> int:
    try:
        return int(text or "0", 16)
    except ValueError:
        return 0


def _kind(text: str | None) -> str:
    whole = _hex(text) >> 8
    return _KINDS.get(whole) or _KINDS.get(whole >> 8) or "other"


def _last(path: str | None) -> str | None:
    return path.rpartition("/")[2] if path else None


def _link(root: Root, address: str) -> Link | None:
    own = _ends(root, address)
    if own is None or own[0] is None:
        return None
    speed, width = own[0]
    card = own[1]
    parent = parent_of(root.real(f"{FOLDER}/{address}") or "")
    above = _ends(root, parent) if parent else None
    slot = above[1] if above else None
    ends = [end for end in (card, slot) if end is not None]
    return Link(
        speed_gt_s=speed,
        width=width,
        card_speed_gt_s=card[0] if card else None,
        card_width=card[1] if card else None,
        slot_speed_gt_s=slot[0] if slot else None,
        slot_width=slot[1] if slot else None,
        below_maximum=bool(ends)
        and (speed < min(end[0] for end in ends) or width < min(end[1] for end in ends)),
    )


Rate = tuple[float, int]
"""Speed in GT/s and number of lanes."""


def _ends(root: Root, address: str) -> tuple[Rate | None, Rate | None] | None:
    """Return the current link of a device, and its maximum at this end; ``None`` without a link."""
    now, most = (_rate(root, address, which) for which in ("current", "max"))
    if now is not None or most is not None:
        return now, most
    return _from_config(root.read_bytes(f"{FOLDER}/{address}/config", 256) or b"")


def _rate(root: Root, address: str, which: str) -> Rate | None:
    # "8.0 GT/s PCIe", before Linux 5.7 "8 GT/s"; "Unknown" without a link.
    text = root.read_text(f"{FOLDER}/{address}/{which}_link_speed") or ""
    speed = re.match(r"(\d+(?:\.\d+)?) GT/s", text)
    width = root.read_int(f"{FOLDER}/{address}/{which}_link_width")
    return (float(speed[1]), width) if speed and width and 0 < width <= 64 else None


def _from_config(config: bytes) -> tuple[Rate | None, Rate | None] | None:
    at = config[0x34] & 0xFC if len(config) == 256 and config[0x06] & 0x10 else 0
    for _ in range(48):  # maximum number of capabilities
        if not 0x40 <= at <= 0xEC:
            return None
        if config[at] == 0x10:
            most, now = (
                struct.unpack_from("<I", config, at + 0x0C),
                struct.unpack_from("<H", config, at + 0x12),
            )
            return _numbers(now[0]), _numbers(most[0])
        at = config[at + 1] & 0xFC
    return None


def _numbers(word: int) -> Rate | None:
    speed, width = _GT_S.get(word & 0xF), word >> 4 & 0x3F
    return (speed, width) if speed and width else None


def _names(wanted: set[str], tables: Iterable[Path]) -> dict[str, str]:
    """Return names by ``8086`` and ``8086:1572``, from the first readable table."""
    for table in tables if wanted else ():
        try:
            with table.open(encoding="utf-8", errors="replace") as file:
                return _in_table(wanted, file)
        except OSError:
            continue
    return {}


def _in_table(wanted: set[str], lines: Iterable[str]) -> dict[str, str]:
    vendors = {ids.partition(":")[0] for ids in wanted}
    found: dict[str, str] = {}
    vendor = ""
    for line in lines:
        if line.startswith("C "):  # classes follow the vendors
            break
        if line.startswith(("#", "\t\t", "\n")):
            continue
        if not line.startswith("\t"):
            vendor = line[:4]
            if vendor in vendors:
                found[vendor] = line[4:].strip()
        elif vendor in vendors and (ids := f"{vendor}:{line[1:5]}") in wanted:
            found[ids] = line[5:].strip()
    return found
