"""GPUs of a machine, by their drivers.

Interfaces: ``/proc/driver/nvidia/gpus`` (NVIDIA's own driver, one directory per PCI address) and
``/sys/class/drm/cardN/device`` for ``amdgpu``, ``i915`` and ``xe``. Tested only with recorded and
generated trees, not on a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from assay.machine.root import Root

_NVIDIA = "/proc/driver/nvidia/gpus"
_DRM = "/sys/class/drm"
_DRIVERS = {"nvidia": "nvidia", "amdgpu": "amd", "i915": "intel", "xe": "intel"}


class Gpu(msgspec.Struct, frozen=True):
    """A GPU.

    Attributes:
        vendor: ``nvidia``, ``amd`` or ``intel``.
        index: its number among the GPUs of its vendor, in the order of PCI addresses.
        address: PCI address such as ``0000:41:00.0``, in lower case.
    """

    vendor: str
    index: int
    address: str


def find_gpus(root: Root) -> tuple[Gpu, ...]:
    """Return all GPUs, grouped by vendor, each group in the order of addresses."""
    found = {(name.lower(), "nvidia") for name in root.listdir(_NVIDIA)} | _drm(root)
    numbered: list[Gpu] = []
    for address, vendor in sorted(found, key=lambda gpu: (gpu[1], gpu[0])):
        index = sum(gpu.vendor == vendor for gpu in numbered)
        numbered.append(Gpu(vendor=vendor, index=index, address=address))
    return tuple(numbered)


def ambiguity(gpus: Iterable[Gpu]) -> str | None:
    """Return why numbers alone are ambiguous; ``None`` if they are not."""
    vendors = sorted({gpu.vendor for gpu in gpus})
    if len(vendors) < 2:
        return None
    return f"the machine has GPUs of {' and '.join(vendors)}, which are numbered separately"


def _drm(root: Root) -> set[tuple[str, str]]:
    found = set()
    for name in root.listdir(_DRM):
        if not re.fullmatch(r"card\d+", name, re.ASCII):
            continue
        driver = (root.real(f"{_DRM}/{name}/device/driver") or "").rsplit("/", 1)[-1]
        device = root.real(f"{_DRM}/{name}/device")
        if device is not None and driver in _DRIVERS:
            found.add((device.rsplit("/", 1)[-1].lower(), _DRIVERS[driver]))
    return found
