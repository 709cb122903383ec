"""Boot settings on the command line, on a host that is not rebooted."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.api.launches.ready import Ready
from assay.api.launches.system_settings import applied_system_settings
from assay.cli.verbs.run import _launch, _ReadingOptions
from assay.executors.evidence.drift import DRIFT
from assay.launch.driver import Driver
from assay.records import Configuration, GrantStatus, Plan, RequiredBoot, Workload
from assay.settings.registry import builtin, judge_all

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


@pytest.mark.rotating
def test_study_pauses_and_prints_change(cli: CommandLine) -> None:
    answer = cli("compare", *ARMS, "--runs", "60", "--json", *COMMAND)
    assert answer.status == 4, answer.err
    assert "2 boots in each of 6 blocks or more" in answer.err
    document = answer.document
    study = document["study"]
    assert document["status"] == "paused"
    assert document["resume_command"] == f"assay study resume {study}"
    assert document["boot_change"] == {
        "settings": {NAME: 7},
        "missing": ["/proc/cmdline lacks assay_test=7"],
        "add": ["assay_test=7"],
        "required_arguments": ["assay_test=7"],
    }
    [head] = cli("study", "list", "--json").document["studies"]
    assert (head["id"], head["status"]) == (study, "paused")

    again = cli("study", "resume", study)
    assert again.status == 4
    assert again.out.startswith(f"Study {study} is paused: it needs a boot with {NAME}=7.\n")
    assert "  add       assay_test=7\n" in again.out
    assert again.out.endswith(f"Then boot, and continue with\n  assay study resume {study}\n")
    assert "paused" in cli("study", "show", study).out
    assert cli("report", study, "-o", "r.html").status == 0
    assert "waits for another boot" in (cli.folder / "r.html").read_text()


@pytest.mark.rotating
def test_boot_command_receives_change(cli: CommandLine) -> None:
    hook = cli.folder / "boot as asked"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    command = ("--reboot-command", f"{shlex.quote(str(hook))} 0")
    answer = cli("compare", *ARMS, "--runs", "60", "--json", *command, *COMMAND)
    assert answer.status == 4, answer.err
    study = answer.document["study"]
    message = (cli.folder / "told").read_text().splitlines()
    assert message == [study, "assay_test=7", "assay_test=7", ""]
    assert "chatter" in answer.err

    failed = cli("study", "resume", study, "--reboot-command", f"{shlex.quote(str(hook))} 9")
    assert failed.status == 3
    assert "exited with status 9" in failed.err
    missing = cli("study", "resume", study, "--reboot-command", "./no-such-program")
    assert missing.status == 3
    assert "cannot be run" in missing.err
    assert cli("study", "resume", study, "--reboot-command", "'").status == 2


@pytest.mark.rotating
def test_current_boot_value_needs_no_reboot(cli: CommandLine) -> None:
    (cli.folder / "f.toml").write_text(SWEEP)
    answer = cli("sweep", "f.toml", "--json", "--disturbed-above", "never")
    assert answer.status == 0, answer.err
    assert "requires a reboot" not in answer.err
    study = answer.document["study"]
    assert answer.document["switching"]["boot_count"] == 1
    shown = cli("study", "show", study, "--json").document
    grants = [sample["settings"][NAME] for sample in shown["samples"]]
    assert {grant["status"] for grant in grants} == {"granted"}
    assert all("no assay_test in /proc/cmdline" in grant["observed"] for grant in grants)
    assert cli("study", "export", study, "--bundle", "b.zip").status == 0
    assert cli("study", "verify", "b.zip").status == 0


def test_launch_in_other_boot_is_refused(cli: CommandLine) -> None:
    answer = cli("run", "--with", f"{NAME}=7", "--", "true")
    assert answer.status == 125
    assert f"{NAME}=7 requires another boot" in answer.err


def test_run_reports_boot_setting(assay_exec: Path, tmp_path: Path) -> None:
    file = tmp_path / "shown"
    file.write_text("1\n")
    path = str(file)
    booted = RequiredBoot(
        setting=NAME, requirement=NAME, observed="seen", files={path: "1"}, effect_observed=True
    )
    plan = Plan(configuration=Configuration({NAME: 7}), actions=(booted,))
    workload = Workload(argv=("sh", "-c", f"echo 0 > {shlex.quote(path)}"))
    with applied_system_settings(plan, builtin(), assay_exec, print) as look:
        ready = Ready(Driver(assay_exec, os.environ), plan, workload, read_system_files=look)
        facts, around = _launch(ready, _ReadingOptions(None, None))
    assert (facts.system_files, facts.changed_system_files) == ({path: "1"}, {path: "0"})
    assert [(one.kind, one.note) for one in around] == [(DRIFT, f"{path}: 1 became 0")]
    grant = judge_all(plan.configuration, builtin(), plan, facts)[NAME]
    assert grant.status is GrantStatus.DEGRADED
    assert f"{path} was '1'" in (grant.reason or "")


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--confirm", "nice=5"), "requires no reboot"),
        (("--confirm", "boot.nosmt=on"), "is read from the machine"),
        (("--confirm", "firmware.fan"), "invalid word"),
        (("--verify", "firmware.fan=low"), "neither a file nor a command"),
        (("--verify", "firmware.fan=!'"), "No closing quotation"),
        (("--reboot-command", "'"), "No closing quotation"),
    ],
)
def test_invalid_boot_options_are_refused(
    cli: CommandLine, words: tuple[str, ...], message: str
) -> None:
    answer = cli("compare", *ARMS, *words, *COMMAND)
    assert answer.status == 2
    assert message in answer.err
    assert cli("study", "list", "--json").document["studies"] == []
