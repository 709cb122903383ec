"""Machines with many CPUs: the number of files that are read grows with their number."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.machine.profile_file import read_profile
from assay.machine.checks import Host, examine, read_unassessed
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.remembered_root import RememberedRoot, remembered
from assay.machine.root import Root
from assay.testing.large_machine import write_large_machine

Reader = Callable[[RememberedRoot], object]

PACKAGES = 2
SIZES = (16, 32, 64)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Root]:
    """Return machines by number of CPUs."""
    folder = tmp_path_factory.mktemp("large")
    return {cpus: Root(write_large_machine(folder / str(cpus), cpus, PACKAGES)) for cpus in SIZES}


def described(root: RememberedRoot) -> object:
    machine = read_machine(root, env={})
    return machine, read_inventory(machine, root, env={}, names=())


def checked(root: RememberedRoot) -> object:
    host, profile = Host(root), read_profile("measuring")
    return examine(host, profile), read_unassessed(host, profile)


def files_read(root: Root, reader: Reader) -> int:
    with remembered(root) as once:
        reader(once)
        return len(once.readings) + len(once.folders)


@pytest.mark.parametrize(
    ("reader", "per_cpu"), [(described, 32), (checked, 24)], ids=["show", "check"]
)
def test_number_of_files_read_is_linear_in_cpus(
    machines: dict[int, Root], reader: Reader, per_cpu: int
) -> None:
    small, middle, large = (files_read(machines[cpus], reader) for cpus in SIZES)
    assert large - middle == 2 * (middle - small)
    assert large - middle <= per_cpu * (SIZES[2] - SIZES[1])


def test_shared_cache_is_read_once(machines: dict[int, Root]) -> None:
    with remembered(machines[SIZES[0]]) as once:
        described(once)
        folders = {path.rpartition("/")[0] for path in once.readings if "/cache/" in path}
    cores = SIZES[0] // 2
    assert len([folder for folder in folders if folder.endswith("index0")]) == cores
    assert len([folder for folder in folders if folder.endswith("index3")]) == PACKAGES


def test_frequency_domain_is_looked_up_twice(
    machines: dict[int, Root], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path takes longer to look up than a file of an open directory."""
    opened: list[str] = []
    look_up = RememberedRoot.open

    def counted(self: RememberedRoot, path: str, flags: int) -> int:
        opened.append(path)
        return look_up(self, path, flags)

    monkeypatch.setattr(RememberedRoot, "open", counted)
    with remembered(machines[SIZES[0]]) as once:
        machine = read_machine(once, env={}, system=False)
        read_inventory(machine, once, env={}, names=())
    assert machine.default_state["cpu.governor"] == "powersave"
    assert len([path for path in opened if "/cpufreq/policy" in path]) == 2 * SIZES[0]


def test_large_machine_has_its_topology(machines: dict[int, Root]) -> None:
    machine = read_machine(machines[SIZES[0]], env={})
    inventory = read_inventory(machine, machines[SIZES[0]], env={}, names=())
    assert [cpu.id for cpu in machine.cpus] == list(range(SIZES[0]))
    assert {cpu.siblings for cpu in machine.cpus} == {(core, core + 8) for core in range(8)}
    assert [(cache.level, len(cache.shared_by)) for cache in inventory.caches] == [
        (1, 8),
        (1, 8),
        (2, 8),
        (3, PACKAGES),
    ]
    (frequency,) = inventory.frequencies
    assert (frequency.cpus, frequency.max_khz) == (tuple(range(SIZES[0])), 3_900_000)


def test_description_is_the_same_with_and_without_memory(machines: dict[int, Root]) -> None:
    root = machines[SIZES[0]]
    plain = read_machine(root, env={})
    with remembered(root) as once:
        assert described(once) == (plain, read_inventory(plain, root, env={}, names=()))


def test_size_that_packages_do_not_divide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="multiple of 32"):
        write_large_machine(tmp_path, 40, packages=16)
