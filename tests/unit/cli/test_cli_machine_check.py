"""`assay machine check`: profiles as files, the screen, the document, the exit status."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from assay.api.files.toml_file import read_toml
from assay.cli.machine.check import _continued
from assay.cli.machine.profile_file import profile_names, profile_path, read_profile
from assay.cli.main import main
from assay.errors import InvalidInputError
from assay.machine.checks import CHECKS, Demand, Status

GOOD = """\
summary = "Two checks."

[checks."memory.swappiness"]
otherwise = "fail"
at_most = 10
reason = "Because."

[checks.memory.thp]
otherwise = "nothing"
reason = "A study decides."

[checks.memory.thp.defrag]
otherwise = "warn"
accept = ["madvise"]

[set]
"vm.swappiness" = 10
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "own.toml"
    path.write_text(text)
    return str(path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name, text in {
        "proc/sys/vm/swappiness": "60",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize("name", profile_names())
def test_profiles_of_assay(name: str) -> None:
    profile = read_profile(name)
    assert profile.summary
    for check, demand in profile.demands.items():
        assert demand.reason, check
        assert demand.source, check
        assert demand.reason.endswith("."), check
    contents = read_toml(str(profile_path(name))).content
    assert contents["set"]
    assert contents.keys() == {"summary", "checks", "set"}


def test_measuring_says_something_of_every_check() -> None:
    assert list(read_profile("measuring").demands) == [check.id for check in CHECKS]


@pytest.mark.parametrize(("check", "setting"), [("memory.thp", "vm.thp"), ("cpu.turbo",) * 2])
def test_no_profile_asks_where_known_tools_contradict_each_other(check: str, setting: str) -> None:
    for name in profile_names():
        demand = read_profile(name).demands[check]
        assert not demand.asks and "tuned" in demand.reason
        assert "a study decides" in demand.reason
        assert setting not in read_toml(str(profile_path(name))).content["set"]


def test_a_profile_that_checks_what_it_sets() -> None:
    """A profile sets the values that it requires."""
    of_setting = {
        "cpu.governor": "cpu.governor",
        "cpu.epp": "cpu.epp",
        "cpu.idle": "cpu.idle",
        "vm.swappiness": "memory.swappiness",
        "vm.zone_reclaim": "memory.zone_reclaim",
        "numa.balancing": "memory.numa_balancing",
        "ksm": "memory.ksm",
        "watchdog": "kernel.watchdog",
        "watchdog.nmi": "kernel.nmi_watchdog",
    }
    for name in profile_names():
        demands = read_profile(name).demands
        for setting, value in read_toml(str(profile_path(name))).content["set"].items():
            demand = demands[of_setting[setting]]
            assert demand.asks, (name, setting)
            right = str(value) in demand.accept or value == demand.at_most
            assert right, (name, setting)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    profile = read_profile(written(tmp_path, GOOD))
    assert profile.demands == {
        "memory.swappiness": Demand(Status.FAIL, at_most=10, reason="Because."),
        "memory.thp": Demand(Status.OK, reason="A study decides."),
        "memory.thp.defrag": Demand(Status.WARN, ("madvise",)),
    }


@pytest.mark.parametrize(
    ("text", "place", "cause", "remedy"),
    [
        ("", "1:1", "The profile has no checks", "Write a table"),
        ("[check]\n", "1:2", "There is no key 'check'", "Did you mean checks"),
        ("[checks]\ncpu = 3\n", "2:1", "checks.cpu must be a table", "otherwise"),
        (
            '[checks."cpu.governer"]\notherwise = "warn"\n',
            "1:9",
            "Unknown check 'cpu.governer'",
            "Did you mean cpu.governor",
        ),
        (
            '[checks.kernel.aslr]\naccept = ["2"]\n',
            "1:16",
            "lacks otherwise",
            'Write otherwise = "warn"',
        ),
        (
            '[checks.kernel.aslr]\notherwise = "wrn"\naccept = ["2"]\n',
            "2:1",
            "cannot be the text 'wrn'",
            "Did you mean warn",
        ),
        (
            '[checks.kernel.aslr]\notherwise = "warn"\nacept = ["2"]\n',
            "3:1",
            "has no key 'acept'",
            "Did you mean accept",
        ),
        (
            '[checks.kernel.aslr]\notherwise = "warn"\naccept = ["1", "3"]\n',
            "3:16",
            "kernel.aslr has no value '3'",
            "It has 0, 1, 2",
        ),
        (
            '[checks.kernel.aslr]\notherwise = "warn"\n',
            "1:16",
            "has no accepted value",
            "Write accept",
        ),
        (
            '[checks.kernel.aslr]\notherwise = "warn"\naccept = []\n',
            "3:1",
            "accepts no value",
            "at least one",
        ),
        (
            '[checks.kernel.aslr]\notherwise = "warn"\nat_most = 2\n',
            "3:1",
            "takes no at_most",
            "Write accept",
        ),
        (
            '[checks.cpu.siblings]\notherwise = "warn"\nat_most = 2\n',
            "3:1",
            "takes no at_most",
            "its own rule",
        ),
        (
            '[checks.cpu.idle]\notherwise = "warn"\nat_most = "2"\n',
            "3:1",
            "cannot be the text '2'",
            "at_most = 10",
        ),
        ("[checks\n", "1:8", "this is not TOML", ""),
    ],
)
def test_invalid_profile_file_is_refused(
    text: str, place: str, cause: str, remedy: str, tmp_path: Path
) -> None:
    name = written(tmp_path, text)
    with pytest.raises(InvalidInputError) as caught:
        read_profile(name)
    assert caught.value.cause.startswith(f"{name}:{place}: "), caught.value.cause
    assert cause in caught.value.cause
    assert remedy in (caught.value.remedy or "")


def test_twice_the_same_check(tmp_path: Path) -> None:
    text = '[checks.cpu.idle]\notherwise = "nothing"\n[checks."cpu.idle"]\notherwise = "nothing"\n'
    with pytest.raises(InvalidInputError, match=r"3:9: checks.\"cpu.idle\" is defined twice"):
        read_profile(written(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("measurin", "Did you mean measuring"), ("x", "Known are hpc, latency, measuring")],
)
def test_no_such_profile(name: str, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInputError, match="Unknown profile") as caught:
        read_profile(name)
    assert remedy in (caught.value.remedy or "")


def test_a_folder_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_profile(f"{tmp_path}/")


def test_the_screen(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = written(tmp_path, GOOD)
    assert main(["machine", "check", "--root", str(tree), "--profile", profile]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("fail     memory.swappiness  60 (/proc/sys/vm/swappiness)")
    assert "         as root: sysctl -w vm.swappiness=10" in lines
    assert "         as a setting: vm.swappiness=10" in lines
    assert any(line.startswith("unknown  memory.thp.defrag") for line in lines)
    assert ": 0 ok, 0 warn, 1 fail, 1 unknown" in " ".join(" ".join(lines).split())
    assert "1 more check without a requirement: -v shows them" in lines
    assert any("assay doctor" in line for line in lines)


def test_verbose_output_lists_all_checks(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = written(tmp_path, GOOD.replace("at_most = 10", "at_most = 60"))
    assert main(["machine", "check", "-v", "--root", str(tree), "--profile", profile]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "ok memory.swappiness 60 (/proc/sys/vm/swappiness) why: Because." in said
    assert "- memory.thp always (" in said
    assert "not required: A study decides." in said


def test_only_what_is_wrong(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = written(tmp_path, GOOD)
    assert main(["machine", "check", "-q", "--root", str(tree), "--profile", profile]) == 1
    assert "memory.thp.defrag" not in capsys.readouterr().out


def test_the_document(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = written(tmp_path, GOOD)
    assert main(["machine", "check", "--json", "--root", str(tree), "--profile", profile]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 2
    assert document["checks"] == [
        {
            "id": "memory.swappiness",
            "status": "fail",
            "evidence": "60 (/proc/sys/vm/swappiness); required: at most 10",
            "remedy": "sysctl -w vm.swappiness=10",
            "right": "root",
            "setting": "vm.swappiness=10",
            "reason": "Because.",
        },
        {
            "id": "memory.thp.defrag",
            "status": "unknown",
            "evidence": "/sys/kernel/mm/transparent_hugepage/defrag is missing",
        },
    ]
    assert [one["id"] for one in document["unchecked"]] == ["memory.thp"]


@pytest.mark.parametrize(
    ("folder", "cause"), [("nowhere", "no such folder"), ("", "neither proc nor sys")]
)
def test_no_recorded_machine(
    folder: str, cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["machine", "check", "--root", str(tmp_path / folder)]) == 2
    assert cause in capsys.readouterr().err


def test_an_archive_reads_as_its_folder_does(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(tmp_path / "machine.tar.gz", "w:gz") as archive:
        archive.add(tree, "machine")
    command = ["machine", "check", "--json", "--profile", written(tmp_path, GOOD), "--root"]
    told = []
    for root in (tree, tmp_path / "machine.tar.gz"):
        assert main([*command, str(root)]) == 1
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert told[0]["checks"][0]["status"] == "fail"


@pytest.mark.parametrize("name", profile_names())
def test_it_fits_the_screen(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    assert main(["machine", "check", "-v", "--root", str(tmp_path), "--profile", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    # A path that is longer stays whole.
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)


def test_broken_commands_can_be_copied() -> None:
    command = "         for n in 1 2 3 4 5 6 7 8 9; do printf '%s,' $n; done; echo $((1 + 2))"
    lines = _continued(command, 40)
    assert len(lines) > 1 and all(len(line) <= 40 for line in lines)
    done = subprocess.run(
        ["sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1,2,3,4,5,6,7,8,9,3\n"


def test_hostile_text_is_shown_as_escapes(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tree / "sys/kernel/mm/transparent_hugepage/defrag"
    path.write_text("always [\x1b[31mred] never")
    profile = written(tmp_path, GOOD)
    main(["machine", "check", "-v", "--root", str(tree), "--profile", profile])
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\\x1b[31mred" in said
