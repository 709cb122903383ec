"""assay-exec with several instances of a program: started, watched and ended together."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import MIB, Launcher, groups_named, processes_with, wait_until

from assay.launch.running import request_forwarding

CPUS = sorted(os.sched_getaffinity(0))
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
BOTH_WAYS = [pytest.param("auto", marks=pytest.mark.system), "none"]


@pytest.fixture
def token() -> Iterator[str]:
    """Provide a word for command lines; afterwards no process may have it."""
    word = f"token-{uuid.uuid4().hex}"
    yield word
    left = processes_with(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def team(folder: Path, count: int = 2, **keys: Any) -> list[dict[str, Any]]:
    """Return instances with a number and outputs of their own."""
    return [
        {
            "env_set": {"NUMBER": str(i)},
            "stdout": str(folder / f"out.{i}"),
            "stderr": str(folder / f"err.{i}"),
            **keys,
        }
        for i in range(count)
    ]


def outputs(folder: Path, count: int = 2) -> list[str]:
    return [(folder / f"out.{i}").read_text() for i in range(count)]


def test_each_instance_has_own_environment(launcher: Launcher, tmp_path: Path) -> None:
    instances = team(tmp_path, 3)
    instances[2]["argv"] = ["sh", "-c", "echo other $NUMBER $ALL; echo wrong >&2"]
    record = launcher.run(
        ["sh", "-c", "echo mine $NUMBER $ALL"], env_set={"ALL": "3"}, instances=instances
    )
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert outputs(tmp_path, 3) == ["mine 0 3\n", "mine 1 3\n", "other 2 3\n"]
    assert (tmp_path / "err.2").read_text() == "wrong\n"
    assert [one["exit_status"] for one in record["instances"]] == [0, 0, 0]
    assert "first_failed_instance" not in record
    assert len({one["pid"] for one in record["instances"]}) == 3


@two_cpus
def test_each_instance_keeps_its_cpus_and_is_read_back(launcher: Launcher, tmp_path: Path) -> None:
    instances = [
        one | {"affinity": [cpu]} for one, cpu in zip(team(tmp_path), CPUS[:2], strict=True)
    ]
    look = "import os; print(sorted(os.sched_getaffinity(0)))"
    record = launcher.run([sys.executable, "-c", look], instances=instances)
    assert outputs(tmp_path) == [f"[{cpu}]\n" for cpu in CPUS[:2]]
    assert [one["cpus"] for one in record["instances"]] == [[cpu] for cpu in CPUS[:2]]
    assert record["host"]["cpus"] == 2
    assert {"step": "affinity", "ok": True} in record["applied"]


def test_time_covers_all_instances_and_each(launcher: Launcher, tmp_path: Path) -> None:
    instances = team(tmp_path)
    instances[0]["argv"] = ["sleep", "0.1"]
    instances[1]["argv"] = ["sleep", "0.4"]
    record = launcher.run(["unused"], instances=instances)
    short, long = (one["wall_s"] for one in record["instances"])
    assert 0.1 <= short < long <= record["wall_s"]
    assert long >= 0.4


def test_instances_start_together(launcher: Launcher, tmp_path: Path) -> None:
    """If one instance cannot be set up, no program has run."""
    instances = team(tmp_path, 3)
    instances[2]["env_set"] = {"NUMBER": "2", "PATH": os.environ["PATH"]}
    mark = tmp_path / "ran"
    limits = [{"resource": "nofile", "soft": 10**9, "hard": 10**9}]  # above fs.nr_open
    record = launcher.run(["touch", mark], instances=instances, rlimits=limits)
    assert record["outcome"] == "setup_failed"
    assert record["stage"] == "rlimits.nofile"
    assert record["message"].startswith("instance ")
    assert not mark.exists()
    assert "wall_s" not in record


def test_missing_program_is_reported(launcher: Launcher, tmp_path: Path, token: str) -> None:
    instances = team(tmp_path)
    instances[1]["argv"] = ["/nowhere/at/all"]
    record = launcher.run([sys.executable, "-c", "input()", token], instances=instances)
    assert (record["outcome"], record["stage"], record["errno"]) == ("exec_failed", "exec", 2)
    assert record["message"].startswith('instance 1: cannot run "/nowhere/at/all"')
    assert record["first_failed_instance"] == 1


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_failing_instance_ends_all(
    launcher: Launcher, tmp_path: Path, token: str, containment: str
) -> None:
    instances = team(tmp_path, 3)
    instances[1]["argv"] = ["sh", "-c", "exit 9"]
    record = launcher.run(
        ["sh", "-c", f"sleep 60 & exec sleep 60 # {token}"],
        instances=instances,
        containment=containment,
    )
    assert (record["outcome"], record["exit_status"]) == ("exited", 9)
    assert record["first_failed_instance"] == 1
    others = [record["instances"][0], record["instances"][2]]
    assert [(one["signal"], one["killed_after_failure"]) for one in others] == [(9, True)] * 2
    assert record["containment"].get("surviving_processes", 0) == 0


def test_signalled_instance_ends_all(launcher: Launcher, tmp_path: Path) -> None:
    instances = team(tmp_path)
    instances[0]["argv"] = ["sh", "-c", "kill -SEGV $$"]
    record = launcher.run(["sleep", "60"], instances=instances)
    assert (record["outcome"], record["signal"]) == ("signaled", signal.SIGSEGV)
    assert record["first_failed_instance"] == 0


@pytest.mark.parametrize("containment", BOTH_WAYS)
def test_time_limit_ends_all_instances(
    launcher: Launcher, tmp_path: Path, token: str, containment: str
) -> None:
    instances = team(tmp_path)
    instances[0]["argv"] = ["true"]
    record = launcher.run(
        [sys.executable, "-c", "import time; time.sleep(60)", token],
        instances=instances,
        timeout_s=0.5,
        containment=containment,
    )
    assert record["outcome"] == "timed_out"
    assert record["wall_s"] >= 0.5
    ended, cut_short = record["instances"]
    assert ended["exit_status"] == 0
    assert "exit_status" not in cut_short and "wall_s" not in cut_short


def test_limits_apply_to_all_instances_together(launcher: Launcher, tmp_path: Path) -> None:
    """Neither instance alone writes as much."""
    write = "import sys, time; sys.stdout.write('x' * 700_000); sys.stdout.flush(); time.sleep(60)"
    record = launcher.run(
        [sys.executable, "-c", write],
        instances=team(tmp_path),
        limits={"output_bytes": MIB},
    )
    assert (record["outcome"], record["limit"]) == ("limit", "output")


LEAVE = [(True, number) for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN)]


@pytest.mark.parametrize(("leave", "number"), [*LEAVE, (False, signal.SIGTERM)])
def test_signals_reach_all_instances(
    launcher: Launcher, tmp_path: Path, token: str, leave: bool, number: int
) -> None:
    """A signal ends all; with `leave`, each instance ends in its own way."""
    program = (
        "import os, signal, sys, time\n"
        "def end(*_):\n"
        "    time.sleep(0.2 + 0.2 * int(os.environ['NUMBER']))\n"
        "    print('clean', flush=True)\n"
        "    sys.exit(5)\n"
        "signal.signal(int(sys.argv[2]), end)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    plan = launcher.plan(
        [sys.executable, "-c", program, token, int(number)],
        instances=team(tmp_path),
        signals="leave" if leave else "end",
    )
    process, record_fd = launcher.start(plan)

    def ready() -> bool:
        return all((tmp_path / f"out.{i}").exists() for i in range(2)) and all(
            "ready" in text for text in outputs(tmp_path)
        )

    wait_until(ready, "both instances are ready")
    # The signals that a caller passes on with `leave` after it received SIGTERM.
    if leave:
        request_forwarding(process.pid, number)
    else:
        process.send_signal(number)
    record, _ = launcher.finish((process, record_fd))
    if leave:
        assert (record["outcome"], record["exit_status"]) == ("exited", 5)
        assert outputs(tmp_path) == ["ready\nclean\n"] * 2
    else:
        assert record["outcome"] == "interrupted"
        assert outputs(tmp_path) == ["ready\n"] * 2


def test_no_instance_outlives_launcher(launcher: Launcher, tmp_path: Path, token: str) -> None:
    """After such a kill, the supervisor ends the whole tree."""
    plan = launcher.plan(
        [sys.executable, "-c", "import time; time.sleep(60)", token], instances=team(tmp_path)
    )
    process, record_fd = launcher.start(plan)
    wait_until(lambda: len(processes_with(token)) == 2, "both instances run")
    process.kill()
    process.communicate()
    wait_until(lambda: not processes_with(token), "the instances are ended")
    os.close(record_fd)
    if name := plan.get("cgroup_name"):
        wait_until(lambda: not groups_named(name), "its control group is removed")


def test_no_instance_outlives_leader(launcher: Launcher, tmp_path: Path, token: str) -> None:
    plan = launcher.plan(
        [sys.executable, "-c", "import time; time.sleep(60)", token], instances=team(tmp_path)
    )
    started = launcher.start(plan)
    wait_until(lambda: len(processes_with(token)) == 2, "both instances run")
    stat = Path(f"/proc/{processes_with(token)[0]}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
    record, _ = launcher.finish(started)
    assert (record["outcome"], record["signal"]) == ("signaled", signal.SIGKILL)
    assert not processes_with(token)


def test_instances_do_not_signal_one_another(launcher: Launcher, tmp_path: Path) -> None:
    """Each has a process group of its own where the plan asks for one: `kill 0` ends one."""
    instances = team(tmp_path)
    instances[0]["argv"] = ["sh", "-c", "trap '' TERM; kill 0; sleep 0.3; echo left"]
    instances[1]["argv"] = ["sh", "-c", "sleep 0.3; echo left"]
    record = launcher.run(["unused"], instances=instances, process_group="own")
    assert outputs(tmp_path) == ["left\n"] * 2
    assert record["exit_status"] == 0


def test_read_back_excludes_leader(launcher: Launcher, tmp_path: Path) -> None:
    record = launcher.run(
        [sys.executable, "-c", "import time; time.sleep(0.5)"],
        instances=team(tmp_path),
        readback=["status", "environ", "threads", "maps"],
        environ_names=["NUMBER"],
    )
    seen = record["readback"]
    assert (seen["processes_peak"], seen["threads_peak"]) == (2, 2)
    assert seen["environ"]["NUMBER"] in ("0", "1")
    assert not any("assay-exec" in path for path in seen["maps"])


def test_counters_cover_instances_only(launcher: Launcher, tmp_path: Path) -> None:
    """Counts cover both instances, and nothing before their exec."""
    record = launcher.run(
        ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"],
        instances=team(tmp_path),
        counters=["task_clock_s"],
    )
    if "counters" not in record:
        pytest.skip(record["unavailable"]["counters.task_clock_s"])
    used = sum(one["user_s"] + one["sys_s"] for one in record["instances"])
    assert record["counters"]["task_clock_s"]["value"] == pytest.approx(used, rel=0.3, abs=0.02)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_refused_clone3_falls_back(launcher: Launcher, programs: Path, tmp_path: Path) -> None:
    """Container run-times with an old profile refuse it."""
    plan = launcher.plan(["sh", "-c", "echo $NUMBER"], instances=team(tmp_path))
    record, _ = launcher.run_plan(plan, prefix=(programs / "noclone3",))
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert outputs(tmp_path) == ["0\n", "1\n"]


def test_input_is_read_by_each_instance(launcher: Launcher, tmp_path: Path) -> None:
    """Each instance reads the input from its beginning."""
    given = tmp_path / "in"
    given.write_text("one\ntwo\n")
    launcher.run(["cat"], instances=team(tmp_path, 3), stdin=str(given))
    assert outputs(tmp_path, 3) == ["one\ntwo\n"] * 3


def test_many_instances_start(launcher: Launcher, tmp_path: Path) -> None:
    began = time.monotonic()
    record = launcher.run(["sh", "-c", "echo $NUMBER"], instances=team(tmp_path, 60))
    assert [one["exit_status"] for one in record["instances"]] == [0] * 60
    assert outputs(tmp_path, 60) == [f"{i}\n" for i in range(60)]
    assert record["wall_s"] < time.monotonic() - began


@pytest.mark.parametrize(
    ("instances", "more", "message"),
    [
        ([], {}, "instances: must contain at least one instance"),
        ([{}] * 1025, {}, "instances: must contain at most 1024"),
        ([{"nice": 1}], {}, "instances[0].nice"),
        ([{}, {"argv": []}], {}, "instances[1].argv: does not name a program"),
        ([{"affinity": [65000]}], {}, "instances[0].affinity"),
        ([{}], {"stdout": "/dev/null"}, "instances: set stdout and stderr for each instance"),
        ([{}], {"limits": {"output_bytes": 5}}, "limits.output_bytes"),
    ],
)
def test_invalid_plans_are_refused(
    launcher: Launcher, instances: list[Any], more: dict[str, Any], message: str
) -> None:
    record, done = launcher.run_plan(launcher.plan(["true"], instances=instances, **more))
    assert record["outcome"] == "bad_plan"
    assert record["message"].startswith(message)
    assert done.returncode == 125


def test_unwritable_file_is_reported(launcher: Launcher, tmp_path: Path) -> None:
    instances = team(tmp_path)
    instances[1]["stderr"] = "/nowhere/at/all/err"
    record = launcher.run(["true"], instances=instances)
    assert (record["outcome"], record["stage"], record["errno"]) == ("setup_failed", "stderr", 2)
