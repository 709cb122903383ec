"""``assay machine show``, ``snapshot`` and ``diff`` as they are called."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from assay.cli.machine import restore, roots
from assay.cli.main import main
from assay.host.journal import Note
from assay.host.undo import UndoOutcome
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.partition.registry import Partition, activate, create_folder
from assay.records.action import WriteFile
from assay.root_helper.restoration import RestoreResult
from json_schemas import assert_valid

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "hwloc"
SMALL = str(RECORDED / "2arm-2c.tar.bz2")
OTHER = str(RECORDED / "2ps3-2t.tar.bz2")
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Call:
    """Call assay with words; exit status and both outputs."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "x.db"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words: str) -> tuple[int, str, str]:
        try:
            status = main(["machine", *words])
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_this_machine_is_shown(call: Call) -> None:
    status, out, _ = call("show")
    assert status == 0
    assert out.splitlines()[0].startswith("system")
    assert "glibc" in out
    status, out, _ = call("show", "--json")
    document = json.loads(out)
    assert (status, document["schema"]) == (0, 2)
    assert document["machine"]["flags"] == sorted(document["machine"]["flags"])
    assert document["inventory"]["topology"]["kind"] == "machine"


def test_a_recorded_machine_is_shown_and_drawn(call: Call, tmp_path: Path) -> None:
    status, out, _ = call("show", "--root", SMALL)
    assert status == 0
    assert "2 CPUs" in out
    assert call("show", "--root", SMALL, "-o", str(tmp_path / "m.svg"))[0] == 0
    ElementTree.parse(tmp_path / "m.svg")
    assert call("show", "--root", SMALL, "-o", str(tmp_path / "m.json"))[0] == 0
    assert "inventory" in json.loads((tmp_path / "m.json").read_text())
    assert call("show", "--root", SMALL, "-o", str(tmp_path / "m.txt"), "-q") == (0, "", "")
    assert (tmp_path / "m.txt").read_text().count("\n") > 5


@pytest.mark.parametrize(("words", "whole"), [((), False), (("--json",), True)])
def test_text_reads_no_file_that_it_does_not_show(
    call: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], whole: bool
) -> None:
    """Large machines have thousands of files with the system's configuration."""
    asked: list[bool] = []

    def read(root: Root, *, system: bool) -> Machine:
        asked.append(system)
        return read_machine(root, system=system)

    monkeypatch.setattr(roots, "read_machine", read)
    status, out, _ = call("show", "--root", SMALL, *words)
    assert (status, asked) == (0, [whole])
    assert bool(out)


def test_a_snapshot_is_made_shown_and_compared(call: Call, tmp_path: Path) -> None:
    path = str(tmp_path / "m.tar.gz")
    status, out, _ = call("snapshot", "--root", SMALL, "-o", path, "--json")
    found = json.loads(out)
    assert_valid("machine-snapshot", found)
    assert (status, found["file"], found["excluded"]) == (0, path, [])
    assert call("show", "--root", path)[1] == call("show", "--root", SMALL)[1]
    status, out, _ = call("diff", SMALL, path)
    assert (status, "no lasting differences" in out) == (0, True)
    status, out, _ = call("diff", SMALL, OTHER, "--json")
    found = json.loads(out)
    assert_valid("machine-diff", found)
    assert status == 0
    assert {one["path"] for one in found["differences"]} >= {"model", "memory_bytes"}
    assert {one["subject"] for one in found["differences"]} >= {"CPUs", "memory"}
    # One word is held against the machine that --root stands for.
    assert "no lasting differences" in call("diff", path, "--root", SMALL)[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "-o", "machine.png"), "unknown suffix"),
        (("show", "--root", "/nowhere/at/all"), "does not exist"),
        (("show", "--root", __file__), "is not an archive of a machine"),
        (("snapshot",), "needs a file to write"),
        (("snapshot", "-o", "machine.zip"), "a snapshot is a .tar.gz archive"),
        (("snapshot", "-o", "/nowhere/at/all/m.tar.gz"), "does not exist"),
        (("diff",), "needs a machine to compare"),
        (("diff", "nothing", SMALL), "neither a snapshot nor a study"),
        (("diff", "none.tar.gz"), "There is no file or folder"),
        (("diff", SMALL, SMALL, SMALL), "Unexpected argument"),
        (("diff", SMALL, ""), "A word for `assay machine diff` is empty"),
        (("diff", str(RECORDED)), f"{RECORDED} contains no recorded machine"),
        (("check", "hpc"), "`assay machine check --profile hpc`"),
        (("check", "-o", "x.json"), "`assay machine check --json > FILE`"),
        (("restore", "--root", SMALL), "about this machine as it runs"),
        ((), "missing action: write one of show, check, snapshot, diff, apply, restore, noise"),
    ],
)
def test_invalid_words_are_refused(call: Call, words: tuple[str, ...], said: str) -> None:
    status, out, err = call(*words)
    assert status == 2
    assert out == ""
    assert said in err


