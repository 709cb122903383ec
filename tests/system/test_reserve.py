"""Launches in a share of a partition, with this host's control groups of version 1."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, CommandLine
from partitions import CPUS, V1, V1_MEMORY, Standing, partition, run_folder, until

NOBODY = 65534
PYTHON = "/usr/bin/python3"
"""A program that every user may run."""
LAST = CPUS[-1]
SHOW = (
    "import json, os; print(json.dumps({'cpus': sorted(os.sched_getaffinity(0)),"
    " 'group': open('/proc/self/cpuset').read().strip(),"
    " 'env': {k: v for k, v in os.environ.items() if 'UTILITY' in k or 'DEVICES' in k}}))"
)
"""Return a program that prints its CPUs."""

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes partitions"),
    pytest.mark.skipif(
        not (V1 / "cpuset.cpus").exists(), reason="the guests try control groups of version 2"
    ),
    pytest.mark.skipif(len(CPUS) < 2, reason="two CPUs are shared out"),
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with run_folder() as folder:
        monkeypatch.setenv("ASSAY_RUN", str(folder))
        yield folder


@pytest.fixture
def work(run: Path, assay_broker: Path) -> Iterator[Standing]:
    """Create a partition of the last CPU."""
    with partition(assay_broker, run, [LAST], gpus="0") as standing:
        yield standing


@pytest.fixture
def both(run: Path, assay_broker: Path) -> Iterator[Standing]:
    """Create a partition of two CPUs."""
    with partition(assay_broker, run, CPUS[:2]) as standing:
        yield standing


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture
def nobodys(assay_exec: Path, run: Path) -> CommandLine:
    """Return the command line of an unprivileged user."""
    folder = run / "nobody"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    launcher = run / "assay-exec"
    shutil.copy(assay_exec, launcher)
    launcher.chmod(0o755)
    user = (*("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),)
    found = CommandLine(launcher, folder, prefix=user, more={"HOME": str(folder)})
    tried = found("settings", "list", timeout_s=30.0)
    if tried.status != 0:
        pytest.skip("this checkout cannot be read by other users")
    return found


def shown(answer: Answer) -> dict[str, Any]:
    assert answer.status == 0, answer.err
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def program(code: str = SHOW) -> tuple[str, ...]:
    return ("--", PYTHON, "-c", code)


def evidence(sample: dict[str, Any], kind: str) -> list[str]:
    return [piece.get("note", "") for piece in sample["evidence"] if piece["kind"] == kind]


# --- one run --------------------------------------------------------------------------------------


def test_run_reserves_and_releases_share(work: Standing, cli: CommandLine) -> None:
    answer = cli("run", "--reserve", "cpus=1,mem=100M", "--record", "r.json", *program())
    where = shown(answer)
    assert where["cpus"] == [LAST]
    assert where["group"] == f"/{work.group.name}/lease-1"
    assert not answer.err
    sample = json.loads((cli.folder / "r.json").read_text())
    (note,) = evidence(sample, "share")
    assert note == f"partition work: CPU {LAST}, 100 MiB of memory (lease 1)"
    assert not evidence(sample, "partition")
    work.free()


@pytest.mark.rotating
def test_unprivileged_run_reserves_share(work: Standing, nobodys: CommandLine) -> None:
    where = shown(nobodys("run", "--reserve", "all", *program()))
    assert where["cpus"] == [LAST]
    assert where["group"].startswith(f"/{work.group.name}/lease-")


@pytest.mark.rotating
def test_unprivileged_study_reserves_share(work: Standing, nobodys: CommandLine) -> None:
    answer = nobodys(
        *("measure", "--reserve", "all", "--runs", "4", "--check", "lease-", "--json"),
        *("--", "cat", "/proc/self/cpuset"),
    )
    assert answer.status == 0, answer.err
    assert {sample["outcome"] for sample in answer.document["samples"]} == {"ok"}


def test_explain_reserves_no_share(work: Standing, cli: CommandLine) -> None:
    answer = cli("run", "--explain", "--reserve", "cpus=1,gpus=1", *program())
    assert answer.status == 0
    assert f"share of partition work: CPU {LAST}, GPU 0, as it is free now" in answer.out
    assert "CUDA_VISIBLE_DEVICES=0" in answer.out
    assert f"taskset -c {LAST}" in answer.out
    assert not work.leases


@pytest.mark.rotating
def test_program_environment_names_share(
    several: tuple[Standing, Standing], cli: CommandLine
) -> None:
    where = shown(
        cli("run", "--partition", "work", "--reserve", "cpus=2,utility=1,partial=yes", *program())
    )
    assert where["env"]["ASSAY_UTILITY_CPUS"] == str(CPUS[1])
    assert where["cpus"] == [CPUS[0]]
    code = f"import os; os.sched_setaffinity(0, {{{CPUS[1]}}}); print(os.sched_getaffinity(0))"
    helping = cli("run", "--partition", "work", "--reserve", "cpus=2,utility=1", *program(code))
    assert helping.out == f"{{{CPUS[1]}}}\n"  # its helper threads may run there
    message = shown(cli("run", "--partition", "cards", "--reserve", "gpus=1", *program()))["env"]
    assert message["CUDA_VISIBLE_DEVICES"] == message["ROCR_VISIBLE_DEVICES"] == "0"
    assert not any("CUDA" in name for name in where["env"])
    hidden = cli(
        *("run", "--partition", "cards", "--reserve", "gpus=1", *program()),
        CUDA_VISIBLE_DEVICES="3",
    )
    assert (
        hidden.status == 125 and "only 0 of those of the partition cards are visible" in hidden.err
    )


@pytest.fixture
def loose(run: Path, assay_broker: Path) -> Iterator[Standing]:
    """Create a partition of two CPUs that other groups may use too."""
    with partition(assay_broker, run, CPUS[:2], apart=False) as standing:
        yield standing


@pytest.fixture
def several(run: Path, loose: Standing, assay_broker: Path) -> Iterator[tuple[Standing, Standing]]:
    """Create two partitions with a common CPU: a machine of two CPUs has no others."""
    with partition(assay_broker, run, [LAST], name="cards", gpus="0", apart=False) as cards:
        yield loose, cards


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reserve", "cpus=999"), "999 cores were requested, but the partition has 1"),
        (("--reserve", "list=999"), "CPU 999 is not in the partition"),
        (("--reserve", "mem=1T"), "The partition has only 1.00 GiB of memory"),
        (("--reserve", "gpus=2"), "has 1 GPUs, but 2 were requested"),
        (("--reserve", "cpu=1"), "Did you mean cpus?"),
        (("--reserve", "share=MPI"), "number of job processes"),
        (("--reserve", "all", "--partition", "none"), "Unknown partition: 'none'"),
        (("--reserve", "all", "--partition", "../x"), "Invalid name of a partition"),
        (("--partition", "work"), "no share of it is requested"),
        (("--reserve", "all", "--with", f"cpus={CPUS[0]}"), f"may use {LAST}"),
    ],
)
def test_unavailable_share_is_refused(
    work: Standing, cli: CommandLine, words: tuple[str, ...], message: str
) -> None:
    answer = cli("run", *words, "--", "true")
    assert answer.status == 125
    assert message in answer.err
    work.free()


@pytest.mark.rotating
def test_missing_partition_reports_how_to_create_one(run: Path, cli: CommandLine) -> None:
    answer = cli("run", "--reserve", "all", "--", "true")
    assert answer.status == 125 and "assay partition create" in answer.err
    answer = cli("measure", "--reserve", "all", "--", "true")
    assert answer.status == 3 and "This host has no partition" in answer.err


def test_several_partitions_require_name(
    several: tuple[Standing, Standing], cli: CommandLine
) -> None:
    answer = cli("run", "--reserve", "all", "--", "true")
    assert answer.status == 125 and "This host has 2 partitions: cards, work." in answer.err


# --- owners of CPUs -------------------------------------------------------------------------------


@pytest.mark.rotating
def test_two_users_never_share_a_cpu(
    both: Standing, cli: CommandLine, nobodys: CommandLine
) -> None:
    words = ("run", "--reserve", "cores=1", *program(f"{SHOW}; import time; time.sleep(3)"))
    found = []
    with (
        subprocess.Popen(cli.argv(*words), env=cli.env, stdout=-1, cwd=cli.folder) as first,
        subprocess.Popen(
            nobodys.argv(*words), env=nobodys.env, stdout=-1, cwd=nobodys.folder
        ) as second,
    ):
        for process in (first, second):
            assert process.stdout is not None
            found.append(json.loads(process.stdout.readline())["cpus"])
        assert sorted(found[0] + found[1]) == CPUS[:2]
        third = nobodys("run", "--reserve", "cores=1", "--", "true")
        assert third.status == 125
        assert "1 core was requested, but none of the 2 of the partition is free." in third.err
        assert "In use: " in third.err and "nobody has CPU " in third.err


def test_ranks_of_parallel_job_get_requested_cpus(both: Standing, cli: CommandLine) -> None:
    for rank in (1, 0):
        job = {"MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": str(rank)}
        where = shown(cli("run", "--reserve", "share=MPI,layout=compact", *program(), **job))
        assert where["cpus"] == [CPUS[rank]]


def test_map_lists_cpus_of_each_rank(both: Standing, cli: CommandLine) -> None:
    (cli.folder / "map").write_text(f"0 list={CPUS[1]}\n* list={CPUS[0]}  # all others\n")
    for rank, cpu in ((0, CPUS[1]), (3, CPUS[0])):
        where = shown(
            cli("run", "--reserve", "map:map", *program(), OMPI_COMM_WORLD_LOCAL_RANK=str(rank))
        )
        assert where["cpus"] == [cpu]


@pytest.mark.parametrize("wish", ["list=0x{mask:x}", "cpus=1/2,algorithm=simple", "share=0.5"])
def test_cpu_synonyms_are_accepted(both: Standing, cli: CommandLine, wish: str) -> None:
    words = wish.format(mask=1 << CPUS[0])
    assert shown(cli("run", "--reserve", words, *program()))["cpus"] == [CPUS[0]]


def test_random_placement_selects_one(both: Standing, cli: CommandLine) -> None:
    where = shown(cli("run", "--reserve", "cores=1,algorithm=random", *program()))
    assert len(where["cpus"]) == 1 and where["cpus"][0] in CPUS[:2]


@pytest.mark.rotating
def test_share_lies_within_batch_allocation(both: Standing, cli: CommandLine) -> None:
    cli.prefix = ("taskset", "-c", str(CPUS[0]))
    assert shown(cli("run", "--reserve", "cores=1", *program()))["cpus"] == [CPUS[0]]
    answer = cli("run", "--reserve", f"list={CPUS[1]}", "--", "true")
    assert answer.status == 125
    assert f"This process may not use CPU {CPUS[1]}: its affinity" in answer.err
    answer = cli("run", "--reserve", "cores=2", "--", "true")
    assert answer.status == 125 and "exceeds the part of the partition" in answer.err


def test_share_lies_within_control_group_of_job(loose: Standing, cli: CommandLine) -> None:
    job = V1 / f"assay-test-job-{os.getpid()}"
    job.mkdir()
    try:
        (job / "cpuset.mems").write_text((V1 / "cpuset.mems").read_text())
        (job / "cpuset.cpus").write_text(str(CPUS[0]))
        enter = f'echo $$ > {job}/cgroup.procs; exec "$@"'
        cli.prefix = ("sh", "-c", enter, "sh")
        assert shown(cli("run", "--reserve", "cores=1", *program()))["cpus"] == [CPUS[0]]
        answer = cli("run", "--reserve", f"list={CPUS[1]}", "--", "true")
        assert answer.status == 125 and f"its control group {job} has CPU {CPUS[0]}" in answer.err
    finally:
        until(lambda: not (job / "cgroup.procs").read_text(), "the job has ended")
        job.rmdir()


@pytest.mark.skipif(not (V1_MEMORY / "tasks").exists(), reason="no memory controller of version 1")
def test_memory_beyond_share_is_unavailable(
    run: Path, assay_broker: Path, cli: CommandLine
) -> None:
    with partition(assay_broker, run, [LAST], limits_memory=True):
        takes = f"b = b'x' * ({200 << 20})"
        answer = cli("run", "--reserve", "cpus=1,mem=500M", *program(takes))
        assert (answer.status, answer.err) == (0, "")
        answer = cli("run", "--reserve", "cpus=1,mem=100M", "--record", "r.json", *program(takes))
        assert answer.status == -9
        (note,) = evidence(json.loads((cli.folder / "r.json").read_text()), "share_memory")
        assert note == "the 100 MiB of memory of the share were exhausted" and note in answer.err


# --- however it ends ------------------------------------------------------------------------------


@pytest.mark.rotating
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("verb", ["run", "measure"])
def test_share_is_released_however_assay_ends(
    work: Standing, cli: CommandLine, verb: str, number: signal.Signals
) -> None:
    more = () if verb == "run" else ("--runs", "100")
    sleeps = ("--", "sh", "-c", f"echo $$ > {cli.folder}/pid; exec sleep 600")
    with cli.begun(verb, "--reserve", "all", *more, *sleeps) as process:
        until(lambda: (cli.folder / "pid").exists() and work.leases, "it runs", 30.0)
        process.send_signal(number)
        process.wait(30)
    work.free()
    until(lambda: not cli.processes(), "nothing of it is left")
    assert shown(cli("run", "--reserve", "all", *program()))["cpus"] == [LAST]


@pytest.mark.rotating
def test_terminated_broker_is_reported(work: Standing, cli: CommandLine) -> None:
    with cli.begun("measure", "--reserve", "all", "--runs", "1000", "--", "true") as process:
        cli.wait_for(4)
        work.broker.send_signal(signal.SIGTERM)
        assert process.wait(30) == 3
    assert "was lost: its broker has ended" in cli.begun_err


# --- studies --------------------------------------------------------------------------------------


@pytest.mark.rotating
def test_study_launches_are_in_share(work: Standing, cli: CommandLine) -> None:
    code = f"{SHOW}; print('n:', len(os.sched_getaffinity(0)))"
    answer = cli(
        *("measure", "--reserve", "cpus=1", "--metric", "n=n: (.*)", "--runs", "6", "--json"),
        *program(code),
    )
    assert answer.status == 0, answer.err
    assert f"reserved of partition work: CPU {LAST}" in answer.err
    samples = answer.document["samples"]
    assert len(samples) == 6
    assert all(sample["metrics"]["n"] == 1.0 for sample in samples)
    assert {note for s in samples for note in evidence(s, "share")} == {
        f"partition work: CPU {LAST} (lease 1)"
    }
    spec = cli("study", "show", "last", "--json").document["spec"]
    assert spec["reserve"] == {"specification": "cpus=1"}
    assert "  reserved cpus=1\n" in cli("study", "show", "last").out


@pytest.mark.rotating
def test_survey_of_search_is_in_share(work: Standing, cli: CommandLine) -> None:
    answer = cli(
        *("tune", "env.A=1,2", "--reserve", "all", "--runs", "30", "-q", "--json"),
        *("--check", "lease-", "--", "cat", "/proc/self/cpuset"),
    )
    assert answer.status in (0, 3), answer.err
    kept = cli.documents()
    assert kept and all(evidence(sample, "share") for sample in kept)


@pytest.mark.rotating
def test_resumed_study_reserves_its_share_again(work: Standing, cli: CommandLine) -> None:
    with cli.begun("measure", "--reserve", "cpus=1", "--runs", "30", "--", "sleep", "0.1") as first:
        cli.wait_for(3)
        first.send_signal(signal.SIGINT)
        first.wait(30)
    work.free()
    answer = cli("study", "resume", "last", "--json")
    assert answer.status == 0, answer.err
    notes = {note for sample in cli.documents() for note in evidence(sample, "share")}
    assert notes == {f"partition work: CPU {LAST} (lease {n})" for n in (1, 2)}
    message = cli("study", "resume", "last", "--json")  # done: reporting it needs no share
    assert message.status == 0 and "since it was measured" not in message.out


@pytest.mark.rotating
def test_settings_are_checked_against_share(work: Standing, cli: CommandLine) -> None:
    answer = cli("tune", "--dry-run", "--reserve", "all", "threads=1..8", "--", "true")
    assert answer.status == 0, answer.err
    assert f"in a share of partition work: CPU {LAST}" in answer.out
    assert not work.leases
    answer = cli("tune", "--reserve", "all", f"cpus={CPUS[0]}", "--", "true")
    assert answer.status == 3 and f"may use {LAST}" in answer.err


@pytest.mark.rotating
def test_slots_divide_share(both: Standing, cli: CommandLine) -> None:
    answer = cli(
        "tune", "--dry-run", "--parallel", "2", "--reserve", "all", "env.A=1,2", "--", "true"
    )
    assert answer.status == 0, answer.err
    assert f"2 slots, CPUs {CPUS[0]} and {CPUS[1]}" in answer.out
    answer = cli("tune", "--dry-run", "--parallel", "2", "--reserve", "cores=1", "--", "true")
    assert answer.status == 3 and "cannot be divided" in answer.err


@pytest.mark.rotating
def test_parallel_launches_run_in_own_slots_of_share(both: Standing, cli: CommandLine) -> None:
    code = f"{SHOW}; import time; time.sleep(0.05)"
    answer = cli(
        *("tune", "env.A=1,2,3,4", "--parallel", "2", "--reserve", "all", "--runs", "40", "-q"),
        *("--check", "lease-", *program(code)),
    )
    assert answer.status in (0, 3), answer.err
    assert {s["launch"].get("cpu_slot") for s in cli.documents()} >= {0, 1}
    assert all(sample["outcome"] == "ok" for sample in cli.documents())


@pytest.mark.rotating
def test_sweep_and_comparison_are_in_share(work: Standing, cli: CommandLine) -> None:
    (cli.folder / "s.toml").write_text(
        '[workload]\ncommand = "cat /proc/self/cpuset"\ncheck = "lease-"\n'
        '[settings]\n"env.A" = [1, 2]\n[design]\nkind = "factorial"\nrepeats = 2\n'
    )
    assert cli("sweep", "s.toml", "--reserve", "all", "-q").status == 0
    compared = cli(
        *("compare", "--reserve", "all", "--runs", "20", "--check", "lease-", "-q"),
        *("cat /proc/self/cpuset", "cat /proc/self/cgroup"),
    )
    assert compared.status == 0, compared.err
    assert all(sample["outcome"] == "ok" for sample in cli.documents())
    assert all(evidence(sample, "share") for sample in cli.documents())


# --- watching -------------------------------------------------------------------------------------


def changed_meanwhile(standing: Standing) -> Callable[[], None]:
    """Let other processes use the CPUs of a partition."""
    flag = standing.group / "cpuset.sched_load_balance"
    before = flag.read_text().strip()
    return lambda: (flag.write_text("0" if before == "1" else "1"), None)[1]


@pytest.mark.rotating
def test_changed_partition_is_reported(work: Standing, cli: CommandLine) -> None:
    change = changed_meanwhile(work)
    sleeps = ("--", "sh", "-c", f"touch {cli.folder}/there; sleep 2")
    words = ("run", "--reserve", "all", "--record", "r.json", *sleeps)
    with subprocess.Popen(cli.argv(*words), env=cli.env, stderr=-1, cwd=cli.folder) as process:
        until(lambda: (cli.folder / "there").exists(), "it runs")
        change()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    (note,) = evidence(json.loads((cli.folder / "r.json").read_text()), "partition")
    assert note == f"{work.group}/cpuset.sched_load_balance: 0 became 1"
    assert note in err.decode()


@pytest.mark.rotating
def test_blocks_with_broken_isolation_are_disturbed(work: Standing, cli: CommandLine) -> None:
    flag = work.group / "cpuset.sched_load_balance"
    toggle = f"case $(cat {flag}) in 1) echo 0 > {flag};; *) echo 1 > {flag};; esac"
    answer = cli(
        *("measure", "--reserve", "all", "--runs", "8", "--disturbed-above", "90%", "--json"),
        *("--", "sh", "-c", toggle),
    )
    found = answer.document
    assert found["disturbed_blocks"] == found["blocks"] > 0
    assert all(evidence(sample, "partition") for sample in found["samples"])


@pytest.mark.rotating
def test_lost_share_group_is_reported(work: Standing, cli: CommandLine) -> None:
    code = "import time; open('there', 'w'); time.sleep(1.5)"
    words = ("run", "--reserve", "all", "--record", "r.json", *program(code))
    with subprocess.Popen(cli.argv(*words), env=cli.env, stderr=-1, cwd=cli.folder) as process:
        until(lambda: (cli.folder / "there").exists(), "it runs")
        work.broker.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    (note,) = evidence(json.loads((cli.folder / "r.json").read_text()), "partition")
    assert note.endswith("lease-1 is missing")


# --- groups below a share -------------------------------------------------------------------------


@pytest.mark.rotating
@pytest.mark.skipif(not (V1_MEMORY / "tasks").exists(), reason="no memory controller of version 1")
def test_groups_below_share_are_removed(
    run: Path, assay_broker: Path, nobodys: CommandLine
) -> None:
    """A launcher creates some; killed with its caller, it cannot remove them."""
    with partition(assay_broker, run, [LAST], limits_memory=True) as standing:
        memory = V1_MEMORY / standing.group.name
        makes = (
            "import os, time\n"
            "own = [l.split(':', 2)[2] for l in open('/proc/self/cgroup') if ':memory:' in l][0]\n"
            "place = '/sys/fs/cgroup/memory' + own.strip() + '/inner'\n"
            "os.mkdir(place)\n"
            "open(place + '/cgroup.procs', 'w').write(str(os.getpid()))\n"
            "open('there', 'w').write(str(os.getpid()))\n"
            "time.sleep(600)\n"
        )
        with nobodys.begun("run", "--reserve", "mem=100M", *program(makes)):
            until(lambda: (nobodys.folder / "there").exists(), "it runs", 30.0)
            inner = list(memory.rglob("inner"))
            assert len(inner) == 1
            for pid in nobodys.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        until(lambda: not list(memory.glob("lease-*")), "all of it is removed")
        standing.free()
