"""Inputs of every launch that are removed, with the real launcher."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.executors.local import LocalExecutor
from assay.executors.missing_inputs import MissingInputError, demand_folder
from assay.executors.parallel import ParallelExecutor
from assay.host.changes import ActionOutcome as Applied
from assay.launch.driver import Driver, find_launcher
from assay.records import DEFAULT, Launch, Outcome, Plan, Stage, Workload
from assay.records.action import SystemAction
from assay.records.workload import Hooks
from assay.settings.registry import builtin

LAUNCH = Launch(configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0)
PLAN = Plan(configuration=DEFAULT)


def executor_of(workload: Workload) -> LocalExecutor:
    return LocalExecutor(
        workload, Driver(find_launcher(os.environ), os.environ), builtin(), speed=False
    )


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "input").write_text("x")
    return Workload(argv=(sys.executable, "-c", ""), cwd=str(folder), stdin=str(tmp_path / "input"))


def launched(executor: LocalExecutor) -> Outcome:
    executor.submit(LAUNCH, PLAN)
    (sample,) = executor.poll(None)
    return sample.outcome


@pytest.mark.parametrize("what", ["folder", "input"])
def test_missing_input_is_named_and_launches_resume_once_it_is_back(
    what: str, workload: Workload
) -> None:
    assert workload.cwd is not None
    assert workload.stdin is not None
    place, said = {
        "folder": (Path(workload.cwd), "The working folder"),
        "input": (Path(workload.stdin), "The input"),
    }[what]
    aside = place.with_name("aside")
    with executor_of(workload) as executor:
        assert launched(executor) is Outcome.OK
        place.rename(aside)
        with pytest.raises(MissingInputError, match=f"{said} {place} is missing") as caught:
            launched(executor)
        assert caught.value.path == str(place)
        assert "assay study resume" in str(caught.value.remedy)
        aside.rename(place)
        assert launched(executor) is Outcome.OK


def test_a_cleaned_up_folder_for_the_output_is_made_anew_or_named(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with executor_of(workload) as executor:
        assert launched(executor) is Outcome.OK
        shutil.rmtree(executor.output.parent)
        assert launched(executor) is Outcome.OK
        shutil.rmtree(place)
        with pytest.raises(
            MissingInputError, match=f"output {executor.output.parent} is missing"
        ) as caught:
            launched(executor)
    assert "TMPDIR" in str(caught.value.remedy)


def test_a_study_whose_folder_is_missing_is_told_so_before_anything_else(
    workload: Workload,
) -> None:
    demand_folder(workload.cwd)
    demand_folder(None)
    assert workload.cwd is not None
    Path(workload.cwd).rmdir()
    with pytest.raises(NotPossibleError, match="is missing"):
        demand_folder(workload.cwd)


class Told:
    """A hold on system settings that says when it ends."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def hold(self, actions: Iterable[SystemAction]) -> tuple[Applied, ...]:
        return ()

    def read_targets(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        return {}

    def close(self) -> None:
        with self._log.open("a") as log:
            log.write("restored\n")


@pytest.mark.parametrize("interrupted", [False, True])
def test_cleanup_runs_before_system_settings_are_put_back(
    tmp_path: Path, interrupted: bool
) -> None:
    log = tmp_path / "log"
    hooks = Hooks(cleanup=("sh", "-c", f"echo cleaned >> {log}"))
    workload = Workload(argv=("true",), cwd=str(tmp_path), hooks=hooks)
    driver = Driver(find_launcher(os.environ), os.environ)
    executor = LocalExecutor(workload, driver, builtin(), speed=False, system=Told(log))
    with contextlib.suppress(KeyboardInterrupt), executor:
        assert launched(executor) is Outcome.OK
        if interrupted:
            raise KeyboardInterrupt
    assert log.read_text() == "cleaned\nrestored\n"


def log_words(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


@pytest.mark.parametrize("interrupted", [False, True])
def test_cleanup_runs_before_settings_are_put_back_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    """Also after launches that are under way in every slot, which end before it."""
    log = tmp_path / "log"
    monkeypatch.setattr("assay.executors.parallel.system_holder", lambda launcher: Told(log))
    hooks = Hooks(cleanup=("sh", "-c", f"echo cleaned >> {log}"))
    ending = f"trap 'sleep 0.$((6 - 5 * ASSAY_SLOT)); echo ended >> {log}; exit' TERM"
    program = ("sh", "-c", f"{ending}; echo began >> {log}; while :; do sleep 0.01; done")
    argv = program if interrupted else ("true",)
    workload = Workload(argv=argv, cwd=str(tmp_path), hooks=hooks)
    driver = Driver(find_launcher(os.environ), os.environ)
    slots = (tuple(sorted(os.sched_getaffinity(0))),) * 2
    with contextlib.closing(ParallelExecutor(workload, driver, builtin(), slots)) as lanes:
        for slot in range(2):
            lanes.submit(msgspec.structs.replace(LAUNCH, cpu_slot=slot), PLAN)
        end = time.monotonic() + 10
        while interrupted and log_words(log).count("began") < 2 and time.monotonic() < end:
            time.sleep(0.01)
    launches = ["began"] * 2 + ["ended"] * 2 if interrupted else []
    assert log_words(log) == [*launches, "cleaned", "restored", "restored"]
