"""Settings of the boot on the command line, on a host that nobody boots."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

NAME = "boot.assay_test"
ARMS = ("--arm", f"{NAME}=absent", "--arm", f"{NAME}=7", "--disturbed-above", "never")
COMMAND = ("--", "true")
SWEEP = """\
[workload]
command = "true"

[settings]
"boot.assay_test" = ["absent"]
nice = [0, 5]

[design]
repeats = 2
"""
HOOK = """\
#!/bin/sh
printenv ASSAY_STUDY ASSAY_BOOT_ADD ASSAY_BOOT_WORDS ASSAY_BOOT_REMOVE > told
echo chatter
exit "$1"
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def test_a_study_pauses_with_the_change(cli: CommandLine) -> None:
    answer = cli("compare", *ARMS, "--runs", "60", "--json", *COMMAND)
    assert answer.status == 4, answer.err
    assert "2 boots in each of 6 blocks or more" in answer.err
    document = answer.document
    study = document["study"]
    assert document["status"] == "paused"
    assert document["resume"] == f"assay study resume {study}"
    assert document["paused"] == {
        "settings": {NAME: 7},
        "missing": ["/proc/cmdline has no assay_test, not assay_test=7"],
        "add": ["assay_test=7"],
        "words": ["assay_test=7"],
    }
    [head] = cli("study", "list", "--json").document["studies"]
    assert (head["id"], head["status"]) == (study, "paused")

    again = cli("study", "resume", study)
    assert again.status == 4
    assert again.out.startswith(f"Study {study} is paused: it needs a boot with {NAME}=7.\n")
    assert "  put in    assay_test=7\n" in again.out
    assert again.out.endswith(f"Then boot, and go on with\n  assay study resume {study}\n")
    assert "paused" in cli("study", "show", study).out
    assert cli("report", study, "-o", "r.html").status == 0
    assert "waits for another boot" in (cli.folder / "r.html").read_text()


def test_a_command_that_boots_is_told_the_change(cli: CommandLine) -> None:
    hook = cli.folder / "boot as asked"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    command = ("--reboot-command", f"{shlex.quote(str(hook))} 0")
    answer = cli("compare", *ARMS, "--runs", "60", "--json", *command, *COMMAND)
    assert answer.status == 4, answer.err
    study = answer.document["study"]
    told = (cli.folder / "told").read_text().splitlines()
    assert told == [study, "assay_test=7", "assay_test=7", ""]
    assert "chatter" in answer.err

    failed = cli("study", "resume", study, "--reboot-command", f"{shlex.quote(str(hook))} 9")
    assert failed.status == 3
    assert "ended with 9" in failed.err
    missing = cli("study", "resume", study, "--reboot-command", "./no-such-program")
    assert missing.status == 3
    assert "cannot be run" in missing.err
    assert cli("study", "resume", study, "--reboot-command", "'").status == 2


def test_what_the_present_boot_has_takes_no_other(cli: CommandLine) -> None:
    (cli.folder / "f.toml").write_text(SWEEP)
    answer = cli("sweep", "f.toml", "--json", "--disturbed-above", "never")
    assert answer.status == 0, answer.err
    assert "takes a boot" not in answer.err
    study = answer.document["study"]
    assert answer.document["switching"]["boots"] == 1
    shown = cli("study", "show", study, "--json").document
    grants = [sample["settings"][NAME] for sample in shown["samples"]]
    assert {grant["grant"] for grant in grants} == {"granted"}
    assert all("no assay_test in /proc/cmdline" in grant["observed"] for grant in grants)
    assert cli("study", "export", study, "--bundle", "b.zip").status == 0
    assert cli("study", "verify", "b.zip").status == 0


def test_a_launch_in_another_boot_is_refused(cli: CommandLine) -> None:
    answer = cli("run", "--with", f"{NAME}=7", "--", "true")
    assert answer.status == 125
    assert f"{NAME}=7 takes another boot" in answer.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--confirm", "nice=5"), "takes no boot"),
        (("--confirm", "boot.nosmt=on"), "is read from the machine"),
        (("--confirm", "firmware.fan"), "says nothing"),
        (("--verify", "firmware.fan=low"), "neither a file nor a command"),
        (("--verify", "firmware.fan=!'"), "No closing quotation"),
        (("--reboot-command", "'"), "No closing quotation"),
    ],
)
def test_words_that_say_nothing(cli: CommandLine, words: tuple[str, ...], told: str) -> None:
    answer = cli("compare", *ARMS, *words, *COMMAND)
    assert answer.status == 2
    assert told in answer.err
    assert cli("study", "list", "--json").document["studies"] == []
