"""Golden machines: text and inventory of recorded machines, as they were looked at.

``ASSAY_GOLDEN=update`` writes them anew; look at the difference before committing it. They hold
what assay reads by itself: what hwloc says differs between its versions.
"""

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest

from assay.cli.machine.lines import machine_lines
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.snapshot.archive import open_snapshot
from assay.records.codec import to_builtins

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parent / "fixtures" / "hwloc"
CASES = {
    "hybrid": "20em64t-hybrid-1p6c2t+2ca4co1t",
    "server": "32em64t-2n8c+dax+nvme+mic+dimms",
    "side_caches": "memorysidecaches",
    "groups": "32amd64-4s2n4c-cgroup2",
}


@cache
def documents(name):
    with open_snapshot(RECORDED / f"{CASES[name]}.tar.bz2") as root:
        machine = read_machine(root)
        inventory = read_inventory(machine, root, env={"PATH": ""}, names=())
    lines = json.dumps(to_builtins(inventory), indent=1)
    short = re.sub(r"\{[^{}\[\]]*\}|\[[^{}\[\]]*\]", lambda m: " ".join(m[0].split()), lines)
    return {"txt": "\n".join(machine_lines(machine, inventory)) + "\n", "json": short + "\n"}


@pytest.mark.rotating
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ending", ["txt", "json"])
def test_machine_matches_golden_file(name, ending):
    found = documents(name)[ending]
    golden = HERE / f"machine_{name}.{ending}"
    if os.environ.get("ASSAY_GOLDEN") == "update":
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
