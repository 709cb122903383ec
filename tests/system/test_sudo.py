"""assay started by sudo: root helps a user, whose programs, files and studies remain the user's.

The tests set the variables and the user ids that real sudo sets.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, leaves
from launching import Launcher, wait_until
from partitions import CPUS, V1, partition, run_folder

from assay.host.journal import STATE_VARIABLE
from assay.launch.driver import Driver
from assay.root_helper.caller import Caller
from assay.root_helper.helper import RootHelper

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.geteuid() != 0, reason="sudo starts assay as root"),
]

NOBODY = 65534
INTERVAL = Path("/proc/sys/vm/stat_interval")
AS_NOBODY = ("setpriv", "--ruid", str(NOBODY), "--rgid", str(NOBODY), "--egid", str(NOBODY))
"""Unprivileged real user, effective user root, as in launchers of the root helper."""


def reachable() -> tuple[str, ...]:
    """Return a command prefix that makes this interpreter accessible to every user.

    The interpreter may lie in root's own folder, which is replaced by one with nothing else in it.
    """
    home = Path(sys.base_prefix)
    closed = [path for path in reversed(home.parents) if not path.stat().st_mode & 0o001]
    if not closed:
        return ()
    script = (
        f"mount --bind '{home}' /mnt && mount -t tmpfs -o mode=755 none '{closed[0]}' && "
        f"mkdir -p '{home}' && mount --bind /mnt '{home}' && umount /mnt && exec \"$@\""
    )
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that every user may enter: home belongs to the user, and state to root."""
    with tempfile.TemporaryDirectory() as name:
        found = Path(name)
        found.chmod(0o755)
        for part, owner, mode in (("home", NOBODY, 0o700), ("state", 0, 0o700), ("bin", 0, 0o755)):
            (found / part).mkdir(mode=mode)
            os.chown(found / part, owner, owner)
        yield found


@pytest.fixture
def sudo(assay_exec: Path, folder: Path) -> Iterator[CommandLine]:
    """Return a command line as sudo starts it for an unprivileged user."""
    copy = folder / "bin" / "assay-exec"
    shutil.copy(assay_exec, copy)
    line = CommandLine(copy, folder / "home", prefix=reachable())
    line.more = {
        "SUDO_UID": str(NOBODY),
        "SUDO_GID": str(NOBODY),
        "SUDO_HOME": str(folder / "home"),
        "HOME": "/root",
        "USER": "root",
        STATE_VARIABLE: str(folder / "state"),
    }
    before = leaves()
    tried = line("run", "--", "true")
    if "may not read" in tried.err:
        pytest.skip(f"assay cannot be run as another user here: {tried.err}")
    assert (tried.status, tried.err) == (0, "") or "users other than root can write" in tried.err
    yield line
    wait_until(lambda: not helpers(folder), "the helper and its launchers end")
    wait_until(lambda: leaves() <= before, "no control group is left")
    changes = folder / "state" / "journal" / "changes.jsonl"
    assert not changes.exists() or changes.read_bytes() == b""


def helpers(folder: Path) -> dict[int, str]:
    """Return the processes of root for the command line of these tests, by process id."""
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if f"{STATE_VARIABLE}={folder / 'state'}".encode() in (entry / "environ").read_bytes():
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(entry.name)] = words
    return found


def owner(path: Path) -> tuple[int, int]:
    state = path.lstat()
    return state.st_uid, state.st_gid


def identity(text: str) -> dict[str, str]:
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def test_program_runs_as_user_without_root_privileges(sudo: CommandLine, folder: Path) -> None:
    script = "cat /proc/self/status; echo home:$HOME; echo user:$USER; sleep 0.2"
    record = folder / "home" / "record.json"
    answer = sudo("run", "--with", "nice=-5", "--record", record, "--", "sh", "-c", script)
    assert answer.status == 0, answer.err
    found = identity(answer.out)
    for name in ("Uid", "Gid"):
        assert found[name].split() == [str(NOBODY)] * 4
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(found[name], 16) == 0
    assert (found["home"], found["user"]) == (str(folder / "home"), "nobody")
    assert owner(record) == (NOBODY, NOBODY)
    grant = json.loads(record.read_text())["settings"]["nice"]
    assert (grant["status"], grant["value"]) == ("granted", -5), grant


