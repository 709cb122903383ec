"""Progress channel of assay-exec: programs that reach it, and files that no record reaches."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher, processes_with, wait_until
from reporting_channel import PYTHONPATH, Channel, reported

VARIABLES = ("ASSAY_PROGRESS_FD", "ASSAY_PROGRESS_INODE", "ASSAY_PROGRESS_PATH")
SHOW = ["sh", "-c", "env | grep ^ASSAY_PROGRESS_ | sort"]
REPORT = "import assay; assay.progress(step={step})"


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Channel]:
    with Channel(tmp_path / "progress") as found:
        yield found


def shown(launcher: Launcher, **keys: Any) -> dict[str, str]:
    """Return the variables of the channel, in the environment of a program."""
    text = launcher.output(SHOW, **keys)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_variables_name_the_channel(launcher: Launcher, channel: Channel) -> None:
    found = shown(launcher, **channel.key)
    assert set(found) == set(VARIABLES)
    assert 10 <= int(found["ASSAY_PROGRESS_FD"]) <= 63
    state = channel.path.stat()
    device, inode = found["ASSAY_PROGRESS_INODE"].split(":")
    assert (int(device), int(inode)) == (state.st_dev, state.st_ino)
    assert found["ASSAY_PROGRESS_PATH"] == str(channel.path)


def test_length_of_environment_is_constant(launcher: Launcher, tmp_path: Path) -> None:
    lengths = set()
    for number in range(3):
        (tmp_path / f"filler-{number}").touch()  # another inode
        with Channel(tmp_path / f"fifo-{number}") as channel:
            found = shown(launcher, **channel.key)
        lengths.add(tuple(len(found[name]) for name in VARIABLES))
    assert len(lengths) == 1


def test_launch_without_channel_has_no_variables(launcher: Launcher) -> None:
    assert launcher.output(["sh", "-c", "env | grep ^ASSAY_PROGRESS_ || true"]) == ""


def test_number_of_an_inherited_file_is_not_taken(launcher: Launcher, channel: Channel) -> None:
    """The pipe of ``make -j`` may have any number."""
    occupied = ("bash", "-c", 'exec 63</dev/null; exec "$@"', "bash")
    plan = launcher.plan(["sh", "-c", "env; readlink /proc/self/fd/63"], **channel.key)
    _, done = launcher.run_plan(plan, prefix=occupied)
    lines = done.stdout.decode().splitlines()
    assert "ASSAY_PROGRESS_FD=62" in lines
    assert lines[-1] == "/dev/null"


def test_number_is_below_the_limit_of_open_files(launcher: Launcher, channel: Channel) -> None:
    limited = ("bash", "-c", 'ulimit -n 40; exec "$@"', "bash")
    plan = launcher.plan(["sh", "-c", "env"], **channel.key)
    _, done = launcher.run_plan(plan, prefix=limited)
    assert "ASSAY_PROGRESS_FD=39" in done.stdout.decode().splitlines()


def test_program_reports_without_a_free_number(launcher: Launcher, channel: Channel) -> None:
    occupy = (
        "import os, sys\n"
        "for number in range(10, 64):\n"
        "    try:\n"
        "        os.fstat(number)\n"
        "    except OSError:\n"
        "        os.dup2(0, number)\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    argv = [sys.executable, "-c", REPORT.format(step=1)]
    plan = launcher.plan(argv, env_set=PYTHONPATH, **channel.key)
    record, _ = launcher.run_plan(plan, prefix=(sys.executable, "-c", occupy), close_fds=True)
    assert record["exit_status"] == 0
    assert channel.steps() == [1]


def test_standard_output_remains_blocking(launcher: Launcher, channel: Channel) -> None:
    look = "import assay, os; assay.progress(step=1); print([os.get_blocking(fd) for fd in (1, 2)])"
    out = launcher.output([sys.executable, "-c", look], env_set=PYTHONPATH, **channel.key)
    assert out == "[True, True]\n"
    assert channel.steps() == [1]


def test_channel_is_no_channel(launcher: Launcher, tmp_path: Path) -> None:
    fifo = tmp_path / "unread"
    os.mkfifo(fifo)
    plain = tmp_path / "plain"
    plain.write_text("kept")
    for path, words in (
        (fifo, "a process must have opened the FIFO for reading"),
        (plain, "is not a FIFO"),
        (tmp_path / "missing", "No such file"),
    ):
        record = launcher.run(["true"], progress=str(path))
        assert (record["outcome"], record["stage"]) == ("setup_failed", "progress")
        assert words in record["message"]
        assert str(path) in record["message"]
    assert plain.read_text() == "kept"


def test_relative_path_is_refused(launcher: Launcher) -> None:
    record = launcher.run(["true"], progress="progress")
    assert record["outcome"] == "bad_plan"
    assert record["message"].startswith("progress: must be an absolute path")


@pytest.mark.parametrize(
    "argv",
    [
        ["bash", "-c", """echo '{"step": 7}' >&$ASSAY_PROGRESS_FD"""],
        ["sh", "-c", """echo '{"step": 7}' >> "$ASSAY_PROGRESS_PATH" """],
        [
            "env",
            "nice",
            "sh",
            "-c",
            "exec bash -c 'echo \\{\\\"step\\\": 7\\} >&$ASSAY_PROGRESS_FD'",
        ],
    ],
    ids=["bash", "sh", "env"],
)
def test_shells_report(launcher: Launcher, channel: Channel, argv: list[str]) -> None:
    reported(launcher, channel, argv)
    assert channel.records() == [{"step": 7}]


CHILDREN = {
    "exec": "import os; os.execv(sys.executable, [sys.executable, '-c', child])",
    "subprocess": "import subprocess; subprocess.run([sys.executable, '-c', child], check=True)",
    "subprocess without closing": (
        "import subprocess; subprocess.run([sys.executable, '-c', child], close_fds=False)"
    ),
    "daemon": (
        "import subprocess; subprocess.run([sys.executable, '-c', child], cwd='/', "
        "start_new_session=True)"
    ),
}


@pytest.mark.parametrize("how", list(CHILDREN))
def test_children_report(launcher: Launcher, channel: Channel, how: str) -> None:
    child = "import assay; assay.progress(step=2, sps=1.5)"
    reported(
        launcher, channel, [sys.executable, "-c", f"import sys; child = {child!r}; {CHILDREN[how]}"]
    )
    (found,) = channel.records()
    assert (found["step"], found["sps"]) == (2, 1.5)


WORKERS = """
import multiprocessing, sys
import assay

