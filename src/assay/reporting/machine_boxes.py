"""Machine boxes: parts of a machine as nested boxes, with identical neighbours combined.

As in hwloc's lstopo, a cache of one core is in the box of that core, memory is a bar across its
part, and devices are next to the nearest CPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from assay.machine.cpulist import show_list
from assay.machine.document import Machine
from assay.machine.inventory.document import Device, Inventory, Link, Part

MAX_CPUS = 48
"""Maximum number of separately drawn CPUs; on larger machines identical parts are combined."""
_MIN_COMBINED_PARTS = 3
_MIN_COMBINED_DEVICES = 3
"""Minimum number of identical neighbours that are combined."""
_HOLDERS = ("machine", "package", "group", "die")
"""Kinds of parts that contain devices."""
_FOLDED = (("core",), ("cpu",), ("cache",), ("group", "die"))
"""Kinds in the order in which they are combined, innermost first."""
_LAST_FOLDED = ("package",)
"""Kinds that are combined only if too many CPUs remain."""


@dataclass(frozen=True)
class Box:
    """One box of the drawing.

    Attributes:
        kind: ``machine``, ``package``, ``group``, ``die``, ``cache``, ``core``, ``cpu``, ``memory``
            or ``device``; determines the style.
        lines: text of the box.
        shape: all properties except numbers; equal for identical boxes.
        cpus: CPUs in the box.
        look: style of CPUs: ``usable``, ``performance``, ``efficiency`` or ``barred``.
        memory, inner, devices: boxes within it.
        times: number of identical boxes that it represents.
    """

    kind: str
    lines: tuple[str, ...]
    shape: tuple[object, ...] = ()
    cpus: tuple[int, ...] = ()
    look: str = ""
    memory: tuple[Box, ...] = ()
    inner: tuple[Box, ...] = ()
    devices: tuple[Box, ...] = ()
    times: int = 1


@dataclass
class _DeviceBoxes:
    """Boxes of devices by the CPUs of the part that contains them."""

    of: dict[tuple[int, ...], list[Box]] = field(default_factory=dict)

    def take(self, part: Part) -> list[Box]:
        """Return the devices of a part, which is the outermost one with these CPUs."""
        return self.of.pop(part.cpus, []) if part.kind in _HOLDERS else []


def machine_box(machine: Machine, inventory: Inventory, max_cpus: int = MAX_CPUS) -> Box:
    """Return the box of the whole machine.

    Args:
        machine, inventory: documents of one host.
        max_cpus: maximum number of separately drawn CPUs.
    """
    top = inventory.topology
    homes = _DeviceBoxes()
    links = {pci.address: pci.link for pci in inventory.pci}
    for device in inventory.devices:
        homes.of.setdefault(_holder_cpus(top, device), []).append(_device(device, links))
    looks = {cpu.id: cpu.kind or "usable" for cpu in machine.cpus}
    allowed = set(machine.allowed_cpus)
    box = _box(top, homes, lambda cpu: looks.get(cpu, "usable") if cpu in allowed else "barred")
    if _drawn(box) <= max_cpus:
        return box
    for kinds in _FOLDED:
        box = _folded(box, kinds)
    return box if _drawn(box) <= max_cpus else _folded(box, _LAST_FOLDED)


def _holder_cpus(top: Part, device: Device) -> tuple[int, ...]:
    """Return the CPUs of the smallest part that contains all CPUs near a device."""
    near, here = set(device.cpus), top
    while near:
        inner = (child for child in here.children if near <= set(child.cpus) and _holds(child))
        found = next(inner, None)
        if found is None:
            break
        here = found
    return here.cpus if here.kind in _HOLDERS else top.cpus


def _holds(part: Part) -> bool:
    return part.kind in _HOLDERS or any(_holds(inner) for inner in part.children)


def _box(part: Part, homes: _DeviceBoxes, look_of: Callable[[int], str]) -> Box:
    if part.kind == "cpu":
        look = look_of(part.cpus[0]) if part.cpus else "barred"
        number = str(part.id if part.id is not None else "")
        return Box("cpu", (number,), ("cpu", look), part.cpus, look)
    devices = _combined(homes.take(part), _MIN_COMBINED_DEVICES)
    chain = _chain(part)
    last = chain[-1]
    memory = tuple(box for child in chain for part_ in child.memory for box in _memory(part_))
    inner = tuple(_box(child, homes, look_of) for child in last.children)
    kind = _style(last.kind if last.kind == "core" else part.kind)
    return Box(
        kind,
        _texts(chain),
        (
            kind,
            tuple((child.kind, child.size_bytes) for child in chain),
            *(box.shape for box in (*memory, *inner, *devices)),
        ),
        part.cpus,
        memory=memory,
        inner=inner,
        devices=devices,
    )


def _chain(part: Part) -> list[Part]:
    """Return a part and the only parts within it, such as caches of one core and the core."""
    chain = [part]
    while (
        chain[-1].kind.startswith("l")
        and len(chain[-1].children) == 1
        and chain[-1].children[0].kind != "cpu"
    ):
        chain.append(chain[-1].children[0])
    return chain


def _style(kind: str) -> str:
    return "cache" if kind.startswith("l") else kind


_NAMES = {"package": "Package", "die": "Die", "group": "Group", "core": "Core"}


def _texts(chain: Sequence[Part]) -> tuple[str, ...]:
    """Return a line for each part of a chain, with caches of one level combined."""
    levels = [part.kind for part in chain]
    lines: list[str] = []
    for level, parts in groupby(chain, lambda part: part.kind.rstrip("i")):
        if not level.startswith("l"):
            lines.extend(_text(part) for part in parts)
            continue
        split = f"{level}i" in levels
        words = []
        for part in parts:
            name = level.upper() + ("i" if part.kind.endswith("i") else "d" if split else "")
            words.append(f"{name} {short_bytes(part.size_bytes)}".rstrip())
        lines.append("  ".join(words))
    return tuple(line for line in lines if line)


def _text(part: Part) -> str:
    if part.kind == "machine":
        return "Machine"
    if part.kind == "group" and part.name:
        return part.name
    return f"{_NAMES.get(part.kind, part.kind)}{'' if part.id is None else f' {part.id}'}"


def _memory(part: Part) -> list[Box]:
    if part.kind == "memcache":
        text = f"Cache before memory {short_bytes(part.size_bytes)}"
        inner = [box for child in part.memory for box in _memory(child)]
        return [Box("memory", (text,), ("memory", text)), *inner]
    kind = (part.name or "").upper() if part.name in ("dram", "hbm", "cxl", "pmem") else part.name
    words = ["Node", str(part.id), short_bytes(part.size_bytes), kind or ""]
    shape = ("memory", _about(part.size_bytes or 0), part.name)
    return [Box("memory", (" ".join(filter(None, words)),), shape)]


def _about(size_bytes: int) -> int:
    """Return a rounded size, because firmware and kernel reserve different parts of equal nodes."""
    step = max(1, 1 << max(0, size_bytes.bit_length() - 4))
    return -(-size_bytes // step) * step


_DEVICES = {"gpu": "GPU", "disk": "Disk", "network": "Net", "fabric": "Fabric"}


def _device(device: Device, links: Mapping[str, Link | None]) -> Box:
    """Return the box of a device, with its link speed if known, otherwise with its address."""
    measure = ""
    if device.size_bytes:
        measure = short_bytes(device.size_bytes)
    elif device.speed_mbit_s:
        measure = f"{device.speed_mbit_s / 1000:g} Gbit/s"
    model = (device.model or "") if device.kind == "gpu" else ""
    place, link = device.address or "", links.get(device.address or "")
    if place in links:
        place = f"PCIe {link.speed_gt_s:g} GT/s x{link.width}" if link else ""
    lines = (f"{_DEVICES[device.kind]} {device.name}", model, measure, place)
    return Box(
        "device",
        tuple(filter(None, lines)),
        ("device", device.kind, model, measure),
        look="below" if link and link.below_maximum else "",
    )


def short_bytes(size_bytes: int | None) -> str:
    """Return a size with few digits, such as ``32 KiB`` or ``1.5 GiB``; empty for none."""
    if not size_bytes:
        return ""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= factor:
            return f"{round(size_bytes / factor, 0 if size_bytes >= 100 * factor else 1):g} {unit}"
    return f"{size_bytes} B"


def _drawn(box: Box) -> int:
    """Return the number of drawn CPUs."""
    return (box.kind == "cpu") + sum(map(_drawn, box.inner))


def _folded(box: Box, kinds: Iterable[str]) -> Box:
    """Combine identical neighbours of these kinds at every level."""
    kinds = tuple(kinds)
    inner = tuple(_folded(child, kinds) for child in box.inner)
    return replace(box, inner=_combined(inner, _MIN_COMBINED_PARTS, kinds))


def _combined(
    boxes: Sequence[Box], min_count: int, kinds: Sequence[str] = ("device",)
) -> tuple[Box, ...]:
    """Combine ``min_count`` or more identical neighbours, with their number and all CPUs."""
    found: list[Box] = []
    for _, alike in groupby(boxes, lambda box: (box.shape, box.times)):
        run = list(alike)
        if len(run) < min_count or run[0].kind not in kinds:
            found.extend(run)
            continue
        cpus = tuple(sorted(cpu for box in run for cpu in box.cpus))
        times = sum(box.times for box in run)
        found.append(replace(run[0], cpus=cpus, times=times))
    return tuple(found)


def badge(box: Box) -> str:
    """Return the annotation of a box that represents several."""
    if box.times == 1:
        return ""
    cpus = f": CPUs {show_list(box.cpus)}" if box.cpus and box.kind != "cpu" else ""
    return f"\u00d7 {box.times}{cpus}"
