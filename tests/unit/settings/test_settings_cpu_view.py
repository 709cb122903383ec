"""``view``: planning, judgement and script."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.machine.document import Machine, Rights
from assay.records import (
    Affinity,
    Configuration,
    GrantStatus,
    Launch,
    Level,
    Plan,
    Prospect,
    ReadBack,
    RestrictedCpuView,
    Rlimit,
    Stage,
    Value,
    Workload,
)
from assay.records.facts import AppliedStep
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
TOOK = (AppliedStep(step="view", ok=True),)
KEPT_BACK = "/proc/sys/user/max_user_namespaces is 0"


def planned(given: dict[str, Value], host: Machine | None = None) -> Plan:
    return plan(Configuration(given), host or machine(cores=4), REGISTRY)


@pytest.mark.parametrize(("value", "key"), [("machine", None), ("own", "own")])
def test_planned(value: str, key: str | None) -> None:
    made = planned({"view": value})
    assert made.settings["view"].status is Prospect.GRANTABLE
    assert made.actions == ((RestrictedCpuView(),) if key else ())
    launch = Launch(
        configuration=made.configuration, arm="x", stage=Stage.SEARCH, block=0, position=0
    )
    document = launcher_document(made, Workload(argv=("prog",)), launch, env={})
    assert document.get("view") == key


def test_view_is_set_after_affinity_and_before_limits() -> None:
    made = planned({"view": "own", "cpus": 1, "limit.fsize": 0})
    assert [type(action) for action in made.actions] == [Affinity, RestrictedCpuView, Rlimit]


@pytest.mark.parametrize(
    ("value", "rights", "told"),
    [
        ("all", Rights(uid=0), "machine,own"),
        ("own", Rights(uid=1, user_namespaces_unavailable=KEPT_BACK), KEPT_BACK),
    ],
)
def test_refused(value: str, rights: Rights, told: str) -> None:
    word = planned({"view": value}, machine(rights=rights)).settings["view"]
    assert word.status is Prospect.REFUSED and told in (word.reason or "")


def test_root_needs_no_user_namespace() -> None:
    rights = Rights(
        uid=0, capabilities=frozenset(["CAP_SYS_ADMIN"]), user_namespaces_unavailable=KEPT_BACK
    )
    assert not planned({"view": "own"}, machine(rights=rights)).refused


@pytest.mark.parametrize(
    ("given", "shown", "grant"),
    [
        ({"view": "own"}, (0, 1, 2, 3), GrantStatus.GRANTED),
        ({"view": "own"}, None, GrantStatus.UNVERIFIED),
        ({"view": "own", "cpus": "1,3"}, (1, 3), GrantStatus.GRANTED),
        ({"view": "own", "cpus": "1,3"}, (0, 1, 2, 3), GrantStatus.REFUSED),
        ({"view": "own", "instances": 2}, (2, 3), GrantStatus.GRANTED),
        ({"view": "own", "instances": 2}, (0, 1, 2, 3), GrantStatus.REFUSED),
    ],
)
def test_judged(given: dict[str, Value], shown: tuple[int, ...] | None, grant: GrantStatus) -> None:
    made = planned(given)
    assert not made.refused
    # The program may have restricted itself to one of its CPUs since.
    seen = ReadBack(cpus=shown and shown[:1], visible_cpus=shown)
    got = judge_all(Configuration(given), REGISTRY, made, facts(seen, applied=TOOK))["view"]
    assert got.status is grant
    assert got.level is (Level.SET if grant is GrantStatus.UNVERIFIED else Level.SEEN)


def test_refused_namespace_is_refused() -> None:
    lost = (AppliedStep(step="view", ok=False, errno=1),)
    config = Configuration({"view": "own"})
    got = judge_all(config, REGISTRY, planned(config), facts(None, applied=lost))["view"]
    assert got.status is GrantStatus.REFUSED
    config = Configuration({"view": "machine"})
    got = judge_all(config, REGISTRY, planned(config), facts(None))["view"]
    assert got.status is GrantStatus.GRANTED


COUNT = r"""
import os, re
files = [open(f"/sys/devices/system/cpu/{name}").read() for name in ("online", "present")]
numbers = re.findall(r"^processor\s*: (\d+)", open("/proc/cpuinfo").read(), re.M)
print(*(text.strip() for text in files), *numbers)
rights = re.search(r"CapEff:\s*(\w+)", open("/proc/self/status").read())[1]
print(os.getuid() == 0 or int(rights, 16) == 0, bool(os.listdir("/sys/kernel")))
"""
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.mark.parametrize("user", [(), AS_NOBODY], ids=["self", "nobody"])
def test_script_creates_same_view(user: tuple[str, ...]) -> None:
    if user and (os.geteuid() != 0 or not shutil.which("setpriv")):
        pytest.skip("needs root, and setpriv")
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python or not shutil.which("unshare"):
        pytest.skip("needs a python3 that everybody may run, and unshare")
    cpu = min(os.sched_getaffinity(0))
    made = plan(Configuration({"view": "own"}), machine(), REGISTRY)
    script = shell_script(made, Workload(argv=(python, "-c", COUNT)))
    done = subprocess.run(
        [*user, "sh", "-c", f"taskset -cp {cpu} $$ > /dev/null\n{script}"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    if done.stderr.startswith("unshare"):
        pytest.skip(done.stderr)  # this host disables namespaces
    assert done.stdout.splitlines() == [f"{cpu} {cpu} {cpu}", "True True"], done
