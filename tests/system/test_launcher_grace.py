"""Launches that must end early receive a request before they are killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from launching import Launcher, Record, processes_with, wait_until
from tidy import TIDY, lines, tidy

pytestmark = pytest.mark.system


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_program_cleans_up_at_time_limit(launcher: Launcher, log: Path) -> None:
    record = launcher.run(tidy(log, 0.2), timeout_s=0.5, grace_s=20)
    assert record["outcome"] == "timed_out"
    assert lines(log) == ["ready", "asked", "tidy"]
    asked = record["graceful_stop"]
    assert (asked["method"], asked["killed"]) == ("SIGTERM", False)
    assert 0.2 <= asked["duration_s"] < 20
    assert 0.5 <= record["wall_s"] < 0.5 + asked["duration_s"], "the time to end in is none of it"


def test_program_is_killed_after_grace_period(launcher: Launcher, log: Path) -> None:
    record = launcher.run(tidy(log, 60), timeout_s=0.5, grace_s=0.5)
    assert (record["outcome"], record["signal"]) == ("timed_out", signal.SIGKILL)
    assert lines(log) == ["ready", "asked"]
    assert record["graceful_stop"]["killed"] is True
    assert record["graceful_stop"]["duration_s"] >= 0.5


def test_program_without_grace_period_is_killed_immediately(launcher: Launcher, log: Path) -> None:
    record = launcher.run(tidy(log, 0.1), timeout_s=0.5)
    assert record["signal"] == signal.SIGKILL
    assert lines(log) == ["ready"]
    assert "graceful_stop" not in record


def test_remaining_tree_has_grace_period(launcher: Launcher, log: Path) -> None:
    """The program ends at once, its worker later, in a session of its own."""
    worker = TIDY.format(log=log, s=0.5)
    record = launcher.run(
        ["sh", "-c", 'setsid sh -c "$0" & exec sleep 60', worker], timeout_s=0.5, grace_s=20
    )
    assert lines(log) == ["ready", "asked", "tidy"]
    assert record["graceful_stop"]["duration_s"] >= 0.5
    assert record["graceful_stop"]["killed"] is False


def test_stopped_program_receives_request(launcher: Launcher, log: Path) -> None:
    stopped = TIDY.format(log=log, s=0).replace("while :", "kill -STOP $$; while :")
    launcher.run(["sh", "-c", stopped], timeout_s=0.5, grace_s=20)
    assert lines(log)[-1] == "tidy"


def test_stop_command_replaces_sigterm(launcher: Launcher, log: Path) -> None:
    stop = ["sh", "-c", f"echo stop >> {log}; kill -USR1 $ASSAY_PID"]
    program = f"trap 'echo usr1 >> {log}; exit' USR1; trap 'echo term >> {log}' TERM; "
    record = launcher.run(
        ["sh", "-c", program + "while :; do sleep 0.02; done"], timeout_s=0.5, grace_s=20, stop=stop
    )
    assert lines(log) == ["stop", "usr1"]
    assert record["graceful_stop"]["method"] == "command"
    assert record["graceful_stop"]["exit_status"] == 0


@pytest.mark.parametrize(
    ("stop", "status"), [(["false"], 1), (["no-such-program"], 127)], ids=["fails", "missing"]
)
def test_sigterm_replaces_failed_stop_command(
    launcher: Launcher, log: Path, stop: list[str], status: int
) -> None:
    record = launcher.run(tidy(log, 0), timeout_s=0.5, grace_s=20, stop=stop)
    assert lines(log) == ["ready", "asked", "tidy"]
    assert record["graceful_stop"]["exit_status"] == status


def test_hanging_stop_command_is_killed_with_program(launcher: Launcher, log: Path) -> None:
    token = f"37.{os.getpid()}"
    record = launcher.run(tidy(log, 0), timeout_s=0.5, grace_s=0.5, stop=["sleep", token])
    assert record["graceful_stop"]["killed"] is True
    assert lines(log) == ["ready"]
    assert not processes_with(token)


def interrupted(
    launcher: Launcher, log: Path, *signals: signal.Signals, s: float, apart_s: float = 0.0
) -> Record:
    started = launcher.start(launcher.plan(tidy(log, s), grace_s=30))
    wait_until(lambda: lines(log) == ["ready"], "the program runs")
    for place, number in enumerate(signals):
        if place:
            wait_until(lambda: "asked" in lines(log), "it is asked to end")
            time.sleep(apart_s)
        started[0].send_signal(number)
    return launcher.finish(started)[0]


def test_interrupt_requests_end(launcher: Launcher, log: Path) -> None:
    record = interrupted(launcher, log, signal.SIGINT, s=0.2)
    assert (record["outcome"], record["interrupted_by"]) == ("interrupted", signal.SIGINT)
    assert lines(log) == ["ready", "asked", "tidy"]


def test_second_interrupt_kills_program(launcher: Launcher, log: Path) -> None:
    record = interrupted(launcher, log, signal.SIGINT, signal.SIGINT, s=60, apart_s=1.0)
    assert record["graceful_stop"]["killed"] is True
    assert record["graceful_stop"]["duration_s"] < 30


def test_repeated_request_does_not_kill(launcher: Launcher, log: Path) -> None:
    """A terminal and the caller, or a batch system, send several."""
    record = interrupted(launcher, log, signal.SIGINT, signal.SIGTERM, signal.SIGSYS, s=0.5)
    assert record["graceful_stop"]["killed"] is False
    assert lines(log)[-1] == "tidy"


def test_signal_to_whole_job_counts_once(launcher: Launcher, log: Path) -> None:
    """systemd and batch systems signal all processes."""
    started = launcher.start(launcher.plan(tidy(log, 0.3), grace_s=30))
    wait_until(lambda: lines(log) == ["ready"], "the program runs")
    front = started[0].pid
    for pid in (front, *map(int, Path(f"/proc/{front}/task/{front}/children").read_text().split())):
        os.kill(pid, signal.SIGTERM)
    record, _ = launcher.finish(started)
    assert record["graceful_stop"]["killed"] is False
    assert lines(log) == ["ready", "asked", "tidy"]


@pytest.mark.parametrize("stop", [(), ("sh", "-c", "kill $ASSAY_PID")], ids=["signal", "command"])
def test_each_instance_is_signalled_once(
    launcher: Launcher, tmp_path: Path, stop: tuple[str, ...]
) -> None:
    logs = [tmp_path / f"log{number}" for number in range(2)]
    plan = launcher.plan(["sh"], timeout_s=0.6, grace_s=20)
    plan["instances"] = [{"argv": tidy(log, s)} for log, s in zip(logs, (0.0, 0.4), strict=True)]
    record, _ = launcher.run_plan(plan | ({"stop": list(stop)} if stop else {}))
    assert [lines(log) for log in logs] == [["ready", "asked", "tidy"]] * 2
    assert record["outcome"] == "timed_out"
    assert record["graceful_stop"]["killed"] is False
    assert record["graceful_stop"]["duration_s"] >= 0.4
    assert 0.6 <= record["wall_s"] < 0.6 + record["graceful_stop"]["duration_s"]


def test_limits_apply_during_grace_period(launcher: Launcher, tmp_path: Path) -> None:
    dumping = "trap 'yes' TERM; while :; do sleep 0.02; done"
    record = launcher.run(
        ["sh", "-c", dumping],
        stdout=str(tmp_path / "dump"),
        limits={"output_bytes": 1 << 20},
        timeout_s=0.3,
        grace_s=30,
    )
    assert record["outcome"] == "timed_out", "the first reason stands"
    assert record["graceful_stop"]["killed"] is True
    assert record["graceful_stop"]["duration_s"] < 20


def test_killed_launcher_ends_grace_period(launcher: Launcher, log: Path) -> None:
    token = f"57.{os.getpid()}"
    program = ["sh", "-c", f"trap '' TERM; echo ready >> {log}; sleep {token}; :"]
    started = launcher.start(launcher.plan(program, grace_s=60))
    wait_until(lambda: lines(log) == ["ready"] and bool(processes_with(token)), "it runs")
    started[0].kill()
    wait_until(lambda: not processes_with(token), "it is killed")
    os.close(started[1])
    started[0].communicate()


def test_killed_caller_ends_grace_period(launcher: Launcher, log: Path, tmp_path: Path) -> None:
    token = f"47.{os.getpid()}"
    plan = launcher.plan(["sh", "-c", f"trap '' TERM; echo ready >> {log}; sleep {token}; :"])
    shell = ["sh", "-c", '"$@" & wait', "sh"]
    caller, record_fd = launcher.start({**plan, "grace_s": 60}, prefix=tuple(shell))
    os.close(record_fd)
    wait_until(lambda: lines(log) == ["ready"] and bool(processes_with(token)), "it runs")
    caller.kill()
    caller.communicate()
    wait_until(lambda: not processes_with(token), "it is killed")
