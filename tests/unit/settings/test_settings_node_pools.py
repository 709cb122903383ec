"""Pools of huge pages over several nodes, restored per node."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.host.changes import HostChanges
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.launch.planner import plan
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import Configuration
from assay.settings.registry import builtin
from assay.testing.recorded_host import Effect, RecordedHost

POOL = "hugepages-2048kB/nr_hugepages"
ALL = f"/sys/kernel/mm/hugepages/{POOL}"
USUAL = "/proc/sys/vm/nr_hugepages"
NODES = tuple(f"/sys/devices/system/node/node{n}/hugepages/{POOL}" for n in range(2))
FILES = {
    "/proc/sys/kernel/random/boot_id": "one",
    "/proc/self/status": "Uid:\t0\t0\t0\t0",
    "/sys/devices/system/cpu/online": "0-1",
    "/sys/devices/system/node/online": "0-1",
    ALL: "3",
    USUAL: "3",
    NODES[0]: "0",
    NODES[1]: "3",
}


def _spread(host: RecordedHost, path: str, text: str) -> str:
    """Distribute pages like the kernel: over both nodes, and take them back in turn."""
    total = int(text)
    _hold(host, total - total // 2, total // 2)
    return text


def _of_one(host: RecordedHost, path: str, text: str) -> str:
    pages = {other: int(host.read(other) or 0) for other in NODES} | {path: int(text)}
    _hold(host, *pages.values())
    return text


def _hold(host: RecordedHost, *pages: int) -> None:
    for path, count in zip(NODES, pages, strict=True):
        host.put(path, str(count))
    for path in (ALL, USUAL):
        host.put(path, str(sum(pages)))


EFFECTS: dict[str, Effect] = {ALL: _spread, USUAL: _spread, **dict.fromkeys(NODES, _of_one)}


@pytest.mark.parametrize("name", ["vm.hugepages", "vm.hugepages.2m"])
def test_pools_of_nodes_are_granted_and_restored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in FILES.items():
        place = tmp_path / "root" / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")
    host = RecordedHost(tmp_path / "root", EFFECTS)
    planned = plan(Configuration({name: 8}), read_machine(Root(host.base)), builtin())
    assert not planned.refused
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        changes.hold(planned.system)
        assert [host.read(path) for path in NODES] == ["4", "4"]
        assert {word.fate for word in changes.restore()} == {"undone"}
    assert {path: host.read(path) for path in (ALL, USUAL, *NODES)} == {
        path: FILES[path] for path in (ALL, USUAL, *NODES)
    }
