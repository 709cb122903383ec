"""Commands around the launches."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from assay.errors import WorkloadFailedError
from assay.executors.hooks.runner import DEFAULT_TIMEOUT_S, MIN_TIMEOUT_S, HookRunner
from assay.records import Hooks, Workload


def appending(folder: Path, word: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"open({str(folder / 'log')!r}, 'a').write('{word} ')")


def hooking(folder: Path, **commands: tuple[str, ...]) -> HookRunner:
    workload = Workload(argv=("true",), cwd=str(folder), hooks=Hooks(**commands))
    return HookRunner(workload, os.environ)


def test_each_runs_when_it_is_due(tmp_path: Path) -> None:
    found = hooking(
        tmp_path, **{n: appending(tmp_path, n) for n in ("setup", "prepare", "cleanup")}
    )
    for _ in range(2):
        found.before_launch()
    found.after_last()
    found.after_last()
    assert (tmp_path / "log").read_text() == "setup prepare prepare cleanup "


def test_nothing_is_cleaned_up_that_was_not_begun(tmp_path: Path) -> None:
    hooking(tmp_path, cleanup=appending(tmp_path, "cleanup")).after_last()
    assert not (tmp_path / "log").exists()


def test_they_run_in_the_folder_of_the_workload(tmp_path: Path) -> None:
    write = (sys.executable, "-c", "open('here', 'w')")
    hooking(tmp_path, prepare=write).before_launch()
    assert (tmp_path / "here").exists()


def test_a_failure_names_the_option_and_shows_the_last_words(tmp_path: Path) -> None:
    broken = (sys.executable, "-c", "import sys; print('no disc', file=sys.stderr); sys.exit(3)")
    with pytest.raises(WorkloadFailedError, match=r"--prepare ended with status 3.\n    no disc"):
        hooking(tmp_path, prepare=broken).before_launch()


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFailedError, match=r"--setup cannot be run.*/no/such"):
        hooking(tmp_path, setup=("/no/such",)).before_launch()


def test_a_command_that_is_not_there_was_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFailedError) as error:
        hooking(tmp_path, prepare=("/no/such",)).before_launch()
    assert error.value.exit_status == 2


FAMILY = """
import subprocess, sys, time
inner = "open({log!r}, 'a').write('begun '); import time; time.sleep(600)"
subprocess.Popen([sys.executable, "-c", inner], start_new_session=True)
print("waiting for a lock", flush=True)
time.sleep(600)
"""


def hanging(folder: Path) -> tuple[str, ...]:
    """With a grandchild in a session of its own."""
    return (sys.executable, "-c", FAMILY.format(log=str(folder / "log")))


def in_folder(folder: Path) -> list[str]:
    """Command lines of the processes that run there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def left_in(folder: Path, within_s: float = 20.0) -> list[str]:
    """The same once those that were killed have had time to go."""
    end = time.monotonic() + within_s
    while (found := in_folder(folder)) and time.monotonic() < end:
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("name", ["setup", "prepare", "cleanup"])
def test_hanging_hook_is_ended_with_its_tree_and_named(tmp_path: Path, name: str) -> None:
    workload = Workload(argv=("true",), cwd=str(tmp_path), hooks=Hooks(**{name: hanging(tmp_path)}))
    found = HookRunner(workload, os.environ, left_s=lambda: 0.5, min_timeout_s=0.0)
    with pytest.raises(WorkloadFailedError, match=rf"--{name} took longer than 500 ms") as error:
        found.before_launch()
        found.after_last()
    assert "waiting for a lock" in error.value.cause
    assert left_in(tmp_path) == []


def longest_s(name: str, left_s: float | None, timeout_s: float | None = None) -> float:
    """Return the time limit of a hook, in seconds."""
    workload = Workload(argv=("true",), timeout_s=timeout_s, hooks=Hooks(**{name: ("true",)}))
    asked: list[float] = []

    class Noted(HookRunner):
        def _status(
            self, argv: tuple[str, ...], output: object, limit_s: float, env: object
        ) -> int:
            asked.append(limit_s)
            return 0

    found = Noted(workload, os.environ, left_s=lambda: left_s)
    found.before_launch()
    found.after_last()
    (limit_s,) = asked
    return limit_s


@pytest.mark.parametrize("name", ["setup", "prepare", "cleanup"])
def test_each_may_take_what_is_left_of_the_budget(name: str) -> None:
    assert longest_s(name, 300.0) == 300.0
    assert longest_s(name, None) == DEFAULT_TIMEOUT_S
    assert longest_s(name, -2.0) == MIN_TIMEOUT_S


def test_a_preparation_may_take_as_long_as_a_launch_and_a_minute_at_least() -> None:
    assert longest_s("prepare", 1000.0, timeout_s=90.0) == 90.0
    assert longest_s("prepare", 1000.0, timeout_s=1.0) == MIN_TIMEOUT_S
    assert longest_s("setup", 1000.0, timeout_s=90.0) == 1000.0


def test_an_interrupted_one_is_ended_with_its_tree(tmp_path: Path) -> None:
    """As when SIGTERM comes for assay alone: nobody else ends what it started."""
    workload = Workload(argv=("true",), cwd=str(tmp_path), hooks=Hooks(setup=hanging(tmp_path)))
    begun = threading.Event()

    def interrupt() -> None:
        while not (tmp_path / "log").exists():
            time.sleep(0.01)
        begun.set()
        os.kill(os.getpid(), signal.SIGUSR1)

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, stop)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            HookRunner(workload, os.environ).before_launch()
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    assert begun.is_set()
    assert left_in(tmp_path) == []
