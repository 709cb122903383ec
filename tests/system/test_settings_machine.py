"""Memory, placement, real-time and I/O classes, limits: real launches, judged by the record."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import pytest

from assay.launch.document import launcher_document
from assay.launch.driver import Driver
from assay.launch.planner import plan
from assay.machine.devices import NearestCpus, nearest_cpus
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import LIVE
from assay.records import (
    Configuration,
    Grant,
    GrantStatus,
    Launch,
    Level,
    RunFacts,
    Stage,
    Value,
    Workload,
)
from assay.settings.registry import builtin, judge_all

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

REGISTRY = builtin()
FILL = "import time; block = bytearray(1 << 24); time.sleep(0.4)"
HOG = """
import os
for _ in os.sched_getaffinity(0):
    if os.fork() == 0:
        break
while True:
    pass
"""


@pytest.fixture(scope="module")
def host() -> Machine:
    return read_machine()


def launched(
    launcher: Path, folder: Path, host: Machine, given: dict[str, Value], code: str, cap_s: float
) -> tuple[dict[str, Grant], RunFacts]:
    config = Configuration(given)
    made = plan(config, host, REGISTRY)
    if made.refused:
        pytest.skip(str({name: made.settings[name].reason for name in made.refused}))
    launch = Launch(
        configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0, timeout_s=cap_s
    )
    document = launcher_document(
        made,
        Workload(argv=(sys.executable, "-c", code)),
        launch,
        env=os.environ,
        stdout=str(folder / "out"),
        stderr=str(folder / "err"),
    )
    with Driver(launcher, dict(os.environ)).start(document) as running:
        assert running.finished(30)
        facts = running.facts()
    return judge_all(config, REGISTRY, made, facts), facts


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({"mem.policy": "local"}, Level.SEEN),
        ({"mem.policy": "bind:all"}, Level.SEEN),
        ({"mem.policy": "preferred:0"}, Level.SEEN),
        ({"mem.policy": "interleave:all"}, Level.SEEN),
        ({"mem.policy": "weighted:all"}, Level.SEEN),
        ({"mem.policy": "bind:dram"}, Level.SEEN),
        ({"sched": "fifo:5"}, Level.SEEN),
        ({"sched": "rr:5"}, Level.SEEN),
        ({"sched": "deadline:2ms/50ms"}, Level.SEEN),
        ({"io.class": "idle"}, Level.SET),
        ({"io.class": "best-effort:2"}, Level.SET),
        ({"io.class": "realtime:7"}, Level.SET),
        ({"limit.stack": "4M"}, Level.SET),
        ({"view": "machine"}, Level.SET),
        ({"view": "own"}, Level.SEEN),
        ({"view": "own", "cpus": 1}, Level.SEEN),
        ({"affinity.calls": "allowed"}, Level.SET),
        ({"affinity.calls": "ignored"}, Level.SEEN),
        ({"affinity.calls": "refused"}, Level.SEEN),
    ],
)
def test_each_setting_is_granted(
    assay_exec: Path, tmp_path: Path, host: Machine, given: dict[str, Value], level: Level
) -> None:
    grants, facts = launched(assay_exec, tmp_path, host, given, FILL, 20)
    assert facts.outcome == "exited", facts
    assert {(g.status, g.level) for g in grants.values()} == {(GrantStatus.GRANTED, level)}, grants


def test_limit_is_applied(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    launched(assay_exec, tmp_path, host, {"limit.nofile": 77}, code, 20)
    assert (tmp_path / "out").read_text() == f"(77, {hard})\n"


def test_device_affinity_selects_local_cpus(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    names = (*LIVE.listdir("/sys/class/net"), *LIVE.listdir("/sys/class/block"))
    placed = [name for name in names if isinstance(nearest_cpus(LIVE, name), NearestCpus)]
    if not placed:
        pytest.skip("nothing here says where it is")
    given: dict[str, Value] = {"placement": f"near:{placed[0]}"}
    grants, facts = launched(assay_exec, tmp_path, host, given, FILL, 20)
    assert grants["placement"].status is GrantStatus.GRANTED
    assert facts.readback is not None
    near = nearest_cpus(LIVE, placed[0])
    assert isinstance(near, NearestCpus)
    assert set(facts.readback.cpus or ()) <= set(near.cpus) & set(host.allowed_cpus)


def test_file_affinity_follows_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mount table is compared with ``stat``."""
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    assert "does not exist" not in str(nearest_cpus(LIVE, "./file"))
    assert "does not exist" in str(nearest_cpus(LIVE, "./other"))
    device = (tmp_path / "file").stat().st_dev
    disk = LIVE.real(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if disk is None:
        pytest.skip("the file lies on no disk")
    assert nearest_cpus(LIVE, str(tmp_path / "file")) == nearest_cpus(LIVE, disk.rsplit("/", 1)[-1])


def test_real_time_program_on_every_cpu_is_ended(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    """Through the plan: its scheduling class is granted, and its time limit ends it."""
    grants, facts = launched(assay_exec, tmp_path, host, {"sched": "fifo:30"}, HOG, 1.0)
    assert facts.outcome == "timed_out"
    assert facts.containment.surviving_processes == 0
    assert grants["sched"].status is GrantStatus.GRANTED, "it was read while nothing else could run"