def test_a_place_where_no_file_can_be_made_is_said(call: Call) -> None:
    status, _, err = call("show", "--root", SMALL, "-o", "/proc/x.svg")
    assert status == 3
    assert "/proc/x.svg cannot be written: /proc does not allow new files." in err


def test_the_name_of_a_file_is_shown_without_its_control_characters(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "a\x1b[31m.svg"
    status, out, _ = call("show", "--root", SMALL, "-o", str(path))
    assert (status, path.exists()) == (0, True)
    assert "\x1b" not in out and "[31m.svg" in out


def test_help_says_what_each_action_is_for(call: Call) -> None:
    status, out, _ = call("show", "--help")
    assert status == 0
    for action in ("show", "check", "snapshot", "diff", "apply", "restore", "noise"):
        assert f"\n  {action} " in out
        assert f"assay machine {action}" in out.partition("actions:")[2]


def test_cpus_that_a_partition_has_are_told(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_RUN", str(tmp_path))
    made = Partition(
        name="lab",
        boot_id="x",
        version=2,
        root_group="/sys/fs/cgroup",
        cpus="2-3",
        nodes="0",
        groups=(),
    )
    activate(made, create_folder("lab", os.environ))
    create_folder("odd", os.environ)  # does not stand
    status, out, err = call("show")
    assert (status, err.count("\n")) == (0, 1)
    assert "the partition lab has reserved the CPUs 2-3" in err
    assert call("show", "-q")[2] == ""
    assert "partition" not in call("show", "--root", SMALL)[2]
    assert "partition lab" in call("check")[2]
    assert "partition" not in out


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_nothing_behind(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    archive, scratch = tmp_path / "slow.tar.gz", tmp_path / "scratch"
    os.mkfifo(archive)  # reading it waits for ever
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "machine", "show", "--root", str(archive)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        # Python tries the folder with a file of its own first.
        while not list(scratch.glob("assay-*")) and time.monotonic() < until:
            time.sleep(0.01)
        assert list(scratch.iterdir())
        process.send_signal(number)
        assert process.wait(60) == status
    finally:
        process.kill()
        process.wait()
    assert list(scratch.iterdir()) == []


def test_a_profile_takes_root_and_says_so_first(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = read_machine()
    user = replace(machine, rights=replace(machine.rights, uid=1000))
    monkeypatch.setattr("assay.cli.machine.apply.read_machine", lambda **_: user)
    status, _, err = call("apply", "measuring", "--dry-run")
    assert status == 3
    assert "needs root" in err


def test_restore_json_matches_its_schema(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    action = WriteFile(path="/proc/sys/vm/swappiness", value="57")
    note = Note(id=1, boot_id="b", owner="apply", action=action, old="60")
    outcomes = (
        UndoOutcome(note, "drifted", "56"),
        UndoOutcome(note, "failed", "57", "permission denied"),
        UndoOutcome(note, "gone"),
    )
    found = RestoreResult(words=outcomes, partitions=("quiet",))
    monkeypatch.setattr(restore, "restore", lambda **_: found)
    status, out, _ = call("restore", "--json")
    document = json.loads(out)
    assert_valid("machine-restore", document)
    assert (status, document["partitions"]) == (1, ["quiet"])
    assert document["changes"][0] == {
        "path": "/proc/sys/vm/swappiness",
        "owner": "apply",
        "original_value": "60",
        "status": "drifted",
        "current_value": "56",
    }
