"""A machine as lines: of small trees, and where a terminal is narrow."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.cli.machine.lines import machine_lines
from assay.cli.show.layout import wrapped
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.root import Root

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
ONE_CPU = {f"{CPU}/online": "0"}


def lines_of(folder: Path, files: Mapping[str, str]) -> list[str]:
    for path, text in (ONE_CPU | dict(files)).items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")
    root = Root(folder)
    machine = read_machine(root)
    inventory = read_inventory(machine, root, env={"PATH": ""}, names=())
    return [line[13:] for line in machine_lines(machine, inventory)]


def test_the_processor_is_told_by_its_numbers_and_instructions(tmp_path: Path) -> None:
    cpuinfo = (
        "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nmodel name : X\nstepping : 8\n"
        "cpu MHz : 2000.000\nflags : fpu sse4_2 amx_tile avx512f avx2 avx"
    )
    clocks = "/sys/devices/system/clocksource/clocksource0"
    files = {
        "/proc/cpuinfo": cpuinfo,
        f"{clocks}/current_clocksource": "tsc",
        f"{clocks}/available_clocksource": "tsc hpet acpi_pm",
    }
    found = lines_of(tmp_path, files)
    assert "GenuineIntel family 6, model 143, stepping 8" in found
    assert "instructions: sse4_2 avx avx2 avx512f amx_tile" in found
    assert "2.00 GHz according to /proc/cpuinfo" in found
    assert "clock source tsc (others: hpet, acpi_pm)" in found
    assert any(
        line.startswith("frequencies: the kernel provides no cpufreq files") for line in found
    )


def test_an_arm_processor_has_its_variant_and_revision(tmp_path: Path) -> None:
    cpuinfo = (
        "CPU implementer : 0x41\nCPU variant : 0x1\nCPU part : 0xd40\nCPU revision : 2\n"
        "Features : asimd sve bf16"
    )
    found = lines_of(tmp_path, {"/proc/cpuinfo": cpuinfo})
    assert "0x41 model 0xd40, stepping r1p2" in found
    assert "instructions: asimd bf16 sve" in found


def test_frequencies_that_are_there_are_no_gap(tmp_path: Path) -> None:
    policy = f"{CPU}/cpufreq/policy0"
    files = {f"{policy}/affected_cpus": "0", f"{policy}/scaling_driver": "acpi-cpufreq"}
    found = lines_of(tmp_path, files | {"/proc/cpuinfo": "cpu MHz : 2000.000"})
    assert not any(line.startswith("frequencies:") or "/proc/cpuinfo" in line for line in found)


@pytest.mark.parametrize(("kib", "said"), [(1000, False), (990, False), (800, True)])
def test_totals_that_differ_are_told(kib: int, said: bool, tmp_path: Path) -> None:
    files = {
        "/proc/meminfo": "MemTotal: 1000 kB",
        f"{NODE}/node0/cpulist": "0",
        f"{NODE}/node0/meminfo": f"Node 0 MemTotal: {kib} kB",
    }
    found = lines_of(tmp_path, files)
    assert (
        any("in all nodes: MemTotal of the host and of the nodes differ" in line for line in found)
        is said
    )


def test_threads_of_a_core_are_told_in_words(tmp_path: Path) -> None:
    found = lines_of(tmp_path, {f"{CPU}/smt/control": "notsupported"})
    assert "SMT: 1 CPU per core, not supported" in found


def test_the_mode_of_huge_pages_has_no_size_where_each_size_has_a_mode(tmp_path: Path) -> None:
    folder = "/sys/kernel/mm/transparent_hugepage"
    whole = {f"{folder}/enabled": "always [madvise] never", f"{folder}/hpage_pmd_size": "2097152"}
    assert "transparent: madvise, 2.00 MiB each" in lines_of(tmp_path / "a", whole)
    found = lines_of(tmp_path / "b", whole | {f"{folder}/hugepages-64kB/enabled": "[always] never"})
    assert "transparent: madvise" in found
    assert "transparent of 64.0 KiB: always" in found


def disk(folder: Path, name: str, node: str) -> list[str]:
    place = f"/sys/devices/pci0000:00/0000:00:02.0/block/{name}"
    files = {
        f"{place}/size": "2048",
        f"{place}/queue/rotational": "1",
        "/sys/devices/pci0000:00/0000:00:02.0/numa_node": node,
        "/sys/devices/pci0000:00/0000:00:02.0/local_cpulist": "0-1",
        f"{CPU}/online": "0-1",
        f"{NODE}/node0/cpulist": "0-1" if node == "0" else "0",
        f"{NODE}/node1/cpulist": "" if node == "0" else "1",
    }
    (folder / "sys/class/block").mkdir(parents=True)
    (folder / f"sys/class/block/{name}").symlink_to(f"../../devices{place[12:]}")
    return [line for line in lines_of(folder, files) if line.startswith("disk")]


@pytest.mark.parametrize(("name", "turns"), [("sda", True), ("vda", False), ("sr0", False)])
def test_a_disk_turns_where_it_says_so_itself(name: str, turns: bool, tmp_path: Path) -> None:
    (line,) = disk(tmp_path, name, "0")
    assert ("rotational" in line) is turns
    assert "disagree" not in line


def test_cpus_of_another_node_than_the_device_are_told(tmp_path: Path) -> None:
    (line,) = disk(tmp_path, "sda", "1")
    assert line.endswith("node 1, CPUs 0-1 (not those of that node: the kernel's files disagree)")


def test_the_rest_of_a_long_line_stands_below_its_beginning() -> None:
    line = "caches       L1d 2 x 32.0 KiB, one for a CPU (8 ways, lines of 64 B)"
    found = list(wrapped([line], 40, 15))
    assert [len(one) <= 40 for one in found] == [True] * len(found)
    assert all(one.startswith(" " * 15) for one in found[1:])
    assert " ".join(" ".join(found).split()) == " ".join(line.split())
