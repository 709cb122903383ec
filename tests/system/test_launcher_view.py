"""assay-exec with a view of the program's own CPUs in /proc and /sys."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import uuid
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher, Record, processes_with, wait_until

CPUS = sorted(os.sched_getaffinity(0))
NOBODY = 65534
root_only = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv"
)
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
USER = (f"--regid={NOBODY}", "--clear-groups")
WAYS = {
    "root": (),
    "nobody": ("setpriv", f"--reuid={NOBODY}", *USER),
    "for nobody": ("setpriv", "--ruid", str(NOBODY), *USER),
}
SYSTEM = Path("/sys/devices/system")
FILES = ("online", "present", "possible")
Seen = dict[str, list[str]]


UMASK = ("sh", "-c", 'umask 077; exec "$@"', "sh")


def look(
    launcher: Launcher, programs: Path, way: str = "root", before: tuple[str, ...] = (), **keys: Any
) -> tuple[Seen, Record]:
    """Return the files that the program saw, and the record."""
    plan = launcher.plan([programs / "shown"], **keys)
    if way != "root":
        plan = {k: v for k, v in plan.items() if k != "cgroup_name"} | {"containment": "none"}
    record, done = launcher.run_plan(plan, prefix=(*before, *WAYS[way]), cwd="/")
    if (record["outcome"], record.get("errno")) == ("setup_failed", errno.EPERM):
        pytest.skip(record["message"])  # this host refuses namespaces
    assert record["outcome"] == "exited", record
    saw: Seen = {}
    for line in done.stdout.decode().splitlines():
        name, _, value = line.partition(" ")
        saw.setdefault(name, []).append(value.strip())
    return saw, record


def host() -> dict[str, str]:
    """Return the content of the files on this host, and the mounts in a view."""
    paths = [SYSTEM / "cpu" / name for name in (*FILES, "offline")]
    found = {str(path): path.read_text() for path in paths}
    found["nodes"] = (SYSTEM / "node/online").read_text()
    # Other tests mount their own disks elsewhere at the same time.
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    found["mounts"] = "\n".join(
        one for one in lines if re.match("/(sys|proc)(/|$)", one.split()[4])
    )
    found["cpuinfo"] = re.sub(r"cpu MHz.*", "", Path("/proc/cpuinfo").read_text())
    return found


def numbers(text: str) -> list[int]:
    """Return the CPUs of a list in the kernel's format."""
    ends = [part.split("-") for part in text.strip().split(",") if part]
    return [n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)]


def nodes_of(cpus: list[int]) -> list[int]:
    """Return the nodes with some of these CPUs, and those without CPUs."""
    lists = {n: SYSTEM / f"node/node{n}/cpulist" for n in numbers(host()["nodes"])}
    found = {n: numbers(path.read_text()) for n, path in lists.items()}
    return [n for n, own in found.items() if not own or set(own) & set(cpus)]


@root_only
@pytest.mark.parametrize("way", WAYS)
def test_view_is_readable_with_any_umask(launcher: Launcher, programs: Path, way: str) -> None:
    saw, _ = look(launcher, programs, way, UMASK, affinity=CPUS[:1], view="own", cwd="/tmp")
    assert numbers(saw["online"][0]) == CPUS[:1]
    assert len(saw["cpuinfo"]) == 1


@root_only
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cpus", [CPUS[:1], CPUS[-1:], CPUS], ids=str)
def test_view_shows_only_own_cpus(
    launcher: Launcher, programs: Path, way: str, cpus: list[int]
) -> None:
    before = host()
    saw, record = look(launcher, programs, way, affinity=cpus, view="own", cwd="/tmp")
    assert [int(line.split()[-1]) for line in saw["cpuinfo"]] == cpus
    assert saw["configured"] == [f"{len(cpus)}"]
    assert saw["online"] == saw["present"] == saw["possible"]
    assert numbers(saw["online"][0]) == cpus
    assert saw["offline"] == [""]
    assert numbers(saw["nodes"][0]) == nodes_of(cpus)
    assert {"step": "view", "ok": True} in record["applied"]
    assert host() == before