def test_program_environment_equals_that_without_helper(sudo: CommandLine) -> None:
    """Prints descriptors, signals, limits, session and groups, without its user."""
    script = (
        "ls /proc/self/fd; grep -E 'SigBlk|SigIgn|Shd' /proc/self/status; ulimit -a; umask; pwd"
    )
    helped = sudo("run", "--", "sh", "-c", script)
    alone = sudo("run", "--as-root", "--", "sh", "-c", script)
    assert helped.out == alone.out != ""


def test_as_root_runs_program_as_root(sudo: CommandLine) -> None:
    answer = sudo("run", "--as-root", "--", "sh", "-c", "id -u; echo $HOME")
    assert answer.out.split() == ["0", "/root"]
    assert sudo("run", "--", "id", "-u").out.split() == [str(NOBODY)]


def test_user_processes_cannot_reach_root_helper(sudo: CommandLine, folder: Path) -> None:
    """They reach neither the descriptors of assay, one of which leads to root, nor its memory."""
    (folder / "bin" / "look.py").write_text(LOOK)
    answer = sudo("run", "--", sys.executable, folder / "bin" / "look.py")
    assert answer.status == 0, answer.err
    assert json.loads(answer.out) == {"launcher": [], "supervisor": [], "assay": []}


LOOK = """
import json, os
from pathlib import Path
found, pid = {}, os.getpid()
for name in ("supervisor", "launcher", "assay"):
    pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    found[name] = []
    for part in ("fd", "mem", "environ", "maps", "cwd", "exe"):
        try:
            place = f"/proc/{pid}/{part}"
            os.listdir(place) if part == "fd" else os.open(place, os.O_RDONLY)
            found[name].append(part)
        except PermissionError:
            pass
print(json.dumps(found))
"""


def test_import_hooks_write_their_report(sudo: CommandLine, folder: Path) -> None:
    script = (
        'echo told >> "$ASSAY_HOOK_REPORT" && cat "$ASSAY_HOOK_REPORT"; echo $ASSAY_HOOK_REPORT'
    )
    answer = sudo("run", "--with", "env.ASSAY_HOOK_X=1", "--", "sh", "-c", script)
    result, place = answer.out.split()
    assert (result, answer.err) == ("told", "")
    assert not Path(place).exists()


@pytest.mark.rotating
def test_study_files_belong_to_user(sudo: CommandLine, folder: Path) -> None:
    sudo.more["ASSAY_DB"] = ""
    answer = sudo(
        "compare", "--arm", "nice=0", "--arm", "nice=-3", "--runs", "40", "--json", "--", "true"
    )
    assert answer.status == 0, answer.err
    places = list((folder / "home").rglob("*"))
    assert "assay.db" in {path.name for path in places}
    assert {owner(path) for path in places} == {(NOBODY, NOBODY)}
    (study,) = sudo.studies()
    assert study["status"] == "done"


