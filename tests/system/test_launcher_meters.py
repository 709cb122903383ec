"""Measurements of assay-exec around a launch: counters, the scheduler, the host, energy.

Hosts differ, so besides real launches there are recorded trees (`host_root`), which the launched
program changes as a machine would.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from launching import MAY_CHANGE_HOST, MIB, Launcher, Record

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
CPUS = sorted(os.sched_getaffinity(0))
HUGE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


def may_count() -> bool:
    return os.geteuid() == 0 or (PARANOID.exists() and int(PARANOID.read_text()) < 2)


counts = pytest.mark.skipif(not may_count(), reason="needs the right to count in the kernel")


class Recorded:
    """A folder with files of a machine, and a program that changes some of them."""

    def __init__(self, folder: Path, launcher: Launcher) -> None:
        self.folder = folder
        self.launcher = launcher

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def launch(self, changes: Mapping[str, str | bytes] | None = None, **keys: Any) -> Record:
        """Launch a program that writes the changes into the tree."""
        later = self.folder.with_name("later")
        words = ["sleep", "0.2"]  # until the launcher has read how it was before
        for number, (name, content) in enumerate((changes or {}).items()):
            later.mkdir(exist_ok=True)
            source = later / str(number)
            source.write_bytes(content if isinstance(content, bytes) else content.encode())
            words += ["&&", "cat", str(source), ">", str(self.folder / name)]
        keys.setdefault("host_root", str(self.folder))
        return self.launcher.run(["sh", "-c", " ".join(words)], **keys)


@pytest.fixture
def recorded(launcher: Launcher, tmp_path: Path) -> Recorded:
    """Provide an empty tree of a machine."""
    return Recorded(tmp_path / "host", launcher)


# --- the scheduler ------------------------------------------------------------------------------


@two_cpus
@pytest.mark.skipif(not Path("/proc/self/sched").exists(), reason="the kernel shows no migrations")
def test_migrations_of_the_program_are_read(launcher: Launcher, programs: Path) -> None:
    record = launcher.run([programs / "counted", 0, 60, 0, 0], counters=[])
    assert record["migrations"] >= 60
    assert "counters" not in record


@counts
@two_cpus
def test_counted_migrations_take_precedence(launcher: Launcher, programs: Path) -> None:
    argv = [programs / "counted", 3, 20, 0, 0]
    record = launcher.run(argv, counters=["cpu_migrations"])
    assert record["migrations"] == record["counters"]["cpu_migrations"]["value"]
    assert record["migrations"] >= 6 * 20, "of three children and three orphans"


@counts
def test_program_on_one_cpu_does_not_migrate(launcher: Launcher, programs: Path) -> None:
    argv = [programs / "counted", 2, 20, 0, 0]
    record = launcher.run(argv, counters=["cpu_migrations"], affinity=CPUS[:1])
    assert record["migrations"] == 0


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="no CONFIG_SCHED_INFO")
def test_run_queue_wait_is_measured(launcher: Launcher) -> None:
    """Three processes on one CPU wait twice as long as they run."""
    spin = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done"
    record = launcher.run(["sh", "-c", f"({spin}) & ({spin}) & ({spin}) & wait"], affinity=CPUS[:1])
    ran_s = record["user_s"] + record["sys_s"]
    assert record["run_queue_wait_s"] > 0.5 * ran_s
    assert record["run_queue_wait_s"] < 4 * record["wall_s"], "four processes, each at most always"


# --- counters -----------------------------------------------------------------------------------


@counts
@pytest.mark.parametrize("processes", [0, 3])
def test_events_of_the_whole_tree_are_counted(
    launcher: Launcher, programs: Path, processes: int
) -> None:
    names = ["context_switches", "page_faults", "minor_faults", "major_faults", "task_clock_s"]
    record = launcher.run([programs / "counted", processes, 0, 500, 20], counters=names)
    counters = record["counters"]
    working = max(1, 2 * processes)
    assert set(counters) == set(names)
    assert counters["page_faults"]["value"] >= working * 500
    assert counters["context_switches"]["value"] >= working * 20
    faults = counters["minor_faults"]["value"] + counters["major_faults"]["value"]
    assert counters["page_faults"]["value"] == faults
    # Between fork and exec, and in the last steps of an exit, nothing is counted.
    assert 0 < counters["task_clock_s"]["value"] <= record["user_s"] + record["sys_s"] + 0.02
    for counter in counters.values():
        assert counter["scope"] == "all" and "scaled" not in counter
        assert counter["enabled_s"] == counter["running_s"] > 0


@counts
def test_launcher_is_not_counted(launcher: Launcher, programs: Path) -> None:
    """Counts exclude the launcher itself and the path to exec."""
    record = launcher.run([programs / "counted", 0, 0, 0, 0], counters=["page_faults"])
    assert (
        record["counters"]["page_faults"]["value"]
        <= record["minor_faults"] + record["major_faults"]
    )


def test_requested_counters_are_present_or_reported_absent(launcher: Launcher) -> None:
    hardware = {"cycles", "instructions", "cache_misses", "branch_misses"}
    every = hardware | {"cache_references", "branches", "ref_cycles", "page_faults"}
    for asked, names in ((sorted(every), every), (["default"], hardware)):
        record = launcher.run(["true"], counters=asked)
        message = {n.partition(".")[2] for n in record["unavailable"] if n.startswith("counters.")}
        there = set(record.get("counters", {}))
        assert not there & message
        # On a machine with several core types, the type follows.
        assert {name.partition(".")[0] for name in there | message} == names


def test_no_counter_is_opened_without_request(launcher: Launcher) -> None:
    for record in (launcher.run(["true"]), launcher.run(["true"], counters=[])):
        assert "counters" not in record
        assert not [name for name in record["unavailable"] if name.startswith("counters.")]


@pytest.mark.parametrize("sampling", [[], ["memory"], ["scheduling"]])
def test_tree_is_sampled_as_planned(
    launcher: Launcher, programs: Path, sampling: list[str]
) -> None:
    record = launcher.run([str(programs / "hold"), "anon", "64", "0.2"], sampling=sampling)
    unread = "not sampled: the plan does not request it"
    waited = record["unavailable"].get("run_queue_wait_s")
    assert (waited == unread) is ("scheduling" not in sampling)
    assert ("anon_samples" in record and record["anon_samples"] > 0) is ("memory" in sampling)


def test_larger_sampling_share_takes_more_samples(launcher: Launcher, programs: Path) -> None:
    program = [str(programs / "hold"), "anon", "64", "0.3"]
    often, seldom = (
        launcher.run(program, sample_interval_s=0.005, sampling_share=share)["anon_samples"]
        for share in (1.0, 0.0001)
    )
    assert seldom < often


@pytest.mark.parametrize("share", [0, 1e-9, 1.5, "half"])
def test_sampling_share_above_one_is_refused(launcher: Launcher, share: object) -> None:
    record = launcher.run(["true"], sampling_share=share)
    assert record["outcome"] == "bad_plan" and "sampling_share" in record["message"]


def test_unknown_sampling_is_refused(launcher: Launcher) -> None:
    record = launcher.run(["true"], sampling=["disk"])
    assert record["outcome"] == "bad_plan" and "sampling" in record["message"]


def test_unstarted_program_has_no_counts(launcher: Launcher) -> None:
    record = launcher.run(["no-such-program"], counters=["page_faults"])
    assert "counters" not in record and record["unavailable"]["counters.page_faults"]


@root_only
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
@pytest.mark.skipif(
    not PARANOID.exists() or int(PARANOID.read_text()) != 2, reason="needs perf_event_paranoid 2"
)
def test_unprivileged_counters_cover_user_mode_and_say_so(
    launcher: Launcher, programs: Path
) -> None:
    names = ["task_clock_s", "page_faults", "context_switches", "cpu_migrations"]
    argv = [programs / "counted", 2, 4, 500, 20]
    plan = launcher.plan(argv, containment="none", counters=names)
    record, _ = launcher.run_plan(plan, prefix=NOBODY)
    assert record["counters"]["page_faults"]["scope"] == "user"
    assert record["counters"]["page_faults"]["value"] >= 4 * 500
    assert record["counters"]["task_clock_s"]["scope"] == "all", "a clock runs on in the kernel"
    for name in ("context_switches", "cpu_migrations"):
        # The kernel's own events are left out of a count of user mode, which would show zero.
        assert name not in record["counters"]
        assert "perf_event_paranoid is 2" in record["unavailable"][f"counters.{name}"]
    assert record.get("migrations", 0) >= 0, "what was read is not withheld"


@root_only
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_program_with_other_privileges_is_not_counted(launcher: Launcher, programs: Path) -> None:
    if os.statvfs(programs).f_flag & os.ST_NOSUID:
        pytest.skip("the folder's file system knows no set-user-ID")
    program = programs / "set-user-id"
    shutil.copy(programs / "counted", program)
    program.chmod(0o4755)
    # Much more than its start costs, until which the kernel counts.
    plan = launcher.plan([program, 0, 0, 20_000, 0], containment="none", counters=["task_clock_s"])
    record, _ = launcher.run_plan(plan, prefix=NOBODY)
    assert record["exit_status"] == 0
    message = record["unavailable"]["counters.task_clock_s"]
    assert "counters" not in record
    assert "set-user-ID" in message or "not permitted" in message


def test_each_core_type_has_own_counters(recorded: Recorded) -> None:
    pmus = "sys/bus/event_source/devices"
    recorded.write(
        {
            f"{pmus}/cpu_core/type": "4091\n",
            f"{pmus}/cpu_core/cpus": "0-7\n",
            f"{pmus}/cpu_atom/type": "4092\n",
            f"{pmus}/cpu_atom/cpus": "8-15\n",
            f"{pmus}/uncore_imc/type": "4093\n",
            f"{pmus}/uncore_imc/cpumask": "0\n",
        }
    )
    record = recorded.launch(counters=["instructions"])
    absent = {name for name in record["unavailable"] if name.startswith("counters.")}
    # Linux counts with the processor's own counters for a unit of unknown type (perf_init_event).
    counted = {f"counters.{name}" for name in record.get("counters", {})}
    kinds = ("cpu_atom", "cpu_core")
    assert absent | counted == {f"counters.instructions.{kind}" for kind in kinds}
    assert not absent & counted


@pytest.mark.parametrize(
    ("readings", "factor"),
    [
        ([(100, 50, 50)], 1.0),
        ([(100, 50, 25)], 2.0),
        ([(0, 50, 0)], 0.0),
        ([(0, 0, 0)], 0.0),
        # Two kinds of cores: a program that was on each half of the time was counted in full.
        ([(100, 50, 25), (70, 50, 25)], 1.0),
        ([(100, 50, 50), (0, 50, 0)], 1.0),
        ([(100, 60, 20), (70, 60, 10)], 2.0),
    ],
)
def test_multiplexed_counters_are_scaled(
    programs: Path, readings: list[tuple[int, int, int]], factor: float
) -> None:
    words = [str(number) for reading in readings for number in reading]
    done = subprocess.run([programs / "scaling", *words], capture_output=True, check=True)
    assert float(done.stdout) == pytest.approx(factor)


# --- the host -----------------------------------------------------------------------------------


def test_host_is_read_around_launch(launcher: Launcher) -> None:
    host = launcher.run(["sleep", "0.05"])["host"]
    assert host["cpus"] == len(CPUS)
    assert 0 < host["launcher_cpu_s"] < 5
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    assert host.get("clock_source") == (source.read_text().strip() if source.exists() else None)
    assert host["swap_in_pages"] >= 0 and host["swap_out_pages"] >= 0
    assert launcher.run(["true"], affinity=CPUS[:1])["host"]["cpus"] == 1


def test_each_host_reading_is_present_or_reported_absent(launcher: Launcher) -> None:
    record = launcher.run(["true"])
    for name in ("steal_s", "busy_s", "throttle_events", "frequency_ratio", "clock_source"):
        assert (name in record["host"]) != (f"host.{name}" in record["unavailable"]), name


def test_empty_host_has_no_readings(recorded: Recorded) -> None:
    record = recorded.launch()
    assert record["host"] == {"cpus": len(CPUS), "swap_in_pages": 0, "swap_out_pages": 0}
    for name in ("steal_s", "busy_s", "throttle_events", "frequency_ratio", "clock_source"):
        assert record["unavailable"][f"host.{name}"]


def test_other_time_excludes_tree_and_launcher(recorded: Recorded) -> None:
    hertz = os.sysconf("SC_CLK_TCK")
    line = "cpu{} {} 0 10 5000 7 1 1 {} 0 0\n"
    before = "cpu 9 9 9 9 9 9 9 9 9 9\n" + "".join(line.format(n, 100, 20) for n in range(1024))
    after = before
    for cpu in CPUS:
        after = after.replace(line.format(cpu, 100, 20), line.format(cpu, 100 + hertz, 20 + hertz))
    recorded.write({"proc/stat": before})
    host = recorded.launch({"proc/stat": after})["host"]
    assert host["busy_s"] == pytest.approx(len(CPUS))
    assert host["steal_s"] == pytest.approx(len(CPUS))
    assert host["process_tree_cpu_s"] < 1 and host["launcher_cpu_s"] < 1


SWAPS = "Filename\tType\tSize\tUsed\tPriority\n"
AREA = SWAPS + "/dev/sda2 partition 1000 0 -2\n"


def test_swapped_pages_are_counted(recorded: Recorded) -> None:
    vmstat = "nr_free_pages 1\npswpin {}\npswpout {}\npswpout_x 5\n"
    recorded.write({"proc/swaps": AREA, "proc/vmstat": vmstat.format(10, 20)})
    host = recorded.launch({"proc/vmstat": vmstat.format(13, 27)})["host"]
    assert (host["swap_in_pages"], host["swap_out_pages"]) == (3, 7)


def test_missing_swap_area_counts_no_swapped_pages(recorded: Recorded) -> None:
    recorded.write({"proc/swaps": SWAPS})
    host = recorded.launch()["host"]
    assert (host["swap_in_pages"], host["swap_out_pages"]) == (0, 0)


def test_swap_area_added_during_launch_is_reported(recorded: Recorded) -> None:
    recorded.write({"proc/swaps": SWAPS, "proc/vmstat": "pswpin 10\npswpout 20\n"})
    record = recorded.launch({"proc/swaps": AREA})
    assert "swap_in_pages" not in record["host"]
    assert "added or removed" in record["unavailable"]["host.swap"]


def throttled(cpu: int, package: str, core: int, of_package: int) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu{cpu}"
    return {
        f"{folder}/topology/core_siblings_list": f"{package}\n",
        f"{folder}/thermal_throttle/core_throttle_count": f"{core}\n",
        f"{folder}/thermal_throttle/package_throttle_count": f"{of_package}\n",
    }


@two_cpus
@pytest.mark.parametrize(("shared", "events"), [(True, 2 + 1 + 4), (False, 2 + 1 + 8)])
def test_throttling_is_counted_once_per_package(
    recorded: Recorded, shared: bool, events: int
) -> None:
    one, other = CPUS[:2]
    packages = [f"{one},{other}"] * 2 if shared else [str(one), str(other)]
    recorded.write(throttled(one, packages[0], 5, 7) | throttled(other, packages[1], 5, 7))
    later = throttled(one, packages[0], 7, 11) | throttled(other, packages[1], 6, 11)
    changes = {name: text for name, text in later.items() if "throttle" in name}
    host = recorded.launch(changes, affinity=[one, other])["host"]
    assert host["throttle_events"] == events


def test_frequency_is_read_from_registers(recorded: Recorded) -> None:
    """In a file the registers 0xE7 and 0xE8 overlap in all bytes but one."""
    device = f"dev/cpu/{CPUS[0]}/msr"

    def registers(content: bytes) -> bytes:
        return bytes(0xE7) + content.ljust(9, b"\0")

    recorded.write({device: registers(b"")})
    asked = {"counters": ["frequency"]}
    host = recorded.launch({device: registers(b"\0\x10")}, affinity=CPUS[:1], **asked)["host"]
    assert host["frequency_ratio"] == 0x10 / 0x1000
    # The frequency covers all CPUs of the launch, or it is absent.
    if len(CPUS) > 1:
        record = recorded.launch({device: registers(b"\0\x20")}, **asked)
        assert record["unavailable"]["host.frequency_ratio"]
    record = recorded.launch(affinity=CPUS[:1], counters=[])
    assert "does not request the counter" in record["unavailable"]["host.frequency_ratio"]


# --- energy -------------------------------------------------------------------------------------


def zone(name: str, number: str, energy_uj: int, prefix: str = "intel-rapl") -> dict[str, str]:
    folder = f"sys/class/powercap/{prefix}:{number}"
    return {
        f"{folder}/name": f"{name}\n",
        f"{folder}/max_energy_range_uj": "1000000\n",
        f"{folder}/energy_uj": f"{energy_uj}\n",
    }


def changed(files: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in files.items() if name.endswith("energy_uj")}


def test_energy_covers_packages(recorded: Recorded) -> None:
    def machine(*energies: int) -> dict[str, str]:
        first, second, part, board, twin = energies
        return (
            zone("package-0", "0", first)
            | zone("package-1", "1", second)
            | zone("core", "0:0", part)
            | zone("psys", "2", board)
            | zone("package-0", "0", twin, "intel-rapl-mmio")
        )

    recorded.write(machine(900_000, 100, 5, 5, 5))
    # The first one has begun again at its range.
    record = recorded.launch(changed(machine(100_000, 300_100, 9_000, 8_000, 7_000)))
    assert record["energy_j"] == pytest.approx(0.5)
    assert record["energy_scope"] == "package"


def test_decreased_energy_counter_without_range_is_absent(recorded: Recorded) -> None:
    files = zone("package-0", "0", 900_000)
    recorded.write({name: text for name, text in files.items() if "max_energy" not in name})
    record = recorded.launch(changed(zone("package-0", "0", 100_000)))
    assert "energy_j" not in record
    assert "decreased by more" in record["unavailable"]["energy_j"]


@root_only
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_unreadable_energy_is_reported_absent(recorded: Recorded) -> None:
    recorded.write(zone("package-0", "0", 5))
    (recorded.folder / "sys/class/powercap/intel-rapl:0/energy_uj").chmod(0o400)
    for folder in (recorded.folder, *recorded.folder.parents[:4]):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    plan = recorded.launcher.plan(["true"], containment="none", host_root=str(recorded.folder))
    record, _ = recorded.launcher.run_plan(plan, prefix=NOBODY)
    assert "energy_j" not in record
    assert "root only" in record["unavailable"]["energy_j"]


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.rotating
def test_page_sizes_are_reported(launcher: Launcher, programs: Path) -> None:
    small = str(os.sysconf("SC_PAGESIZE"))
    for disabled in (True, False):
        record = launcher.run(
            [programs / "hold", "anon", 32, 1],
            readback=["smaps"],
            prctl=[{"option": 41, "args": [1]}] if disabled else [],
        )
        pages = record["readback"]["page_bytes"]
        assert sum(pages.values()) >= 32 * MIB
        huge = HUGE.read_text().strip() if HUGE.exists() else "none"
        assert pages.get(huge, 0) == record["readback"]["anon_huge_bytes"]
        assert set(pages) <= {small, huge}
        assert not (disabled and huge in pages)


# --- permissions of the host --------------------------------------------------------------------


def test_probe_names_every_counter(exec_path: Path, launcher: Launcher) -> None:
    import json

    done = subprocess.run([exec_path, "--probe"], capture_output=True, check=True)
    probe = json.loads(done.stdout)
    assert {"task_clock_s", "page_faults", "frequency"} <= set(probe["counters"])
    for found in (*probe["counters"].values(), probe["energy"]):
        assert found["ok"] is True or found["reason"]
    if MAY_CHANGE_HOST:
        record = launcher.run(["true"], counters=["default", "page_faults"])
        for name in record["counters"]:
            assert probe["counters"][name]["ok"]