def work(number):
    for step in range(1, 4):
        assay.progress(worker=number)

if __name__ == "__main__":
    assay.progress(worker=-1)
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assay.progress(worker=-1)
    sys.exit(any(worker.exitcode for worker in workers))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_report(launcher: Launcher, channel: Channel, tmp_path: Path, method: str) -> None:
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    reported(launcher, channel, [sys.executable, script, method])
    series: dict[int, list[int]] = {}
    for found in channel.records():
        series.setdefault(found["worker"], []).append(found["step"])
    assert series == {-1: [1, 2], 0: [1, 2, 3], 1: [1, 2, 3], 2: [1, 2, 3]}


REUSED = """
import os, sys
import assay
assay.progress(step=1)
number = int(os.environ["ASSAY_PROGRESS_FD"])
os.close(number)
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.dup2(file, number)
assay.progress(step=2)
os.set_blocking(number, False)
assay.progress(step=3)
"""


def test_reused_number_receives_no_record(
    launcher: Launcher, channel: Channel, tmp_path: Path
) -> None:
    file = tmp_path / "file of the user"
    reported(launcher, channel, [sys.executable, "-c", REUSED, file])
    assert channel.steps() == [1, 2, 3]
    assert file.read_bytes() == b""


def test_another_fifo_receives_no_record(
    launcher: Launcher, channel: Channel, tmp_path: Path
) -> None:
    """The path may name another FIFO by then."""
    script = (
        "import assay, os, sys\n"
        "os.close(int(os.environ['ASSAY_PROGRESS_FD']))\n"
        "path = os.environ['ASSAY_PROGRESS_PATH']\n"
        "os.rename(path, path + '.moved')\n"
        "os.mkfifo(path)\n"
        "fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)\n"
        "assay.progress(step=1)\n"
        "try:\n"
        "    sys.exit(len(os.read(fd, 100)))\n"
        "except BlockingIOError:\n"
        "    pass\n"
    )
    reported(launcher, channel, [sys.executable, "-c", script])
    assert channel.lines() == []


FULL = """
import os, sys, time
import assay
from pathlib import Path
folder = Path(sys.argv[1])
for step in range(1, 100_001):
    assay.progress(sps=310.25, loss=0.125)
(folder / "written").touch()
while not (folder / "drained").exists():
    time.sleep(0.01)
assay.progress()
"""


def test_full_pipe_never_blocks(launcher: Launcher, tmp_path: Path) -> None:
    with Channel(tmp_path / "progress") as channel:
        shrink(channel)
        argv = [sys.executable, "-c", FULL, tmp_path]
        started = launcher.start(launcher.plan(argv, env_set=PYTHONPATH, **channel.key))
        wait_until((tmp_path / "written").exists, "100,000 records are reported", 25)
        first = channel.records()
        (tmp_path / "drained").touch()
        record, _ = launcher.finish(started)
        later = channel.records()[len(first) :]
    assert record["exit_status"] == 0
    assert [one["step"] for one in first] == list(range(1, len(first) + 1))
    assert later[-1]["step"] == 100_001
    assert later[0]["dropped"] > 100
    assert all("dropped" not in one for one in (*first, *later[1:]))