@pytest.mark.rotating
def test_parallel_launches_keep_their_cpus(sudo: CommandLine, folder: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one CPU")
    log = folder / "home" / "cpus"
    script = f"grep Cpus_allowed_list /proc/self/status >> {log}"
    command = ("--parallel", "2", "--runs", "40", "--", "sh", "-c", script)
    assert "Traceback" not in sudo("tune", "nice=0,-3", *command).err
    assert len(set(log.read_text().splitlines())) == 2


@pytest.mark.rotating
@pytest.mark.alone
@pytest.mark.skipif(
    not (V1 / "cpuset.cpus").exists(), reason="the guests try control groups of version 2"
)
@pytest.mark.skipif(len(CPUS) < 2, reason="a partition leaves a CPU to the system")
def test_launches_are_in_reserved_share(
    sudo: CommandLine, folder: Path, assay_broker: Path
) -> None:
    """Their launchers have root's privileges, but are moved and confined too."""
    broker = folder / "bin" / "assay-broker"
    shutil.copy(assay_broker, broker)
    show = "cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status; id -ru"
    with run_folder() as run, partition(broker, run, [CPUS[-1]]) as standing:
        sudo.more["ASSAY_RUN"] = str(run)
        answer = sudo("run", "--reserve", "all", "--", "sh", "-c", show)
        assert (answer.status, answer.err) == (0, "")
        group, allowed, user = answer.out.splitlines()
        assert group.startswith(f"/{standing.group.name}/lease-")
        assert (allowed.split()[1], user) == (str(CPUS[-1]), str(NOBODY))
        words = ("--runs", "4", "--reserve", "all", "--json", "--", "sh", "-c", show)
        measured = sudo("measure", *words)
        assert measured.status in (0, 1), measured.err
        placed = [
            piece["note"]
            for sample in sudo.documents()
            for piece in sample["evidence"]
            if piece["kind"] == "share"
        ]
        assert len(placed) >= 4
        standing.free()


@pytest.fixture
def interval() -> Iterator[str]:
    """Return the content of the file that a test changes; check afterwards that it is restored."""
    if not os.access(INTERVAL, os.W_OK):
        pytest.skip(f"this machine has no {INTERVAL} that can be written")
    before = INTERVAL.read_text().strip()
    yield before
    wait_until(lambda: INTERVAL.read_text().strip() == before, "it is put back", 30)


@pytest.mark.alone
@pytest.mark.usefixtures("interval")
class TestTheSystem:
    """System settings: root's helper writes and restores them."""

    def test_system_setting_is_changed_around_run(self, sudo: CommandLine, interval: str) -> None:
        answer = sudo("run", "--with", "vm.stat_interval=7", "--", "cat", INTERVAL)
        assert (answer.status, answer.out, answer.err) == (0, "7\n", "")
        assert INTERVAL.read_text().strip() == interval

    @pytest.mark.rotating
    def test_system_setting_is_changed_for_study_launches(self, sudo: CommandLine) -> None:
        arms = ("--arm", "vm.stat_interval=1", "--arm", "vm.stat_interval=7")
        answer = sudo("compare", *arms, "--runs", "40", "--", "cat", INTERVAL)
        assert answer.status == 0, answer.err
        grants = [d["settings"]["vm.stat_interval"] for d in sudo.documents()]
        assert {(g["status"], g["value"]) for g in grants} == {("granted", 1), ("granted", 7)}

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_system_setting_is_restored_however_assay_ends(
        self, sudo: CommandLine, folder: Path, interval: str, number: int
    ) -> None:
        with sudo.begun("run", "--with", "vm.stat_interval=7", "--", "sleep", "60") as process:
            wait_until(lambda: INTERVAL.read_text() == "7\n", "it is changed", 30)
            wait_until(lambda: any("sleep" in w for w in sudo.processes()), "it runs", 30)
            os.kill(process.pid, number)
            process.wait(30)
        wait_until(lambda: INTERVAL.read_text().strip() == interval, "it is put back")
        wait_until(lambda: not sudo.processes(), "the program ends")

    def test_system_setting_is_restored_after_helper_is_killed(
        self, sudo: CommandLine, folder: Path, interval: str
    ) -> None:
        with sudo.begun("run", "--with", "vm.stat_interval=7", "--", "sleep", "60") as process:
            wait_until(lambda: INTERVAL.read_text() == "7\n", "it is changed", 30)
            for pid, words in helpers(folder).items():
                if words.endswith("assay.root_helper.server ") and "--helper" not in words:
                    os.kill(pid, signal.SIGKILL)
            wait_until(lambda: INTERVAL.read_text().strip() == interval, "it is put back")
            process.terminate()
            process.wait(30)

    @pytest.mark.rotating
    def test_user_profile_applies_until_restored(
        self, sudo: CommandLine, folder: Path, interval: str
    ) -> None:
        """Root reads no file of the user; it receives actions."""
        profile = folder / "home" / "mine.toml"
        profile.write_text('[set]\n"vm.stat_interval" = 7\n')
        profile.chmod(0o600)
        os.chown(profile, NOBODY, NOBODY)
        answer = sudo("machine", "apply", profile, "--json")
        assert answer.status == 0, answer.err
        assert INTERVAL.read_text() == "7\n"
        again = sudo("machine", "restore", "--json")
        assert [c["status"] for c in again.document["changes"]] == ["undone"], again.err
        assert INTERVAL.read_text().strip() == interval


@pytest.mark.rotating
def test_writable_installation_is_named(sudo: CommandLine, folder: Path) -> None:
    (folder / "bin").chmod(0o777)
    answer = sudo("run", "--", "id", "-u")
    assert answer.out.split() == [str(NOBODY)]  # separated even so
    assert "users other than root can write" in answer.err
    assert str(folder / "bin") in answer.err or "exposed before" in answer.err
    doctor = sudo("doctor", "--json").document["separation"]
    assert (doctor["user"], doctor["exposed"] is not None) == ("nobody", True)
    assert "programs, store and files are nobody's" in sudo("doctor").out


@pytest.mark.skipif(shutil.which("sudo") is None, reason="there is no sudo")
def test_real_sudo_works(sudo: CommandLine) -> None:
    for name in ("SUDO_UID", "SUDO_GID", "SUDO_HOME", "HOME", "USER"):
        del sudo.more[name]
    # Root may become the user nobody, but not vice versa: sudo -u would need a rule.
    kept = [f"{name}={value}" for name, value in sudo.env.items()]
    answer = subprocess.run(
        ["sudo", "-n", "env", *kept, *sudo.argv("run", "--", "id", "-u")],
        capture_output=True,
        text=True,
    )
    assert answer.stdout.split() == ["0"], answer.stderr  # root called it


# --- the helper ---------------------------------------------------------------------------------


@pytest.fixture
def helper(assay_exec: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RootHelper]:
    """Return a root helper that works for the user nobody, called by root."""
    monkeypatch.setenv(STATE_VARIABLE, str(folder / "state"))
    found = RootHelper(assay_exec, Caller(NOBODY, NOBODY, (NOBODY,), "nobody", "/"))
    yield found
    found.close()
    assert not helpers(folder)


def launched(helper: RootHelper, *argv: str, **keys: Any) -> tuple[Any, str]:
    """Launch a program by the helper; return its facts and output."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        out = Path(name) / "out"
        driver = Driver(helper, {"PATH": os.environ["PATH"], "A": "1"})
        document = {"schema": 2, "argv": argv, "stdout": str(out), "parent_pid": os.getpid()}
        with driver.start({**document, **keys}) as running:
            assert running.finished(20)
            facts = running.facts()
        return facts, out.read_text() if out.exists() else ""


def test_launched_process_is_child_of_caller(helper: RootHelper) -> None:
    driver = Driver(helper, os.environ)
    with driver.start({"schema": 2, "argv": ["sleep", "60"]}) as running:
        stat = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
        assert int(stat[1]) == os.getpid()
        assert int(stat[2]) == os.getpgrp()
    facts, out = launched(helper, "sh", "-c", "id -u; echo $A; exit 3")
    assert (facts.exit_status, out.split()) == (3, [str(NOBODY), "1"])
    assert driver.probe()["root"] is True
    driver.sweep()


WORDS = {
    "a command": (["--", "id"], {}),
    "a plan by its name": (["--plan", "/etc/shadow", "--record-fd", "4"], {4: 4}),
    "a record by its name": (["--plan-fd", "3", "--record", "/etc/x"], {3: 3}),
    "a successor": (["--take-over", "--record-fd", "4", "--containment", "none"], {4: 4}),
    "a hierarchy": (["--sweep", "--cgroup-root", "/tmp"], {1: 1}),
    "another helper": (["--helper", "3", "--caller", "1:1:1"], {3: 3}),
    "no caller": (["--helper", "3"], {3: 3}),
    "no word": ([], {}),
    "an unknown word": (["--root"], {}),
    "help": (["--help"], {1: 1}),
    "standard input": (["--sweep"], {0: 0}),
    "a place of its own": (["--sweep"], {1: 40}),
}


@pytest.mark.parametrize(("words", "places"), WORDS.values(), ids=WORDS)
def test_unknown_requests_are_refused(
    helper: RootHelper, words: list[str], places: dict[int, int]
) -> None:
    with Path(os.devnull).open("r+b") as file:
        own = {file.fileno(): place for place in places.values()}
        with pytest.raises(OSError, match=r"Operation not permitted|Invalid argument"):
            helper.spawn(words, {}, own)
    assert launched(helper, "true")[0].exit_status == 0


@pytest.mark.parametrize(
    "packet",
    [b"", b"\0", b"x\0", b"1\0" * 2000, b"1\0\0--probe", b"9\0" + b"1," * 9 + b"\0--probe\0"],
)
def test_malformed_packets_are_ignored(helper: RootHelper, packet: bytes) -> None:
    if packet:  # an empty one is the end, as on any such socket
        with Path(os.devnull).open("r+b") as file:
            socket.send_fds(helper._launches, [packet], [file.fileno()])
        assert len(helper._launches.recv(64)) == 8
    assert launched(helper, "true")[0].exit_status == 0


BOUNDED = {
    "cgroup_root": "/tmp",
    "cgroup_parent": "x",
    "cgroup_name": "assay-1-0",
    "host_root": "/tmp",
}


@pytest.mark.parametrize("key", BOUNDED)
def test_plan_with_privileged_paths_is_refused(helper: RootHelper, key: str) -> None:
    facts, _ = launched(helper, "true", **{key: BOUNDED[key]})
    assert (facts.outcome, facts.message.partition(":")[0]) == ("bad_plan", key)


@pytest.fixture
def secret(folder: Path) -> Path:
    """Provide a file that only root may read."""
    path = folder / "secret"
    path.write_text("secret\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("instances", [None, [{}, {}]], ids=["one", "several"])
def test_files_and_folders_are_opened_as_user(
    helper: RootHelper, folder: Path, secret: Path, instances: list[Any] | None
) -> None:
    driver = Driver(helper, os.environ)
    outputs: list[dict[str, Any]] = [
        {"stdout": "/proc/sys/kernel/core_pattern"},
        {"stderr": str(folder / "state" / "x")},
    ]
    document: dict[str, Any] = {"schema": 2, "argv": ["cat"]}
    if instances is not None:
        document["instances"] = instances
        outputs = [{"instances": [output, {}]} for output in outputs]
    for more in ({"stdin": str(secret)}, {"cwd": str(folder / "state")}, *outputs):
        with driver.start({**document, **more}) as running:
            assert running.finished(20)
            facts = running.facts()
        assert (facts.outcome, facts.errno) == ("setup_failed", 13), (more, facts)
    assert secret.read_text() == "secret\n"
    assert not (folder / "state" / "x").exists()


def test_helper_and_its_launches_end_with_caller(
    assay_exec: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(folder / "state"))
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from assay.root_helper.caller import Caller\n"
        "from assay.launch.driver import Driver\n"
        "from assay.root_helper.helper import RootHelper\n"
        "helper = RootHelper(Path(sys.argv[1]), Caller(65534, 65534, (), 'nobody', '/'))\n"
        "driver = Driver(helper, os.environ)\n"
        "driver.start_standby()\n"
        "with driver.start({'schema': 1, 'argv': ['sleep', '60']}):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, assay_exec], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        wait_until(lambda: len(helpers(folder)) >= 4, "all of it runs")
        process.kill()
    wait_until(lambda: not helpers(folder), "all of it ends")


def test_interrupted_request_leaves_no_launch(
    helper: RootHelper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    before = children()
    with Path(os.devnull).open("r+b") as file, monkeypatch.context() as patch:
        patch.setattr(helper, "_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            helper.spawn(["--sweep"], {}, {file.fileno(): 1})
    assert launched(helper, "true")[0].exit_status == 0
    assert children() == before


def children() -> set[int]:
    """Return the children of this process, zombies included."""
    return {int(pid) for pid in Path("/proc/thread-self/children").read_text().split()}


@pytest.mark.rotating
def test_set_user_id_launcher_runs_program_as_caller(launcher: Launcher) -> None:
    """The real user of assay-exec counts, however it became root."""
    plan = launcher.plan(["id", "-u"])
    plan.pop("cgroup_name", None)
    record, done = launcher.run_plan(plan, prefix=(*AS_NOBODY, "--clear-groups"))
    assert (record["outcome"], done.stdout.split()) == ("exited", [str(NOBODY).encode()])


def test_remaining_processes_are_ended(helper: RootHelper) -> None:
    """The supervisor is root; the processes that it ends are not."""
    begun = time.time_ns()
    facts, _ = launched(helper, "sh", "-c", f"setsid sleep 60.{begun} & exit 0")
    assert facts.containment is not None
    assert facts.containment.remaining_processes == 1
    assert not [w for w in Path("/proc").glob("[0-9]*/cmdline") if _holds(w, str(begun))]


def _holds(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError):
        return text.encode() in path.read_bytes()
    return False
