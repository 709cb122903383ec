"""Recorded machines, compared with the output of hwloc's ``lstopo --disallowed``."""

from pathlib import Path

import pytest

from assay.machine.reader import read_machine
from assay.machine.topology import read_topology

# name: (packages, dies, cores, CPUs, last-level caches, NUMA nodes)
MACHINES = {
    "16amd64-4n4c-cgroup-distance-merge": (4, 4, 16, 16, 4, (0, 1, 2, 3)),
    "16amd64-8n2c-cpusets": (8, 8, 15, 15, 15, tuple(range(8))),
    "16em64t-4s2c2t-offlines": (4, 4, 7, 12, 4, (0,)),
    "20em64t-hybrid-1p6c2t+2ca4co1t": (1, 1, 14, 20, 1, (0,)),
    "2arm-2c": (1, 1, 2, 2, 0, (0,)),
    "2ps3-2t": (1, 1, 1, 2, 0, (0,)),
    "32amd64-4s2n4c-cgroup2": (4, 4, 32, 32, 8, tuple(range(8))),
    "48amd64-4pa2n6c-sparse": (4, 4, 48, 48, 8, (0, 1, 2, 33, 34, 45, 72, 73)),
    "8em64t-2s2ca2c-buggynuma": (2, 2, 8, 8, 4, (0,)),
    "8ia64-2s2c2t": (2, 2, 4, 8, 4, (0,)),
    "fakecpuid1f-64intel64-2p4d2n2c2t": (4, 8, 32, 64, 8, tuple(range(16))),
    "memorysidecaches": (2, 2, 40, 80, 2, (0, 1, 2, 3)),
    "nvidia-dgx-gb10": (1, 1, 20, 20, 2, (0,)),
    "nvidiagpunumanodes": (2, 2, 8, 32, 4, (0, 8)),
    "offline-cpu0-node0": (2, 2, 17, 17, 2, (1,)),
}


@pytest.mark.parametrize("name", MACHINES)
def test_counts_match_hwloc(recorded, name):
    topology = read_topology(recorded(name))
    cpus = topology.cpus
    counts = (
        len({cpu.package for cpu in cpus}),
        len({(cpu.package, cpu.die) for cpu in cpus}),
        len({cpu.core for cpu in cpus}),
        len(cpus),
        len({cpu.l3 for cpu in cpus} - {None}),
        tuple(node.id for node in topology.nodes),
    )
    assert counts == MACHINES[name]


@pytest.mark.parametrize("name", MACHINES)
def test_machine_is_consistent(recorded, name):
    check_invariants(read_machine(recorded(name)))


def check_invariants(machine):
    ids = [cpu.id for cpu in machine.cpus]
    by_id = {cpu.id: cpu for cpu in machine.cpus}
    assert ids == sorted(set(ids)) and ids
    assert set(machine.allowed_cpus) <= set(ids) and machine.allowed_cpus
    for cpu in machine.cpus:
        assert cpu.id in cpu.siblings and cpu.core == cpu.siblings[0]
        for sibling in map(by_id.__getitem__, cpu.siblings):
            assert sibling.siblings == cpu.siblings
            assert (sibling.package, sibling.die, sibling.node, sibling.l3, sibling.kind) == (
                cpu.package,
                cpu.die,
                cpu.node,
                cpu.l3,
                cpu.kind,
            )
    nodes = {node.id: node for node in machine.nodes}
    assert sorted(cpu for node in machine.nodes for cpu in node.cpus) == ids
    assert all(cpu.id in nodes[cpu.node].cpus for cpu in machine.cpus)
    for node in machine.nodes:
        assert len(node.distances) in (0, len(machine.nodes))
        assert node.memory_bytes >= 0


def test_hybrid_kinds_by_event_source(tree):
    files = {"/sys/devices/system/cpu/online": "0-5"}
    kinds = {"cpu_core": "0-3", "cpu_atom": "4", "cpu_lowpower": "5"}
    root = tree(files | {f"/sys/devices/{name}/cpus": cpus for name, cpus in kinds.items()})
    found = [cpu.kind for cpu in read_topology(root).cpus]
    assert found == ["performance"] * 4 + ["efficiency"] * 2