def shrink(channel: Channel) -> None:
    """Give a channel the capacity of one page, as for users with many pipes."""
    fcntl.fcntl(channel.fd, fcntl.F_SETPIPE_SZ, 4096)


UNREAD = {
    "python": [
        sys.executable,
        "-c",
        "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "import assay, sys; sys.stdin.read()\n"
        "for step in range(2000): assay.progress()",
    ],
    "python without the descriptor": [
        sys.executable,
        "-c",
        "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "import assay, os, sys; os.close(int(os.environ['ASSAY_PROGRESS_FD']))\n"
        "assay.progress()\n"
        "sys.stdin.read()\n"
        "for step in range(2000): assay.progress()",
    ],
    "bash": [
        "bash",
        "-c",
        "read; for i in {1..9000}; do echo 1234567 >&$ASSAY_PROGRESS_FD; done; true",
    ],
}


@pytest.mark.parametrize("program", list(UNREAD))
def test_program_survives_end_of_reader(
    launcher: Launcher, channel: Channel, tmp_path: Path, program: str
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    holder = os.open(gate, os.O_RDWR)
    plan = launcher.plan(UNREAD[program], stdin=str(gate), env_set=PYTHONPATH, **channel.key)
    started = launcher.start(plan)
    wait_until(lambda: runs(UNREAD[program]), "the program runs")
    channel.close()
    os.close(holder)
    record, _ = launcher.finish(started)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)


def runs(argv: list[str]) -> bool:
    """Return whether a process with these arguments has executed its program."""
    return bool(processes_with(argv[-1]))


def test_records_of_ranks_are_not_torn(launcher: Launcher, tmp_path: Path) -> None:
    """The longest records: four processes write them at the same time."""
    child = (
        "import assay, sys\n"
        "values = {'n' * 4010: 1.0}\n"
        "for step in range(10000, 10400):\n"
        "    assay.progress(step=step, **values)\n"
    )
    script = (
        "import subprocess, sys, os\n"
        "ranks = [subprocess.Popen([sys.executable, '-c', sys.argv[1]], "
        "env={**os.environ, 'RANK': str(rank)}) for rank in range(4)]\n"
        "sys.exit(any([rank.wait() for rank in ranks]))\n"
    )
    with Channel(tmp_path / "progress", drained=True) as channel:
        reported(launcher, channel, [sys.executable, "-c", script, child])
        lines = channel.lines()
        found = channel.records()
    assert {len(line) for line in lines} <= set(range(4060, 4097))
    dropped = dict.fromkeys(range(4), 0)
    steps: dict[int, list[int]] = {rank: [] for rank in range(4)}
    for one in found:
        steps[one["rank"]].append(one["step"])
        dropped[one["rank"]] += one.get("dropped", 0)
        assert one["n" * 4010] == 1.0
    for rank in range(4):
        assert steps[rank] == sorted(set(steps[rank]))
        assert len(steps[rank]) + dropped[rank] <= 400


def test_inner_launch_reports_to_its_own_channel(
    launcher: Launcher, channel: Channel, tmp_path: Path
) -> None:
    with Channel(tmp_path / "inner") as inner:
        plan = tmp_path / "inner.json"
        plan.write_text(
            json.dumps(
                {
                    "argv": [sys.executable, "-c", REPORT.format(step=2)],
                    "containment": "none",
                    **inner.key,
                }
            )
        )
        script = (
            "import assay, subprocess, sys\n"
            "assay.progress(step=1)\n"
            "subprocess.run(sys.argv[1:], check=True, close_fds=False)\n"
            "assay.progress(step=3)\n"
        )
        argv = [sys.executable, "-c", script, launcher.program, "--plan", plan]
        reported(launcher, channel, argv)
        assert inner.steps() == [2]
    assert channel.steps() == [1, 3]


def test_instances_report(launcher: Launcher, channel: Channel, tmp_path: Path) -> None:
    instances: list[Any] = [
        {"env_set": {"ASSAY_INSTANCE": str(number)}, "stdout": str(tmp_path / f"out.{number}")}
        for number in range(3)
    ]
    script = "import assay; [assay.progress() for _ in range(2)]"
    reported(launcher, channel, [sys.executable, "-c", script], instances=instances)
    found = sorted((one["rank"], one["step"]) for one in channel.records())
    assert found == [(rank, step) for rank in range(3) for step in (1, 2)]
