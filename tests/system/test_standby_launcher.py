"""Standby launcher processes for the next launch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import leaves
from launching import wait_until
from marks import MARK, end_marked, marked

from assay.launch.driver import Driver
from assay.records import RunFacts

pytestmark = pytest.mark.system


@pytest.fixture
def driver(assay_exec: Path) -> Iterator[Driver]:
    """Return a driver with standby launchers; all its processes are marked."""
    before = leaves()
    mark = uuid.uuid4().hex
    driver = Driver(assay_exec, {**os.environ, MARK: mark})
    driver.start_standby()
    yield driver
    driver.close()
    assert not marked(mark)
    assert leaves() == before
    end_marked(mark)


def launch(driver: Driver, *argv: str, **keys: Any) -> RunFacts:
    document = {"schema": 2, "argv": argv, "parent_pid": os.getpid(), **keys}
    with driver.start(document) as running:
        assert running.finished(20.0)
        return running.facts()


def standing_by(driver: Driver) -> set[int]:
    """Return the spawner and its standby launcher, once that waits for its launch."""
    mark = driver.env[MARK]
    wait_until(lambda: len(marked(mark)) == 2, "a standby launcher waits")
    return set(marked(mark))


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_launch_uses_standby_launcher(driver: Driver) -> None:
    for _ in range(3):
        ready = standing_by(driver)
        with driver.start({"schema": 2, "argv": ["sh", "-c", "exit 7"]}) as running:
            assert running.pid in ready
            assert parent(running.pid) == os.getpid()
            assert running.finished(20.0)
            assert running.facts().exit_status == 7


def test_standby_launcher_preserves_program_environment(assay_exec: Path, driver: Driver) -> None:
    """Prints descriptors, signals, limits, session and groups."""
    script = "ls /proc/self/fd; grep -E 'Sig[^Q]|Shd|Sec' /proc/self/status; ulimit -a; umask; pwd"
    seen = [
        subprocess.run(
            [sys.executable, "-c", PLAIN, str(assay_exec), how, script],
            capture_output=True,
            env=driver.env,
            check=True,
        ).stdout
        for how in ("ahead", "at once")
    ]
    assert seen[0] == seen[1] != b""


PLAIN = """
import os, sys
from pathlib import Path
from assay.launch.driver import Driver
driver = Driver(Path(sys.argv[1]), os.environ)
if sys.argv[2] == "ahead":
    driver.start_standby()
with driver.start({"schema": 2, "argv": ["sh", "-c", sys.argv[3]]}) as running:
    running.finished(20.0)
    running.facts()
driver.close()
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_signals_to_standby_launcher_end_neither_it_nor_its_launch(
    driver: Driver, number: int
) -> None:
    for pid in standing_by(driver):
        os.kill(pid, number)
    assert launch(driver, "true").outcome == "exited"
    assert launch(driver, "true").outcome == "exited"


def test_killed_standby_launcher_is_replaced(driver: Driver) -> None:
    (front,) = standing_by(driver) - {maker(driver)}
    kill(front)
    assert launch(driver, "true").outcome == "exited"


def maker(driver: Driver) -> int:
    """Return the process that leads its own process group."""
    (found,) = (pid for pid in standing_by(driver) if os.getpgid(pid) == pid)
    return found


def kill(pid: int) -> None:
    """Kill it and wait for its end: a launch given to it before would be lost."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: state(pid) in (None, "Z"), "it has ended")


def state(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def test_launches_continue_without_spawner(driver: Driver) -> None:
    kill(maker(driver))
    for _ in range(3):
        assert launch(driver, "true").outcome == "exited"


@pytest.mark.rotating
def test_stopped_standby_launcher_continues(driver: Driver) -> None:
    for pid in standing_by(driver):
        os.kill(pid, signal.SIGSTOP)
    for _ in range(3):
        assert launch(driver, "true").outcome == "exited"
    for pid in standing_by(driver):
        os.kill(pid, signal.SIGSTOP)


@pytest.mark.parametrize(
    ("keys", "outcome"),
    [
        ({"limits": {"pids": 50}}, "exited"),
        ({"limits": {"memory_bytes": 1 << 28}}, "exited"),
        ({"containment": "none"}, "exited"),
        ({"cgroup_name": "assay-ahead-own"}, "exited"),
        ({"no_such_key": 1}, "bad_plan"),
        ({"stdin": "/no/such/file"}, "setup_failed"),
        ({"parent_pid": 1}, "interrupted"),
    ],
    ids=str,
)
def test_other_groups_or_missing_program_bypass_standby(
    driver: Driver, keys: dict[str, Any], outcome: str
) -> None:
    """Its standby control group is removed (see the fixture)."""
    standing_by(driver)
    facts = launch(driver, "true", **keys)
    assert facts.outcome == outcome
    if keys.get("containment") == "none":
        assert facts.containment.mode == "none"


def test_killed_caller_leaves_no_process(assay_exec: Path) -> None:
    before = leaves()
    mark = uuid.uuid4().hex
    script = f"""
import os, sys, time
from pathlib import Path
from assay.launch.driver import Driver
driver = Driver(Path({str(assay_exec)!r}), os.environ)
driver.start_standby()
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, MARK: mark}
    ) as process:
        wait_until(lambda: len(marked(mark)) == 3, "a standby launcher waits")
        process.kill()
    wait_until(lambda: not marked(mark), "all have ended")
    assert leaves() == before
