"""Requests for a share of a partition, and the chosen CPUs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings.hosts import machine

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.document import Cpu
from assay.partition.cpu_choice import CpuChoice, choose_cpus
from assay.partition.isolation import CgroupTree, group_name, partition_groups
from assay.partition.ranks import LocalRank, local_rank
from assay.partition.share_request import ALGORITHMS, ALL, Amount, ShareRequest, parse_share_request


def host(**shape: int) -> tuple[Cpu, ...]:
    return machine(**{"cores": 4, **shape}).cpus  # type: ignore[arg-type]


def all_of(cpus: tuple[Cpu, ...]) -> set[int]:
    return {cpu.id for cpu in cpus}


# --- requests -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpus=2,mem=4G", ShareRequest(cpus=Amount(2), memory=Amount(4 * 2**30))),
        ("cores=all", ShareRequest(cores=ALL)),
        ("list=2-3,6,mem=1/4", ShareRequest(listed=(2, 3, 6), memory=Amount(part=Fraction(1, 4)))),
        (
            "share=0.5",
            ShareRequest(
                cores=Amount(part=Fraction(1, 2)),
                memory=Amount(part=Fraction(1, 2)),
                gpus=Amount(part=Fraction(1, 2)),
            ),
        ),
        ("cpus=3,utility=1,partial=yes", ShareRequest(cpus=Amount(3), utility=1, partial=True)),
        (
            "cores=1,algorithm=random,gpus=0",
            ShareRequest(cores=Amount(1), gpus=Amount(0), algorithm="random"),
        ),
    ],
)
def test_request_is_parsed(text: str, expected: ShareRequest) -> None:
    assert parse_share_request(text, {}) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cpu=2", "Did you mean cpus"),
        ("cpus=two", "is not a number"),
        ("cpus", "invalid part 'cpus'"),
        ("cpus=2,cpus=3", "twice"),
        ("cpus=2,cores=1", "cpus and cores exclude each other"),
        ("share=1/2,mem=1G", "share and mem exclude each other"),
        ("share=2", "not a fraction"),
        ("share=3/2", "not a fraction between 0 and 1"),
        ("share=1/0", "divides by zero"),
        ("cpus=0", "is too small"),
        ("algorithm=best", "unknown algorithm"),
        ("list=", "invalid part"),
        ("list=a", "CPU list"),
        ("partial=maybe", "neither yes nor no"),
        ("share=MPI", "number of job processes"),
        ("mem=4Q", "4Q"),
    ],
)
def test_invalid_request_is_refused(text: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        parse_share_request(text, {})


def test_mpi_means_an_equal_part_for_each_rank() -> None:
    env = {"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
    assert local_rank(env) == LocalRank(1, 4)
    assert parse_share_request("cpus=MPI", env).cpus == Amount(part=Fraction(1, 4))
    assert local_rank({"SLURM_LOCALID": "2", "SLURM_NTASKS_PER_NODE": "2(x3)"}) == LocalRank(2)
    assert local_rank({"SLURM_LOCALID": "x"}) is None


def test_map_file_has_one_line_per_rank(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text("# rank wish\n0 cpus=4\n* cores=1,mem=1G # the others\n")
    text = f"map:{path}"
    assert parse_share_request(text, {"MPI_LOCALRANKID": "0"}).cpus == Amount(4)
    assert parse_share_request(text, {"MPI_LOCALRANKID": "3"}).cores == Amount(1)
    assert parse_share_request(text, {}).cores == Amount(1)
    path.write_text("0 cpus=4\n")
    with pytest.raises(InvalidInputError, match="no line for rank 1"):
        parse_share_request(text, {"MPI_LOCALRANKID": "1"})
    with pytest.raises(InvalidInputError, match="the rank of this process is unknown"):
        parse_share_request(text, {})
    path.write_text("0 cpus=4 mem=1\n")
    with pytest.raises(InvalidInputError, match="Line 1"):
        parse_share_request(text, {"MPI_LOCALRANKID": "0"})
    with pytest.raises(InvalidInputError, match="cannot be read"):
        parse_share_request(f"map:{tmp_path}/none", {})


# --- chosen CPUs ----------------------------------------------------------------------------------


def test_whole_cores_are_chosen_unless_partial() -> None:
    cpus = host(cores=4, smt=2)
    assert choose_cpus(ShareRequest(cpus=Amount(3)), cpus, all_of(cpus)) == CpuChoice((0, 1, 4, 5))
    assert choose_cpus(ShareRequest(cpus=Amount(3), partial=True), cpus, all_of(cpus)) == CpuChoice(
        (0, 1, 4)
    )
    # Half a core that somebody else has the other half of is no core.
    assert choose_cpus(ShareRequest(cores=Amount(1)), cpus, all_of(cpus) - {4}) == CpuChoice((1, 5))
    assert choose_cpus(ShareRequest(cpus=Amount(1), partial=True), cpus, {4}) == CpuChoice((4,))


def test_share_that_fits_lies_within_one_cache_or_node() -> None:
    cpus = host(packages=2, nodes=2, caches=2, cores=2)
    of = {cpu.id: cpu for cpu in cpus}
    two = choose_cpus(ShareRequest(cores=Amount(2)), cpus, all_of(cpus))
    assert len({of[i].l3 for i in two.cpus}) == 1
    four = choose_cpus(ShareRequest(cores=Amount(4)), cpus, all_of(cpus))
    assert len({of[i].node for i in four.cpus}) == 1
    six = choose_cpus(ShareRequest(cores=Amount(6)), cpus, all_of(cpus))
    assert len({of[i].package for i in six.cpus}) == 1


def test_smallest_sufficient_node_is_chosen() -> None:
    """Other nodes stay whole for larger requests."""
    cpus = host(nodes=2, cores=4)
    free = all_of(cpus) - {4}
    assert choose_cpus(ShareRequest(cores=Amount(2)), cpus, free) == CpuChoice((5, 6))
    assert choose_cpus(ShareRequest(cores=Amount(2), algorithm="simple"), cpus, free) == CpuChoice(
        (0, 1)
    )


def test_utility_cpus_are_separate() -> None:
    cpus = host(cores=4)
    assert choose_cpus(ShareRequest(cores=Amount(3), utility=1), cpus, all_of(cpus)) == CpuChoice(
        (0, 1), (2,)
    )
    with pytest.raises(InvalidInputError, match="leaves no CPU for the work"):
        choose_cpus(ShareRequest(cores=Amount(2), utility=2), cpus, all_of(cpus))


def test_unsatisfiable_request_is_refused() -> None:
    cpus = host(cores=4)
    with pytest.raises(InvalidInputError, match="the partition has 4"):
        choose_cpus(ShareRequest(cores=Amount(5)), cpus, all_of(cpus))
    with pytest.raises(NotPossibleError, match="1 of the 4 of the partition is free"):
        choose_cpus(ShareRequest(cores=Amount(2)), cpus, {2})
    with pytest.raises(InvalidInputError, match="CPU 7 is not in the partition"):
        choose_cpus(ShareRequest(listed=(2, 7)), cpus, all_of(cpus))
    with pytest.raises(NotPossibleError, match="CPU 2 of the partition is in use"):
        choose_cpus(ShareRequest(listed=(2, 3)), cpus, {0, 1, 3})
    with pytest.raises(NotPossibleError):
        choose_cpus(ShareRequest(), cpus, ())


SHAPES = st.builds(
    host,
    packages=st.integers(1, 2),
    nodes=st.integers(1, 2),
    caches=st.integers(1, 3),
    cores=st.integers(1, 4),
    smt=st.integers(1, 2),
)


@given(SHAPES, st.sampled_from(ALGORITHMS), st.lists(st.integers(1, 6), max_size=8), st.integers())
def test_chosen_cores_are_whole_free_and_local(
    cpus: tuple[Cpu, ...], algorithm: str, wanted: list[int], seed: int
) -> None:
    free = all_of(cpus)
    by_number = {cpu.id: cpu for cpu in cpus}
    for cores in wanted:
        requested = ShareRequest(cores=Amount(cores), algorithm=algorithm)  # type: ignore[arg-type]
        whole = [cpu for cpu in cpus if set(cpu.siblings) <= free]
        try:
            given_ = set(choose_cpus(requested, cpus, free, seed).cpus)
        except (InvalidInputError, NotPossibleError):
            assert len({cpu.core for cpu in whole}) < cores
            continue
        assert given_ <= free
        assert len({by_number[i].core for i in given_}) == cores
        assert all(set(by_number[i].siblings) <= given_ for i in given_)
        if algorithm == "numa":
            nodes: dict[int, set[int]] = {}
            for cpu in whole:
                nodes.setdefault(cpu.node, set()).add(cpu.core)
            fits = any(len(found) >= cores for found in nodes.values())
            assert not fits or len({by_number[i].node for i in given_}) == 1
        free -= given_


@given(SHAPES, st.integers(1, 8), st.data())
def test_partial_requests_get_any_free_cpus(
    cpus: tuple[Cpu, ...], wanted: int, data: st.DataObject
) -> None:
    free = set(data.draw(st.lists(st.sampled_from(sorted(all_of(cpus))), unique=True)))
    try:
        found = choose_cpus(ShareRequest(cpus=Amount(wanted), partial=True), cpus, free)
    except (InvalidInputError, NotPossibleError):
        assert len(free) < wanted
    else:
        assert len(found.cpus) == wanted and set(found.cpus) <= free


def test_partial_request_is_complete_with_partly_used_cores() -> None:
    """Cores of the second cache have one free CPU each, which is too few."""
    cpus = host(packages=1, nodes=1, caches=3, cores=3, smt=2)
    request = ShareRequest(cpus=Amount(3), partial=True)
    assert choose_cpus(request, cpus, {0, 1, 2, 3, 4, 9}).cpus == (0, 1, 9)


def test_controllers_of_one_mount_share_a_group() -> None:
    apart = partition_groups(
        CgroupTree(1, "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/memory"), "a", [1], [0], 1
    )
    assert [group.path for group in apart] == [
        f"/sys/fs/cgroup/{one}/{group_name('a')}" for one in ("cpuset", "memory")
    ]
    both = "/sys/fs/cgroup/cpuset,memory"
    (together,) = partition_groups(CgroupTree(1, both, both), "a", [1], [0], 1)
    assert together.path == f"{both}/{group_name('a')}" and together.files
