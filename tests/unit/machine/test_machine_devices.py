"""CPUs nearest to a device or file, on trees of sysfs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from assay.machine.devices import NearestCpus, UnknownLocation, nearest_cpus
from assay.machine.gpus import Gpu, find_gpus
from assay.machine.root import Root

Tree = Callable[[Mapping[str, str]], Root]

DEVICES = "/sys/devices"
CARD = f"{DEVICES}/pci0000:40/0000:40:01.0/0000:41:00.0"
DISK = f"{DEVICES}/pci0000:00/0000:00:02.0"
HIDDEN = f"{DEVICES}/pci0000:00/0000:00:03.0"
VIRTUAL = f"{DEVICES}/virtual"

MACHINE = {
    f"{CARD}/numa_node": "1\n",
    f"{CARD}/local_cpulist": "4-7,12-15\n",
    f"{CARD}/net/eth0/address": "02:00:00:00:00:01",
    "/sys/class/net/eth0": "->../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/net/eth0",
    "/sys/bus/pci/devices/0000:41:00.0": "->../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0",
    # An older kernel: a node, and no list of CPUs.
    f"{DISK}/numa_node": "0\n",
    f"{DISK}/virtio1/block/vda/size": "8",
    f"{DISK}/virtio1/block/vda/vda1/size": "8",
    "/sys/devices/system/node/node0/cpulist": "0-3,8-11\n",
    "/sys/class/block/vda": "->../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda",
    "/sys/class/block/vda1": "->../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda/vda1",
    "/sys/dev/block/252:1": "->../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda/vda1",
    f"{HIDDEN}/numa_node": "-1\n",
    f"{HIDDEN}/local_cpulist": "0-15\n",
    f"{HIDDEN}/nvme/nvme0/nvme0n1/size": "8",
    "/sys/class/block/nvme0n1": "->../../devices/pci0000:00/0000:00:03.0/nvme/nvme0/nvme0n1",
    f"{VIRTUAL}/net/bond0/address": "x",
    f"{VIRTUAL}/net/bond0/lower_eth0": "->../../../pci0000:40/0000:40:01.0/0000:41:00.0/net/eth0",
    "/sys/class/net/bond0": "->../../devices/virtual/net/bond0",
    f"{VIRTUAL}/net/lo/address": "x",
    "/sys/class/net/lo": "->../../devices/virtual/net/lo",
    f"{VIRTUAL}/block/dm-0/slaves/vda1": "->../../../../pci0000:00/0000:00:02.0/virtio1/block/vda",
    "/sys/class/block/dm-0": "->../../devices/virtual/block/dm-0",
    "/sys/dev/block/253:0": "->../../devices/virtual/block/dm-0",
    f"{VIRTUAL}/block/loop0/loop/backing_file": "/data/image\n",
    "/sys/class/block/loop0": "->../../devices/virtual/block/loop0",
    "/dev/mapper/data": "->../dm-0",
    "/dev/dm-0": "",
    "/data/image": "",
    "/data/my disk/file": "",
    "/etc/passwd": "",
    "/tmp/file": "",
    "/link": "->/data/image",
    "/proc/self/mountinfo": "\n".join(
        [
            "1 0 0:21 / / rw - overlay overlay rw",
            "2 1 252:1 / /data rw,relatime shared:1 - ext4 /dev/vda1 rw",
            "3 2 0:40 /sub /data/my\\040disk rw - btrfs /dev/mapper/data rw",
            "4 1 0:41 / /tmp rw - tmpfs tmpfs rw",
            "5 1 0:42 / /data-two rw - tmpfs tmpfs rw",
        ]
    ),
}
NODE0 = (0, 1, 2, 3, 8, 9, 10, 11)
NODE1 = (4, 5, 6, 7, 12, 13, 14, 15)


@pytest.mark.parametrize(
    ("name", "cpus"),
    [
        ("eth0", NODE1),
        ("0000:41:00.0", NODE1),
        ("41:00.0", NODE1),
        ("bond0", NODE1),
        ("vda", NODE0),
        ("vda1", NODE0),
        ("dm-0", NODE0),
        ("loop0", NODE0),
        ("/dev/mapper/data", NODE0),
        ("/data/image", NODE0),
        ("/link", NODE0),
        ("/data/my disk/file", NODE0),
    ],
)
def test_nearest_cpus_are_found(tree: Tree, name: str, cpus: tuple[int, ...]) -> None:
    found = nearest_cpus(tree(MACHINE), name)
    assert isinstance(found, NearestCpus), found
    assert found.cpus == cpus


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nvme0n1", "numa_node is -1"),
        ("lo", "is a virtual device"),
        ("eth7", "unknown network card"),
        ("gpu0", "no GPU was found"),
        ("0000:99:00.0", "unknown PCI device"),
        ("/no/such", "does not exist"),
        ("/etc/passwd", "is on overlay"),
        ("/tmp/file", "is on tmpfs"),
    ],
)
def test_unknown_location_has_reason_and_remedy(tree: Tree, name: str, told: str) -> None:
    found = nearest_cpus(tree(MACHINE), name)
    assert isinstance(found, UnknownLocation), found
    assert told in found.reason


def test_multipath_disk_has_location_of_its_controllers(tree: Tree) -> None:
    subsystem = f"{VIRTUAL}/nvme-subsystem/nvme-subsys0"
    files = {
        f"{DISK}/numa_node": "0",
        f"{DISK}/local_cpulist": "0-1",
        f"{DISK}/nvme/nvme0/model": "x",
        f"{subsystem}/nvme0n1/size": "8",
        f"{subsystem}/nvme0": "->../../../pci0000:00/0000:00:02.0/nvme/nvme0",
        "/sys/class/block/nvme0n1": "->../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1",
        "/sys/class/nvme/nvme0": "->../../devices/pci0000:00/0000:00:02.0/nvme/nvme0",
    }
    assert nearest_cpus(tree(files), "nvme0n1") == NearestCpus(device="nvme0n1", cpus=(0, 1))


def test_cyclic_disk_layers_terminate(tree: Tree) -> None:
    files = {
        f"{VIRTUAL}/block/dm-0/slaves/dm-0": "->../../dm-0",
        "/sys/class/block/dm-0": "->../../devices/virtual/block/dm-0",
    }
    found = nearest_cpus(tree(files), "dm-0")
    assert isinstance(found, UnknownLocation)
    assert "too many layers" in found.reason


GPUS = {
    "/proc/driver/nvidia/gpus/0000:C1:00.0/information": "Model: x",
    "/proc/driver/nvidia/gpus/0000:41:00.0/information": "Model: x",
    f"{CARD}/local_cpulist": "0-3",
    f"{CARD}/driver": "->../../../../bus/pci/drivers/nvidia",
    "/sys/bus/pci/drivers/nvidia/bind": "",
    "/sys/bus/pci/drivers/amdgpu/bind": "",
    "/sys/bus/pci/devices/0000:41:00.0": "->../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0",
    "/sys/class/drm/card1/device": "->../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0",
    f"{DISK}/driver": "->../../../bus/pci/drivers/amdgpu",
    "/sys/class/drm/card0/device": "->../../../devices/pci0000:00/0000:00:02.0",
    "/sys/class/drm/card0-DP-1/status": "connected",
}


def test_gpus_are_numbered_by_vendor_and_address(tree: Tree) -> None:
    root = tree(GPUS)
    assert find_gpus(root) == (
        Gpu("amd", 0, "0000:00:02.0"),
        Gpu("nvidia", 0, "0000:41:00.0"),
        Gpu("nvidia", 1, "0000:c1:00.0"),
    )
    assert nearest_cpus(root, "gpu1") == NearestCpus(device="0000:41:00.0", cpus=(0, 1, 2, 3))


def test_recorded_machine_lists_gpus(recorded: Callable[[str], Root]) -> None:
    gpus = find_gpus(recorded("nvidiagpunumanodes"))
    assert gpus
    assert {gpu.vendor for gpu in gpus} == {"nvidia"}
    assert [gpu.index for gpu in gpus] == list(range(len(gpus)))
