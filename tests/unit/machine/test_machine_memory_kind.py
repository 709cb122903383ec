"""Kind of the memory of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from assay.machine.memory_kind import memory_kinds
from assay.machine.root import Root

Tree = Callable[[Mapping[str, str]], Root]

NODE = "/sys/devices/system/node"
TIER = "/sys/devices/virtual/memory_tiering/memory_tier"
CPUS = {0: (0, 1), 1: (2, 3), 2: ()}
CXL = "/sys/devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0"
PMEM = "/sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region0/dax0.0/dax0.0"


def bandwidth(node: int, mb_s: int, access: str = "access0") -> dict[str, str]:
    return {f"{NODE}/node{node}/{access}/initiators/read_bandwidth": f"{mb_s}\n"}


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, None),
        ({**bandwidth(0, 200000), **bandwidth(2, 800000)}, "hbm"),
        ({**bandwidth(0, 200000), **bandwidth(1, 210000), **bandwidth(2, 205000)}, "cxl"),
        ({**bandwidth(2, 800000)}, None),
        ({**bandwidth(0, 200000), **bandwidth(2, 9, "access0"), **bandwidth(2, 10**6, "access1")},
         "hbm"),
        ({f"{TIER}4/nodelist": "0-1", f"{TIER}961/nodelist": "2"}, "cxl"),
        ({f"{TIER}4/nodelist": "0-1", f"{TIER}2/nodelist": "2"}, "hbm"),
        ({f"{TIER}4/nodelist": "0-2"}, None),
        ({f"{CXL}/target_node": "2", "/sys/bus/dax/devices/dax0.0": f"->{CXL}",
          **bandwidth(0, 1), **bandwidth(2, 2)}, "cxl"),
        ({f"{PMEM}/target_node": "2", "/sys/bus/dax/devices/dax0.0": f"->{PMEM}"}, "pmem"),
        ({f"{CXL}/target_node": "-1", "/sys/bus/dax/devices/dax0.0": f"->{CXL}"}, None),
    ],
)  # fmt: skip
def test_kind(tree: Tree, files: dict[str, str], kind: str | None) -> None:
    expected = {0: "dram", 1: "dram"} | ({2: kind} if kind else {})
    assert memory_kinds(tree({"/proc/version": "", **files}), CPUS) == expected