def test_single_online_kind_is_not_reported(tree):
    files = {"/sys/devices/system/cpu/online": "0-3", "/sys/devices/cpu_core/cpus": "0-3"}
    root = tree(files | {"/sys/devices/cpu_atom/cpus": "4-7"})
    assert {cpu.kind for cpu in read_topology(root).cpus} == {None}


def test_highest_frequencies_of_a_hybrid_processor(recorded):
    cpus = read_topology(recorded("20em64t-hybrid-1p6c2t+2ca4co1t")).cpus
    assert sorted({cpu.max_khz for cpu in cpus}) == [3900000, 5000000, 5200000]
    # It was recorded without the event sources of the core kinds: frequencies identify them.
    kinds = {cpu.id: cpu.kind for cpu in cpus}
    assert {kinds[cpu] for cpu in range(12)} == {"performance"}
    assert {kinds[cpu] for cpu in range(12, 20)} == {"efficiency"}


@pytest.mark.parametrize(
    ("highest", "base", "kinds"),
    [
        ((5000, 5200, 3900), (1900, 1900, 1400), ["performance", "performance", "efficiency"]),
        ((4900, 4900, 3500), None, ["performance", "performance", "efficiency"]),
        ((5000, 5200, 5000), (1900, 1900, 1900), [None] * 3),  # a favoured core
        (
            (3900, 3900, 3900),
            (2900, 2300, 2300),
            [None] * 3,
        ),  # Speed Select: different base frequency only
        ((4000, 3000, 3000), (2000, 2000, 2000), [None] * 3),  # different turbo frequency only
    ],
)
def test_kinds_by_frequency(tree, highest, base, kinds):
    files = {"/sys/devices/system/cpu/online": "0-2"}
    for name, values in (("cpuinfo_max_freq", highest), ("base_frequency", base)):
        for cpu, mhz in enumerate(values or ()):
            files[f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}"] = f"{mhz}000"
    assert [cpu.kind for cpu in read_topology(tree(files)).cpus] == kinds


def test_arm_kinds_by_capacity_take_favoured_cores_as_one_kind(recorded):
    cpus = read_topology(recorded("nvidia-dgx-gb10")).cpus
    assert [cpu.kind for cpu in cpus].count("performance") == 10
    assert [cpu.kind for cpu in cpus].count("efficiency") == 10


def test_equal_cpus_have_no_kind(recorded):
    assert {cpu.kind for cpu in read_topology(recorded("memorysidecaches")).cpus} == {None}


def test_sparse_nodes_keep_their_distances(recorded):
    nodes = read_topology(recorded("48amd64-4pa2n6c-sparse")).nodes
    for place, node in enumerate(nodes):
        assert node.distances[place] == min(node.distances)
        assert len(node.cpus) == 6 and node.memory_bytes > 8 * 10**9


def test_gpu_memory_is_not_a_usable_node(recorded):
    nodes = read_topology(recorded("nvidiagpunumanodes")).nodes
    # Six more nodes of the tree are V100 memory; the distance is 80 within them, 40 between the
    # sockets.
    assert [node.distances for node in nodes] == [(10, 40), (40, 10)]


def test_offline_cpus_are_left_out(recorded):
    cpus = {cpu.id for cpu in read_topology(recorded("16amd64-8n2c-cpusets")).cpus}
    assert cpus == set(range(16)) - {4}
    assert [c.id for c in read_topology(recorded("offline-cpu0-node0")).cpus] == list(range(4, 21))


def test_nodes_listing_every_cpu_are_ignored(recorded):
    machine = read_machine(recorded("8em64t-2s2ca2c-buggynuma"))
    (node,) = machine.nodes
    assert len(node.cpus) == 8 and node.memory_bytes == machine.memory_bytes > 0


