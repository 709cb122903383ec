"""assay-exec under every layout of control groups, mainly v2 with its controllers.

Each kind of guest is booted once and runs the whole batch of launches (`PLANS`) and scripts
(`SCRIPTS`); the tests look at the records. docs/reference/assay-exec.md is the contract.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from .batch import LAUNCH, Batch, in_turns, run_batch
from .guest import CgroupMode, Guest

pytestmark = pytest.mark.vm

MIB = 1 << 20
HELD_S = 0.4
MODES: tuple[CgroupMode, ...] = ("v2", "v1", "hybrid", "none")
CONTAINED: tuple[CgroupMode, ...] = ("v2", "v1", "hybrid")
V2_PLANS = ("nested", "pressed")
CONTAINED_PLANS = ("hop",)  # without control groups it is not contained
SCRIPT_PLANS = ("cache", "parent", "ended", "huge")

# In an emulated guest a sample takes milliseconds, and few would fit into the usual share.
FAST = {"sample_interval_s": 0.01, "sampling_share": 0.1}
PLANS: dict[str, dict[str, Any]] = {
    "status": {"argv": ["sh", "-c", "exit 7"]},
    "signal": {"argv": ["sh", "-c", "kill -SEGV $$"]},
    "anon": {
        "argv": ["memory", "anon", "24", str(HELD_S)],
        "counters": ["default"],
        **FAST,
    },
    "shared": {"argv": ["memory", "shared", "24", str(HELD_S)], **FAST},
    "cache": {"argv": ["memory", "/cache/file", "24", "0.2"], **FAST},
    "roomy": {"argv": ["memory", "anon", "24", "0.2"], "limits": {"memory_bytes": 40 * MIB}},
    "tight": {
        "argv": ["sh", "-c", "memory anon 48 1; sleep 15"],
        "limits": {"memory_bytes": 24 * MIB},
    },
    "few": {"argv": ["forks", "5", "0.2"], "limits": {"pids": 10}},
    "counted": {
        "argv": ["forks", "5", "0.2"],
        "counters": ["default", "page_faults", "context_switches", "task_clock_s"],
    },
    # Long, for it is read while it runs, and slowly on a busy host.
    "huge": {"argv": ["memory", "huge", "8", "1.2"], "readback": ["smaps"]},
    "many": {"argv": ["forks", "30", "1"], "limits": {"pids": 10}},
    "cpu": {"argv": ["spin", "0.4", "0.3"]},
    "busy": {"argv": ["spin", "15", "0"], "limits": {"cpu_s": 0.6}},
    "chatty": {"argv": ["yes"], "stdout": "/tmp/yes", "limits": {"output_bytes": MIB}},
    "capped": {"argv": ["sh", "-c", "daemonise 2 0; sleep 15"], "timeout_s": 0.6},
    "daemons": {"argv": ["daemonise", "3", "0.15"]},
    "pressed": {"argv": ["sh", "-c", "spin 0.4 0 & spin 0.4 0; wait"]},
    "named": {"argv": ["cat", "/proc/self/cgroup"], "cgroup_name": "assay-name"},
    "nowhere": {"argv": ["no-such-program"]},
    "required": {"argv": ["true"], "containment": "cgroup"},
    "declined": {"argv": ["daemonise", "2", "0"], "containment": "none"},
    "parent": {"argv": ["memory", "anon", "24", str(HELD_S)], "cgroup_parent": "parent", **FAST},
    # Two ways for a root program to escape: other groups, and its own frozen groups.
    "escape": {
        "argv": [
            "sh",
            "-c",
            "for f in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do"
            " [ ! -e $f ] || echo $$ > $f; done; cat /proc/self/cgroup; daemonise 2 0",
        ]
    },
    "nested": {
        "argv": [
            "sh",
            "-c",
            "cd /sys/fs/cgroup/$(cut -d : -f 3 /proc/self/cgroup); mkdir -p a/b; "
            "daemonise 1 0; (echo 0 > a/b/cgroup.procs; exec daemonise 2 0);"
            "echo 1 > a/cgroup.freeze; chmod 0 a a/b",
        ]
    },
    "hop": {"argv": ["sh", "-c", "hop 5; sleep 15"], "timeout_s": 0.4},
    "ended": {"argv": ["sh", "-c", "daemonise 2 0; touch /tmp/ready; memory anon 1 15"]},
}
GROUPS = "find /sys/fs/cgroup -type d | sort > /out/groups; "
PROCESSES = "ps -o pid,ppid,stat,comm > /out/processes; killall -q -KILL daemonise"
# Two daemons and a program, whose launcher is the child of a shell; then {} is carried out, and
# there are 3 s for everything to end.
END = (
    "rm -f /tmp/ready; "
    f"sh -c '{LAUNCH.format('ended')} & echo $! > /tmp/launcher; wait' & shell=$!;"
    "until [ -e /tmp/ready ]; do usleep 20000; done; launcher=$(cat /tmp/launcher); {};"
    "for i in $(seq 30); do pidof assay-exec daemonise memory >/dev/null || break;"
    " usleep 100000; done; " + GROUPS + PROCESSES
)
ENDINGS = {
    "terminated": "kill -TERM $launcher",
    "killed": "kill -KILL $launcher",
    # The other one of the two processes of assay-exec.
    "supervisor-killed": "kill -KILL $(pidof assay-exec | tr ' ' '\\n' | grep -vx $launcher)",
    "parent-killed": "kill -KILL $shell",
    "both-killed": "killall -KILL assay-exec; kill $shell; usleep 300000;"
    "ps -o comm > /out/left; killall -KILL daemonise memory",
}
SCRIPTS = {
    "cache": "mkdir /cache && mount -t ramfs ramfs /cache; " + LAUNCH.format("cache"),
    "huge": "echo 8 > /proc/sys/vm/nr_hugepages; " + LAUNCH.format("huge"),
    "probe": "assay-exec --probe",
    "version": "assay-exec --version",
    "survey": GROUPS + PROCESSES,
    "unprivileged": "chmod 777 /out; su user -s /bin/sh -c " + shlex.quote(LAUNCH.format("anon")),
    **{name: END.format(ending) for name, ending in ENDINGS.items()},
}
TOP = "/sys/fs/cgroup"
V2_SCRIPTS = {
    # The group of the launcher holds processes: it cannot hand controllers to groups below it.
    "inner": f"mkdir {TOP}/inner; echo $$ > {TOP}/inner/cgroup.procs; " + LAUNCH.format("anon"),
    # A subtree that belongs to the user, as in a systemd user session.
    "delegated": f"mkdir -p {TOP}/parent/shell; cd {TOP}/parent; "
    "echo '+memory +pids +cpu' > cgroup.subtree_control; echo $$ > shell/cgroup.procs; "
    "chown user . cgroup.procs cgroup.subtree_control shell shell/cgroup.procs; "
    "cd /; chmod 777 /out; su user -s /bin/sh -c " + shlex.quote(LAUNCH.format("parent")),
}
FILES = {
    "/etc/passwd": b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n",
    "/etc/group": b"root:x:0:\nuser:x:1000:\n",
}


@pytest.fixture(scope="session")
def batch(
    request: pytest.FixtureRequest,
    guest_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    assay_exec: Path,
) -> Batch:
    mode: CgroupMode = request.param
    left_out = {*SCRIPT_PLANS, *(() if mode == "v2" else V2_PLANS)}
    left_out |= set(CONTAINED_PLANS if mode == "none" else ())
    return run_batch(
        Guest(kernel=guest_kernel, cgroup=mode),
        {**FILES, **guest_programs, "/bin/assay-exec": assay_exec},
        PLANS,
        SCRIPTS | (V2_SCRIPTS if mode == "v2" else {}),
        left_out,
    )


def guests(*modes: CgroupMode) -> pytest.MarkDecorator:
    """Parametrise a test by its guest; the first is in every run, the others take turns."""
    others = in_turns("launcher guests", modes[1:])
    return pytest.mark.parametrize("batch", [modes[0], *others], indirect=True, scope="session")


def assert_sampled_24_mib(record: dict[str, Any]) -> None:
    slack = 64 * 4096  # memory.stat counts in batches of up to 64 pages
    assert record["peak_anon_bytes"] < 26 * MIB
    # Distances between samples are reported: only a longer one may miss memory held for this time.
    assert record["peak_anon_bytes"] >= 24 * MIB - slack or record["anon_interval_s"] >= HELD_S


@guests(*MODES)
@pytest.mark.parametrize("name", ["probe", "version"])
def test_probe_describes_host(batch: Batch, name: str) -> None:
    result = batch.results[name]
    assert result.status == 0 and result.stdout, str(result)
    if name == "probe":
        assert isinstance(json.loads(result.stdout), dict)


@guests(*MODES)
def test_record_contains_exit_status(batch: Batch) -> None:
    record = batch.record("status")
    assert (record["outcome"], record["exit_status"]) == ("exited", 7)
    assert batch.results["status"].status == 0, "0 where a record was written"
    record = batch.record("signal")
    assert (record["outcome"], record["signal"]) == ("signaled", 11)
    record = batch.record("nowhere")
    assert record["outcome"] == "exec_failed" and record["message"]


@guests(*MODES)
def test_containment_is_named(batch: Batch) -> None:
    containment = batch.record("status")["containment"]
    assert containment["mode"] == batch.cgroup
    if batch.cgroup != "none":
        assert containment["guarantee"] == "complete"
    assert containment["remaining_processes"] == 0


@guests(*MODES)
def test_quantity_is_present_or_reported_absent(batch: Batch) -> None:
    quantities = (
        "wall_s user_s sys_s peak_bytes peak_anon_bytes minor_faults major_faults "
        "voluntary_switches involuntary_switches read_bytes written_bytes pressure "
        "throttled_s oom_kills host migrations run_queue_wait_s energy_j"
    )
    for launch in ("anon", "inner") if batch.cgroup == "v2" else ("anon",):
        record = batch.record(launch)
        absent = record.get("unavailable", {})
        unsaid = [name for name in quantities.split() if (name in record) == (name in absent)]
        assert not unsaid


@guests(*MODES)
def test_required_containment_is_available_or_fails(batch: Batch) -> None:
    record = batch.record("required")
    if batch.cgroup == "none":
        assert record["outcome"] == "setup_failed" and record["message"]
    else:
        assert record["outcome"] == "exited"


@guests(*MODES)
def test_declined_containment_uses_no_groups(batch: Batch) -> None:
    containment = batch.record("declined")["containment"]
    assert containment["mode"] == "none" and containment["reason"]


@guests(*MODES)
@pytest.mark.parametrize("name", ["anon", "shared"])
def test_peak_of_known_allocation_is_measured(batch: Batch, name: str) -> None:
    record = batch.record(name)
    assert record["outcome"] == "exited"
    assert_sampled_24_mib(record)
    assert record["anon_samples"] >= 3
    assert 0 < record["anon_interval_s"] <= record["wall_s"]


@guests(*CONTAINED)
@pytest.mark.parametrize("name", ["anon", "shared", "cache"])
def test_charge_of_known_allocation_is_measured(batch: Batch, name: str) -> None:
    if not batch.counts_memory:
        pytest.skip("the guest's kernel has no memory controller for v1")
    record = batch.record(name)
    assert 24 * MIB <= record["peak_bytes"] < 28 * MIB


@guests(*MODES)
def test_page_cache_is_charged_but_not_anonymous(batch: Batch) -> None:
    assert batch.record("cache")["peak_anon_bytes"] < 4 * MIB


@guests(*MODES)
def test_events_of_tree_are_counted(batch: Batch) -> None:
    record = batch.record("counted")
    counters = record["counters"]
    assert counters["page_faults"]["value"] >= 5, "each child writes to its stack"
    assert counters["context_switches"]["value"] >= 5, "each child waits for its end"
    own_s = record["user_s"] + record["sys_s"]
    assert 0 < counters["task_clock_s"]["value"] <= own_s + 0.05
    assert record["unavailable"]["counters.cycles"], "the emulated processor counts nothing"


@guests(*MODES)
def test_unprivileged_counters_are_absent_with_reason(batch: Batch) -> None:
    message = batch.record("unprivileged")["unavailable"]["counters.cycles"]
    # Distributions forbid it entirely; the kernel's own default permits an attempt.
    assert "perf_event_paranoid is" in message or "does not have this counter" in message


@guests(*MODES)
def test_page_sizes_are_distinguished(batch: Batch) -> None:
    pages = batch.record("huge")["readback"]["page_bytes"]
    assert pages[str(2 * MIB)] == 8 * MIB
    assert 0 < pages["4096"] < 4 * MIB


@guests(*MODES)
def test_memory_limit_ends_tree(batch: Batch) -> None:
    record, roomy = batch.record("tight"), batch.record("roomy")
    assert (record["outcome"], record["limit"]) == ("limit", "memory")
    assert record["wall_s"] < 8
    assert roomy["outcome"] == "exited"
    if batch.counts_memory:
        assert record["oom_kills"] >= 1
        assert record["peak_bytes"] <= 24 * MIB
        assert roomy["oom_kills"] == 0


@guests(*MODES)
def test_process_limit_ends_tree(batch: Batch) -> None:
    record = batch.record("many")
    assert (record["outcome"], record["limit"]) == ("limit", "processes")
    if batch.cgroup != "none":
        assert int(batch.results["many"].stdout or 0) < 10, "the program itself is one of ten"
    assert batch.record("few")["outcome"] == "exited"


@guests(*MODES)
def test_cpu_time_limit_ends_tree(batch: Batch) -> None:
    record = batch.record("busy")
    assert (record["outcome"], record["limit"]) == ("limit", "cpu")
    assert 0.6 <= record["user_s"] + record["sys_s"] < 3


@guests(*MODES)
def test_output_limit_ends_tree(batch: Batch) -> None:
    record = batch.record("chatty")
    assert (record["outcome"], record["limit"]) == ("limit", "output")


@guests(*MODES)
def test_tree_is_killed_at_time_limit(batch: Batch) -> None:
    record = batch.record("capped")
    assert record["outcome"] == "timed_out"
    assert 0.6 <= record["wall_s"] < 8


@guests(*MODES)
def test_cpu_time_is_divided_into_user_and_system(batch: Batch) -> None:
    record = batch.record("cpu")
    user, system = (float(word) for word in batch.results["cpu"].stdout.split())
    assert record["user_s"] + record["sys_s"] == pytest.approx(user + system, abs=0.15)
    if batch.cgroup != "v1":  # which divides by sampling at each tick
        assert record["user_s"] == pytest.approx(user, abs=0.1)
        assert record["sys_s"] == pytest.approx(system, abs=0.15)
    assert record["wall_s"] >= user + system - 0.05


@guests(*CONTAINED)
def test_daemons_are_counted_charged_and_killed(batch: Batch) -> None:
    record = batch.record("daemons")
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["remaining_processes"] == 3
    assert record["cpu_scope"] == "cgroup"
    assert record["user_s"] >= 0.4, "the daemons' time, which nobody waits for"


@guests(*CONTAINED)
def test_tree_in_other_groups_is_ended(batch: Batch) -> None:
    record = batch.record("escape")
    paths = {line.rpartition(":")[2] for line in batch.results["escape"].stdout.decode().split()}
    assert paths == {"/"}, "it did leave its groups"
    assert record["outcome"] == "exited"
    assert record["containment"]["remaining_processes"] == 2


@guests("v2")
def test_tree_with_frozen_subgroups_is_ended(batch: Batch) -> None:
    record = batch.record("nested")
    assert record["outcome"] == "exited"
    assert record["containment"]["remaining_processes"] == 3


@guests(*CONTAINED)
def test_tree_changing_process_ids_is_ended(batch: Batch) -> None:
    record = batch.record("hop")
    assert record["outcome"] == "timed_out"
    assert record["wall_s"] < 8


@guests(*CONTAINED)
def test_no_process_or_group_remains(batch: Batch) -> None:
    groups = batch.text("survey", "/out/groups")
    assert "assay" not in groups, groups
    kept = batch.survivors("survey")
    # Without containment the two deaf daemons of "declined" may have got away.
    assert len(kept) <= 2 and all("daemonise" in line for line in kept), kept


@guests(*MODES)
@pytest.mark.parametrize("name", [name for name in ENDINGS if name != "both-killed"])
def test_terminated_launcher_ends_tree(batch: Batch, name: str) -> None:
    assert not batch.survivors(name)
    assert "assay" not in batch.text(name, "/out/groups")


@guests(*MODES)
@pytest.mark.parametrize("name", ["terminated", "killed", "parent-killed"])
def test_terminated_launcher_writes_record(batch: Batch, name: str) -> None:
    assert batch.record(name)["outcome"] == "interrupted"


@guests(*MODES)
def test_killed_launcher_processes_end_program(batch: Batch) -> None:
    # That is, its shell; assay ends the processes of the shell, by the name of the group.
    left = batch.text("both-killed", "/out/left").splitlines()
    assert left.count("sh") == 1, "the script's own"


@guests(*CONTAINED)
def test_leaf_group_has_planned_name(batch: Batch) -> None:
    groups = batch.results["named"].stdout.decode().splitlines()
    named = {line.split(":")[1] for line in groups if line.endswith(":/assay-name")}
    wanted = {
        "v2": {""},
        "v1": {"memory", "freezer", "cpu,cpuacct"},
        "hybrid": {"", "memory"},
    }[batch.cgroup]
    if not batch.counts_memory:
        wanted -= {"memory"}
    assert named >= wanted, groups


@guests("v2")
def test_pressure_is_read_from_leaf_group(batch: Batch) -> None:
    pressure = batch.record("pressed")["pressure"]
    keys = {"cpu_some_s", "memory_some_s", "memory_full_s", "io_some_s", "io_full_s"}
    assert set(pressure) == keys
    assert 0.2 <= pressure["cpu_some_s"] < 3, "two programs, one processor, 0.4 s each"
    assert batch.record("anon")["pressure"]["cpu_some_s"] < pressure["cpu_some_s"]


@guests("v2")
def test_launcher_beside_other_processes_reports_missing_controllers(batch: Batch) -> None:
    record = batch.record("inner")
    assert record["outcome"] == "exited"
    assert record["containment"]["mode"] == "v2"
    assert record["containment"]["guarantee"] == "complete"
    assert record["unavailable"]["peak_bytes"]
    assert_sampled_24_mib(record)


@guests(*MODES)
def test_unprivileged_launch_works_with_weaker_containment(batch: Batch) -> None:
    record = batch.record("unprivileged")
    assert record["outcome"] == "exited"
    assert record["containment"]["mode"] == "none" and record["containment"]["reason"]
    assert_sampled_24_mib(record)


@guests("v2")
def test_delegated_subtree_equals_root_privileges(batch: Batch) -> None:
    record = batch.record("delegated")
    assert record["outcome"] == "exited"
    assert record["containment"]["mode"] == "v2"
    assert record["containment"]["guarantee"] == "complete"
    assert 24 * MIB <= record["peak_bytes"] < 28 * MIB
