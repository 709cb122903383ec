"""assay-exec's view of the program's own CPUs, on a machine with several nodes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from .batch import LAUNCH, Batch, run_batch
from .guest import Guest, Node

pytestmark = [pytest.mark.vm, pytest.mark.rotating("small guests", together="view")]

CPU = "/sys/devices/system/cpu"
SHOWN = (
    f"cat {CPU}/online {CPU}/present {CPU}/possible /sys/devices/system/node/online; "
    "grep ^processor /proc/cpuinfo | cut -d : -f 2 | xargs; ls /sys/kernel | wc -l; mount"
)
SHOW: dict[str, Any] = {"argv": ["sh", "-c", SHOWN], "stdout": "/out/shown"}
PLANS: dict[str, dict[str, Any]] = {
    "machine": SHOW,
    "second": SHOW | {"affinity": [2, 3], "view": "own"},
    "both": SHOW | {"affinity": [0, 3], "view": "own"},
    "all": SHOW | {"view": "own"},
}
SCRIPTS = {
    "user": "chmod 777 /out; su user -s /bin/sh -c " + shlex.quote(LAUNCH.format("both")),
    "after": f"sh -c {shlex.quote(SHOWN)} > /out/shown",
}
FILES = {
    "/etc/passwd": b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n",
    "/etc/group": b"root:x:0:\nuser:x:1000:\n",
}


@pytest.fixture(scope="module")
def batch(guest_kernel: Path, assay_exec: Path) -> Batch:
    nodes = [Node(192, "0-1"), Node(192, "2-3"), Node(64)]
    guest = Guest(kernel=guest_kernel, cpus="4,sockets=2,cores=2,threads=1", nodes=nodes)
    return run_batch(guest, {**FILES, "/bin/assay-exec": assay_exec}, PLANS, SCRIPTS)


@pytest.mark.parametrize(
    ("name", "cpus", "nodes", "processors"),
    [
        ("machine", "0-3", "0-2", "0 1 2 3"),
        ("second", "2-3", "1-2", "2 3"),  # the third node has memory alone
        ("both", "0,3", "0-2", "0 3"),
        ("user", "0,3", "0-2", "0 3"),
        ("all", "0-3", "0-2", "0 1 2 3"),
        ("after", "0-3", "0-2", "0 1 2 3"),
    ],
)
def test_view_shows_cpus_and_nodes(
    batch: Batch, name: str, cpus: str, nodes: str, processors: str
) -> None:
    if name != "after":
        assert batch.record(name)["outcome"] == "exited"
    shown = batch.text(name, "/out/shown").splitlines()
    assert shown[:5] == [cpus, cpus, cpus, nodes, processors]


def test_view_leaves_machine_unchanged(batch: Batch) -> None:
    def rest(name: str) -> list[str]:
        return batch.text(name, "/out/shown").splitlines()[5:]

    assert rest("after") == rest("machine")
    assert sum(line.startswith("assay on ") for line in rest("second")) == 6
