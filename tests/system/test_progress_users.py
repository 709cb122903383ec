"""Progress channel of launches by other launchers: of root for a user, and on standby."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher
from reporting_channel import Channel

from assay.host.journal import STATE_VARIABLE
from assay.launch.driver import Driver
from assay.records import RunFacts
from assay.root_helper.caller import Caller
from assay.root_helper.helper import RootHelper

pytestmark = pytest.mark.system
NOBODY, STRANGER = 65534, 65533
REPORT = ["bash", "-c", "echo $(id -u) >&$ASSAY_PROGRESS_FD; echo path >> $ASSAY_PROGRESS_PATH"]
for_root = pytest.mark.skipif(os.geteuid() != 0, reason="root acts for another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a private folder of an unprivileged user, below one that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        private = Path(name) / "private"
        private.mkdir(mode=0o700)
        os.chown(private, NOBODY, NOBODY)
        yield private


@pytest.fixture
def helper(
    assay_exec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RootHelper]:
    """Return a root helper that works for an unprivileged user."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    found = RootHelper(assay_exec, Caller(NOBODY, NOBODY, (NOBODY,), "nobody", "/"))
    yield found
    found.close()


def facts_of(driver: Driver, argv: list[Any], channel: Channel) -> RunFacts:
    document = {"schema": 2, "argv": argv, "cwd": "/", "parent_pid": os.getpid(), **channel.key}
    with driver.start(document) as running:
        assert running.finished(20.0)
        return running.facts()


@for_root
@pytest.mark.alone
def test_program_of_a_user_reports_under_root(helper: RootHelper, folder: Path) -> None:
    with Channel(folder / "progress") as channel:
        os.chown(channel.path, NOBODY, NOBODY)
        facts = facts_of(Driver(helper, {"PATH": os.environ["PATH"]}), REPORT, channel)
        assert facts.exit_status == 0, facts
        assert channel.lines() == [str(NOBODY).encode(), b"path"]


@for_root
@pytest.mark.alone
def test_launcher_of_root_opens_no_channel_of_another_user(
    helper: RootHelper, folder: Path
) -> None:
    with Channel(folder / "progress") as channel:  # root owns it
        facts = facts_of(Driver(helper, {"PATH": os.environ["PATH"]}), ["true"], channel)
        assert (facts.outcome, facts.stage) == ("setup_failed", "progress")
        assert channel.lines() == []


@for_root
def test_other_user_reports_by_the_descriptor_only(launcher: Launcher, folder: Path) -> None:
    """A program that becomes another user, as by su, keeps its descriptor."""
    become = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    with Channel(folder / "progress") as channel:
        os.chown(channel.path, NOBODY, NOBODY)
        record = launcher.run([*become, *REPORT], **channel.key)
        assert record["exit_status"] == 1  # that of the path
        assert channel.lines() == [str(STRANGER).encode()]


def test_launches_on_standby_report(assay_exec: Path, tmp_path: Path) -> None:
    driver = Driver(assay_exec, os.environ)
    driver.start_standby()
    try:
        for number in range(3):
            with Channel(tmp_path / f"progress-{number}") as channel:
                assert facts_of(driver, REPORT, channel).exit_status == 0
                assert channel.lines() == [str(os.getuid()).encode(), b"path"]
    finally:
        driver.close()