@pytest.mark.parametrize(
    ("name", "mode", "cpus"),
    [
        ("16amd64-8n2c-cpusets", "v1", {0, 1, 2, 3, 5, 6, 12, 13, 14, 15}),
        ("32amd64-4s2n4c-cgroup2", "hybrid", set(range(6))),
        ("16amd64-4n4c-cgroup-distance-merge", "hybrid", set(range(4))),
        ("offline-cpu0-node0", "v1", set(range(4, 21))),
        ("20em64t-hybrid-1p6c2t+2ca4co1t", "v2", set(range(20))),
        ("2arm-2c", "none", {0, 1}),
    ],
)
def test_allowed_cpus(recorded, name, mode, cpus):
    machine = read_machine(recorded(name))
    assert machine.cgroup == mode
    assert set(machine.allowed_cpus) == cpus
    assert {cpu.id for cpu in machine.usable} == cpus


def test_affinity_restricts_allowed_cpus(recorded):
    root = recorded("16amd64-8n2c-cpusets")
    assert read_machine(root, affinity=(3, 4, 5, 7)).allowed_cpus == (3, 5)
    assert read_machine(root, affinity=(99,)).allowed_cpus == read_machine(root).allowed_cpus


def test_recorded_machines_have_names(recorded):
    hybrid = read_machine(recorded("20em64t-hybrid-1p6c2t+2ca4co1t"))
    assert (hybrid.arch, hybrid.kernel_version) == ("x86_64", (6, 1))
    assert "i7-1370P" in hybrid.model and "avx2" in hybrid.flags and hybrid.hypervisor is None
    spark = read_machine(recorded("nvidia-dgx-gb10"))
    assert (spark.arch, spark.kernel_version) == ("aarch64", (6, 17))
    assert spark.model.startswith("ARM implementer 0x41") and "sve2" in spark.flags
    arm = read_machine(recorded("2arm-2c"))
    assert arm.model == "ARMv7 Processor rev 1 (v7l)" and "neon" in arm.flags
    assert arm.memory_bytes == arm.nodes[0].memory_bytes == 287580160


def test_a_host_without_sysfs_has_the_cpus_of_proc(tree):
    root = tree({"/proc/cpuinfo": "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n"})
    topology = read_topology(root, memory_bytes=5)
    assert [(cpu.id, cpu.core, cpu.l3) for cpu in topology.cpus] == [(0, 0, None), (1, 1, None)]
    assert [(node.id, node.cpus, node.memory_bytes) for node in topology.nodes] == [(0, (0, 1), 5)]


def test_empty_tree_yields_a_machine(tree):
    machine = read_machine(tree({}))
    check_invariants(machine)
    assert machine.cgroup == "none" and machine.default_state == {} and machine.libraries == {}
    assert machine.rights.uid == 65534 and machine.rights.min_nice == 0


def test_damaged_files_count_as_absent(tree):
    base = "/sys/devices/system"
    root = tree(
        {
            f"{base}/cpu/online": "0-1",
            f"{base}/cpu/cpu0/topology/core_cpus_list": "zero",
            f"{base}/cpu/cpu0/topology/thread_siblings": "3",
            f"{base}/cpu/cpu1/topology/physical_package_id": "-1",
            f"{base}/node/node0/cpulist": "?",
            f"{base}/node/node0/distance": "ten",
        }
    )
    machine = read_machine(root)
    check_invariants(machine)
    assert machine.cpus[0].siblings == (0, 1)


ALL = Path(__file__).resolve().parents[4] / "shared" / "fixtures" / "hwloc"


@pytest.mark.slow
@pytest.mark.skipif(not ALL.is_dir(), reason="the full set of recorded machines is not here")
def test_every_recorded_machine_can_be_read(unpacked):
    archives = sorted(ALL.glob("*.tar.bz2"))
    assert archives
    for archive in archives:
        check_invariants(read_machine(unpacked(archive)))
