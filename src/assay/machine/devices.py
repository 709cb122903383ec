"""CPUs nearest to a card, a disk, a GPU, or the disk of a file.

Interfaces: ``local_cpulist`` and ``numa_node`` of a PCI device
(``Documentation/ABI/testing/sysfs-bus-pci``), which is the parent of network cards and disks in
``/sys/devices``; ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)) for files, so that a recorded
tree gives the same answer as the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError
from assay.machine.cpulist import parse_list
from assay.machine.escapes import unescaped
from assay.machine.gpus import find_gpus
from assay.machine.root import Root

_CLASSES = ("net", "block", "infiniband", "nvme", "drm")
_PCI = re.compile(r"(?:[0-9a-f]{4,}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_MAX_DEPTH = 8
"""Maximum number of stacked block devices that are followed."""


class NearestCpus(msgspec.Struct, frozen=True):
    """CPUs nearest to ``device``, ascending, as the kernel reports them."""

    device: str
    cpus: tuple[int, ...]


class UnknownLocation(msgspec.Struct, frozen=True):
    """The location of a device is unknown, with the reason and a remedy."""

    reason: str
    remedy: str | None = None


def nearest_cpus(root: Root, name: str) -> NearestCpus | UnknownLocation:
    """Return the CPUs nearest to a device or file.

    Args:
        root: root of the machine.
        name: a network card (``eth0``), a disk or a partition (``nvme0n1``, ``/dev/sda1``), a PCI
            address (``0000:41:00.0``), a GPU (``gpu0``), or a file, with a slash in its name.
    """
    return _nearest(root, name, _MAX_DEPTH)


def _nearest(root: Root, name: str, depth: int) -> NearestCpus | UnknownLocation:
    if depth == 0:
        return UnknownLocation(f"{name} has too many layers of block devices")
    if name.startswith("/dev/") and (disk := _disk_of(root, name)):
        return _of_class(root, "block", disk, depth)
    if "/" in name:
        return _of_file(root, name, depth)
    if re.fullmatch(r"gpu\d+", name, re.ASCII):
        return _of_gpu(root, int(name[3:]))
    if _PCI.fullmatch(name.lower()):
        return _of_pci(root, name.lower())
    for kind in _CLASSES:
        if root.exists(f"/sys/class/{kind}/{name}"):
            return _of_class(root, kind, name, depth)
    return UnknownLocation(
        f"unknown network card, disk, PCI address or GPU: {name!r}",
        "See `ip link` and `lsblk`. Write a file with a slash, such as ./data.",
    )


def _disk_of(root: Root, path: str) -> str | None:
    """Return the kernel's name of a disk with the device file ``path``, or a link to it."""
    name = (root.real(path) or path).rsplit("/", 1)[-1]
    return name if root.exists(f"/sys/class/block/{name}") else None


def _of_gpu(root: Root, number: int) -> NearestCpus | UnknownLocation:
    gpus = find_gpus(root)
    if number >= len(gpus):
        available = f"available: gpu0 to gpu{len(gpus) - 1}" if gpus else "no GPU was found"
        return UnknownLocation(f"unknown GPU gpu{number}: {available}")
    return _of_pci(root, gpus[number].address)


def _of_pci(root: Root, address: str) -> NearestCpus | UnknownLocation:
    whole = address if address.count(":") > 1 else f"0000:{address}"
    place = root.real(f"/sys/bus/pci/devices/{whole}")
    if place is None:
        return UnknownLocation(f"unknown PCI device {whole}", "See `lspci -D`.")
    return _nearest_cpus(root, whole, place)


def _of_class(root: Root, kind: str, name: str, depth: int) -> NearestCpus | UnknownLocation:
    folder = f"/sys/class/{kind}/{name}"
    place = root.real(folder)
    if place is None:
        return UnknownLocation(f"{name} disappeared")
    if "/virtual/" not in place:
        return _nearest_cpus(root, name, place)
    below = _below(root, place)
    if not below:
        return UnknownLocation(f"{name} is a virtual device", "Name the underlying card or disk.")
    return _union(name, (_nearest(root, other, depth - 1) for other in below))