@root_only
@pytest.mark.parametrize("way", WAYS)
def test_view_changes_no_other_file(launcher: Launcher, programs: Path, way: str) -> None:
    plain, _ = look(launcher, programs, way, cwd="/usr")
    saw, _ = look(launcher, programs, way, view="own", cwd="/usr")
    # The temporary mounts over /sys/kernel are removed.
    for name in ("ids", "rights", "dies_with_parent", "folder", "entries"):
        assert saw[name] == plain[name], name
    assert plain["dies_with_parent"] == [f"{int(signal.SIGKILL)}"]
    whole, record = look(launcher, programs, way, view="machine", cwd="/usr")
    assert whole == plain
    assert [step["step"] for step in record["applied"]] == ["cwd"]


@two_cpus
@pytest.mark.parametrize("way", ["root", pytest.param("nobody", marks=root_only)])
def test_view_is_read_back_and_invisible_on_host(launcher: Launcher, way: str) -> None:
    before = host()
    keys = {"affinity": CPUS[-1:], "view": "own", "readback": ["status", "environ"]}
    token = f"token-{uuid.uuid4().hex}"
    plan = launcher.plan(["sh", "-c", "sleep 0.5; true", token], **keys)
    if way != "root":
        plan = {k: v for k, v in plan.items() if k != "cgroup_name"} | {"containment": "none"}
    started = launcher.start(plan, prefix=WAYS[way], cwd="/")
    wait_until(lambda: shows_its_own(token), "the program runs")
    assert host() == before
    record, _ = launcher.finish(started)
    assert record["readback"]["visible_cpus"] == record["readback"]["cpus"] == CPUS[-1:]
    assert host() == before
    assert "visible_cpus" not in launcher.run(["sleep", "0.1"], readback=["status"])["readback"]


def shows_its_own(token: str) -> bool:
    """Return whether the process with that argument has executed, with its own mounts."""
    found = processes_with(token)
    return bool(found) and " - tmpfs assay " in Path(f"/proc/{found[0]}/mountinfo").read_text()


@two_cpus
def test_each_instance_has_own_view(launcher: Launcher, tmp_path: Path) -> None:
    instances = [
        {"affinity": [cpu], "stdout": str(tmp_path / f"{cpu}")} for cpu in (CPUS[0], CPUS[-1])
    ]
    online = str(SYSTEM / "cpu/online")
    record = launcher.run(["cat", online], instances=instances, view="own")
    assert record["outcome"] == "exited"
    for cpu in (CPUS[0], CPUS[-1]):
        assert (tmp_path / str(cpu)).read_text() == f"{cpu}\n"


def test_view_without_mask_shows_cpus_of_launcher(launcher: Launcher) -> None:
    text = launcher.output(["cat", str(SYSTEM / "cpu/online")], view="own")
    assert numbers(text) == CPUS


def test_limits_are_applied_after_view(launcher: Launcher) -> None:
    limits = [{"resource": "fsize", "soft": 0, "hard": 0}]
    record = launcher.run(["true"], view="own", rlimits=limits)
    assert [step["step"] for step in record["applied"]] == ["view", "rlimits.fsize"]
    assert record["outcome"] == "exited"


@root_only
def test_refused_namespace_fails_setup(launcher: Launcher) -> None:
    """Root of a user namespace that may have no further ones, with all rights given up."""
    forbid = (
        "echo 0 > /proc/sys/user/max_user_namespaces && "
        'exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
    )
    prefix = ("unshare", "--map-root-user", "sh", "-c", forbid, "sh")
    plan = launcher.plan(["true"], view="own") | {"containment": "none"}
    plan.pop("cgroup_name", None)
    record, _ = launcher.run_plan(plan, prefix=prefix)
    assert (record["outcome"], record["stage"]) == ("setup_failed", "view")
    assert "user.max_user_namespaces" in record["message"]


@root_only
def test_process_namespace_keeps_no_process_alive(launcher: Launcher) -> None:
    token = f"token-{uuid.uuid4().hex}"
    command = ["sh", "-c", "sleep 60 & sleep 60; true", token]
    plan = launcher.plan(command, view="own", timeout_s=0.3) | {"containment": "none"}
    plan.pop("cgroup_name", None)
    record, _ = launcher.run_plan(plan, prefix=WAYS["nobody"], cwd="/")
    if record["outcome"] == "setup_failed":
        pytest.skip(record["message"])
    assert (record["outcome"], record["containment"].get("surviving_processes", 0)) == (
        "timed_out",
        0,
    )
    assert processes_with(token) == []