def _below(root: Root, place: str) -> tuple[str, ...]:
    """Return the underlying devices of a virtual disk or card."""
    slaves = root.listdir(f"{place}/slaves")
    lower = tuple(n[6:] for n in root.listdir(place) if n.startswith("lower_"))
    # Multipath: the namespace is below a subsystem, which links to its controllers.
    subsystem = place.rsplit("/", 1)[0]
    names = root.listdir(subsystem) if "/nvme-subsystem/" in place else ()
    controllers = tuple(n for n in names if re.fullmatch(r"nvme\d+", n, re.ASCII))
    backing = root.read_text(f"{place}/loop/backing_file")
    return slaves or lower or controllers or ((backing,) if backing else ())


def _union(
    name: str, parts: Iterable[NearestCpus | UnknownLocation]
) -> NearestCpus | UnknownLocation:
    cpus: set[int] = set()
    for part in parts:
        if isinstance(part, UnknownLocation):
            return UnknownLocation(f"{name}: {part.reason}", part.remedy)
        cpus.update(part.cpus)
    return NearestCpus(device=name, cpus=tuple(sorted(cpus)))


def _nearest_cpus(root: Root, name: str, place: str) -> NearestCpus | UnknownLocation:
    """Search upwards for the first directory with a location."""
    while place.startswith("/sys/devices/"):
        node = root.read_int(f"{place}/numa_node")
        listed = root.read_text(f"{place}/local_cpulist")
        if node is not None and node < 0:
            return UnknownLocation(
                f"the NUMA node of {name} is unknown (numa_node is -1)",
                "The firmware reports no location: select CPUs with cpus=LIST.",
            )
        if listed is None and node is not None:
            listed = root.read_text(f"/sys/devices/system/node/node{node}/cpulist")
        if listed:
            return _listed(name, listed)
        place = place.rsplit("/", 1)[0]
    return UnknownLocation(
        f"the kernel does not report the location of {name}",
        "Select CPUs with cpus=LIST, or name its PCI address.",
    )


def _listed(name: str, text: str) -> NearestCpus | UnknownLocation:
    try:
        return NearestCpus(device=name, cpus=parse_list(text))
    except InvalidInputError:
        return UnknownLocation(f"the CPUs near {name} cannot be read: {text!r}")


def _of_file(root: Root, path: str, depth: int) -> NearestCpus | UnknownLocation:
    # On the running host, relative to the working directory of assay, as all paths of its command
    # line.
    real = root.real(str(Path(path).absolute()) if root.live else path)
    if real is None:
        return UnknownLocation(
            f"the file {path} does not exist", "Name an existing file, or the disk itself."
        )
    mount = _mount_of(root, real)
    if mount is None:
        return UnknownLocation(f"the mount of {path} cannot be read", "Name the disk itself.")
    number, filesystem, source = mount
    disk = (root.real(f"/sys/dev/block/{number}") or "").rsplit("/", 1)[-1]
    # btrfs and others use numbers that are not disks, and name the underlying disk.
    disk = disk or (_disk_of(root, source) or "" if source.startswith("/dev/") else "")
    if not disk:
        return UnknownLocation(
            f"{path} is on {filesystem}, which has no disk", "Name a disk or a card."
        )
    return _of_class(root, "block", disk, depth)


def _mount_of(root: Root, path: str) -> tuple[str, str, str] | None:
    """Return ``MAJOR:MINOR``, file system and source of the mount of a real path."""
    best: tuple[int, tuple[str, str, str]] | None = None
    for line in (root.read_text("/proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, source_fields = before.split(), after.split()
        if len(fields) < 5 or len(source_fields) < 2:
            continue
        point = unescaped(fields[4]).rstrip("/")
        holds = path == point or path.startswith(f"{point}/")
        # Of two mounts on one directory, the later one covers the earlier.
        if holds and (best is None or len(point) >= best[0]):
            best = len(point), (fields[2], source_fields[0], unescaped(source_fields[1]))
    return best[1] if best else None
