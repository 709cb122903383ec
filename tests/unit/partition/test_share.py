"""Shares: layouts of ranks, bounds of a process, and violations of isolation."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings.hosts import machine

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.root import Root
from assay.partition.bounds import CpuBounds, read_bounds
from assay.partition.broker import HeldShare, PartitionState
from assay.partition.cpu_choice import CpuChoice, choose_cpus
from assay.partition.ranks import LocalRank, RankLayout
from assay.partition.registry import (
    Partition,
    activate,
    active_partitions,
    create_folder,
    partition_names,
    select_partition,
)
from assay.partition.reservation import ShareLimits, ShareResources, preview_share
from assay.partition.share import Share
from assay.partition.share_request import ShareRequest, parse_share_request
from assay.settings.gpus import variables_for, visible_in

JOB = {"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "4"}


def rank(number: int, count: int = 4) -> dict[str, str]:
    return {"MPI_LOCALRANKID": str(number), "MPI_LOCALNRANKS": str(count)}


# --- layouts of ranks -----------------------------------------------------------------------------


def test_rank_layouts_are_parsed() -> None:
    one = LocalRank(1, 4)
    assert parse_share_request("share=MPI,layout=compact", JOB).layout == RankLayout(one, 1)
    assert parse_share_request("share=MPI,layout=scatter", JOB).layout == RankLayout(one, None)
    assert parse_share_request("cores=1,layout=scatter:3", JOB).layout == RankLayout(one, 3)
    assert parse_share_request("cores=1,layout=disabled", {}).layout is None
    assert parse_share_request("all", {}) == parse_share_request("share=all", {})


@pytest.mark.parametrize(
    ("text", "env", "told"),
    [
        ("share=MPI,layout=wide", JOB, "unknown layout 'wide'"),
        ("share=MPI,layout=compact:2", JOB, "unknown layout"),
        ("share=MPI,layout=scatter:0", JOB, "stride must be above zero"),
        ("share=MPI,layout=scatter:x", JOB, "is not a number"),
        ("mem=1G,layout=compact", JOB, "their size is missing"),
        ("list=1,layout=compact", JOB, "their size is missing"),
        ("cores=1,layout=compact", {}, "number of job processes"),
    ],
)
def test_invalid_layout_is_refused(text: str, env: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        parse_share_request(text, env)


def placed(text: str, count: int = 4, nodes: int = 2) -> list[tuple[int, ...]]:
    """Return the CPUs of each rank of a job on a host with four cores in each node."""
    cpus = machine(nodes=nodes, cores=4).cpus
    free = {cpu.id for cpu in cpus}
    wishes = [parse_share_request(text, rank(number, count)) for number in range(count)]
    return [choose_cpus(request, cpus, free).cpus for request in wishes]


def test_layouts_place_ranks_compactly_or_scattered() -> None:
    assert placed("share=MPI,layout=compact") == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert placed("share=MPI,layout=scatter") == [(0, 1), (4, 5), (2, 3), (6, 7)]
    assert placed("cores=1,layout=scatter:2") == [(0,), (2,), (1,), (3,)]
    assert placed("cpus=2,partial=yes,layout=compact", count=2) == [(0, 1), (2, 3)]


def test_rank_does_not_get_cpus_outside_its_layout() -> None:
    cpus = machine(cores=4).cpus
    request = parse_share_request("cores=1,layout=compact", rank(1))
    with pytest.raises(NotPossibleError, match="CPU 1 of the partition is in use"):
        choose_cpus(request, cpus, {0, 2, 3})
    with pytest.raises(InvalidInputError, match="too small for rank 3 of 4"):
        choose_cpus(parse_share_request("cores=2,layout=compact", rank(3)), cpus, {0, 1, 2, 3})


@given(
    st.integers(1, 8), st.one_of(st.none(), st.integers(1, 9)), st.integers(1, 4), st.integers(1, 2)
)
def test_ranks_have_disjoint_places(count: int, stride: int | None, nodes: int, smt: int) -> None:
    cpus = machine(nodes=nodes, cores=8, smt=smt).cpus
    layouts = [RankLayout(LocalRank(number, count), stride) for number in range(count)]
    assert sorted(layout.place(nodes) for layout in layouts) == list(range(count))
    wishes = [parse_share_request("share=MPI", rank(number, count)) for number in range(count)]
    given_ = [
        set(
            choose_cpus(
                ShareRequest(cores=request.cores, layout=layout), cpus, {cpu.id for cpu in cpus}
            ).cpus
        )
        for request, layout in zip(wishes, layouts, strict=True)
    ]
    assert sum(map(len, given_)) == len(set().union(*given_))


# --- bounds of a process --------------------------------------------------------------------------


def tree(folder: Path, group: str, **files: str) -> Root:
    """Write a host with control groups of version 2, and this process in one of them."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/self/cgroup").write_text(f"0::{group}\n")
    (folder / "proc/self/mountinfo").write_text(
        "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
    )
    top = folder / "sys/fs/cgroup"
    (top / group.strip("/")).mkdir(parents=True)
    (top / "cpuset.cpus.effective").write_text("0-1\n")
    for path, text in files.items():
        place = top / path.replace("__", "/").replace("_", ".")
        place.write_text(text + "\n")
    return Root(folder)


def test_isolated_partition_is_not_a_bound(tmp_path: Path) -> None:
    """It removes CPUs 2 and 3 from the effective cpusets of other groups."""
    root = tree(tmp_path, "/user", user__cpuset_cpus="", user__cpuset_cpus_effective="0-1")
    assert read_bounds(root, {0, 1}, range(4)) is None


def test_cpuset_of_job_is_a_bound(tmp_path: Path) -> None:
    root = tree(
        tmp_path, "/slurm/job", slurm__cpuset_cpus="0-3", slurm__job__cpuset_cpus="1-2",
        slurm__job__cpuset_cpus_effective="1",
    )  # fmt: skip
    found = read_bounds(root, {1}, range(8))
    assert found is not None and found.cpus == {1, 2}
    assert str(found) == "its control group /sys/fs/cgroup/slurm/job has CPUs 1-2"


def test_narrower_affinity_is_a_bound(tmp_path: Path) -> None:
    root = tree(tmp_path, "/user", user__cpuset_cpus_effective="0-1")
    found = read_bounds(root, {0}, range(4))
    assert found is not None and found.cpus == {0} and "taskset" in found.reason


def test_group_of_other_programs_is_not_a_bound(tmp_path: Path) -> None:
    place = tmp_path / "sys/fs/cgroup/cpuset/assay.others"
    place.mkdir(parents=True)
    for folder, cpus in ((place, "0-1"), (place.parent, "0-3")):
        (folder / "cpuset.cpus").write_text(cpus)
        (folder / "cpuset.effective_cpus").write_text(cpus)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("3:cpuset:/assay.others\n")
    (tmp_path / "proc/self/mountinfo").write_text(
        "30 20 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    )
    assert read_bounds(Root(tmp_path), {0, 1}, range(4)) is None


STATE = PartitionState(
    name="work",
    version="1",
    cpus="0-3",
    free_cpus="0-3",
    memory_bytes=0,
    free_bytes=0,
    gpus="0-1",
    free_gpus="0-1",
)


def test_share_lies_within_bounds() -> None:
    cpus = machine(cores=4).cpus
    within = ShareLimits(CpuBounds(frozenset({2, 3}), "its affinity"))
    assert preview_share(
        parse_share_request("cores=2", {}), STATE, cpus, 0, within
    ).choice.cpus == (2, 3)
    with pytest.raises(NotPossibleError, match="This process may not use CPU 1: its affinity"):
        preview_share(parse_share_request("list=1-2", {}), STATE, cpus, 0, within)
    with pytest.raises(
        NotPossibleError, match=r"of the partition that this process may use \(2-3\)"
    ):
        preview_share(parse_share_request("cores=3", {}), STATE, cpus, 0, within)
    with pytest.raises(NotPossibleError, match="No CPU of the partition work is online"):
        preview_share(parse_share_request("cores=1", {}), STATE, (), 0, within)


def test_holder_of_requested_share_is_named() -> None:
    taken = msgspec.structs.replace(
        STATE,
        free_cpus="",
        free_gpus="",
        shares=(HeldShare(lease=1, cpus="0-3", gpus="0-1", uid=0, pid=7),),
    )
    cpus = machine(cores=4).cpus
    for request in ("cores=1", "list=2"):
        with pytest.raises(NotPossibleError) as refused:
            preview_share(parse_share_request(request, {}), taken, cpus)
        assert refused.value.cause.endswith("In use: root has CPUs 0-3, GPUs 0-1 (process 7)."), (
            request
        )
    with pytest.raises(
        NotPossibleError, match="1 core was requested, but none of the 4 "
    ) as refused:
        preview_share(parse_share_request("cores=1", {}), taken, cpus)
    assert refused.value.remedy == "Wait for other runs."


# --- GPUs -----------------------------------------------------------------------------------------


def test_share_contains_visible_gpus_only() -> None:
    cpus = machine(cores=4).cpus
    request = parse_share_request("gpus=1", {})
    assert preview_share(request, STATE, cpus, 0, ShareLimits(gpus=frozenset({1}))).gpus == (1,)
    with pytest.raises(NotPossibleError, match="only 0 of those"):
        preview_share(request, STATE, cpus, 0, ShareLimits(gpus=frozenset({5})))


def test_visible_gpus_are_read_if_they_are_numbers() -> None:
    assert visible_in({}) is None
    assert visible_in({"CUDA_VISIBLE_DEVICES": "0,2"}) == {0, 2}
    assert visible_in({"CUDA_VISIBLE_DEVICES": "GPU-8932f937"}) is None
    assert visible_in({"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": "1"}) == {1}


def test_variables_fit_the_runtime_of_the_gpus(tmp_path: Path) -> None:
    told = variables_for((1,), Root(tmp_path))
    assert told["CUDA_VISIBLE_DEVICES"] == told["ZE_AFFINITY_MASK"] == "1"
    (tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0").mkdir(parents=True)
    told = variables_for((0, 1), Root(tmp_path))
    assert told == {"CUDA_VISIBLE_DEVICES": "0,1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


# --- selection of a partition ---------------------------------------------------------------------


def stands(name: str, env: dict[str, str], cpus: str = "1") -> Path:
    folder = create_folder(name, env)
    made = Partition(
        name=name,
        boot_id="x",
        version=2,
        root_group="/sys/fs/cgroup",
        cpus=cpus,
        nodes="0",
        groups=(),
    )
    activate(made, folder)
    return folder


def test_partition_is_selected_by_name_or_as_the_only_one(tmp_path: Path) -> None:
    env = {"ASSAY_RUN": str(tmp_path)}
    with pytest.raises(NotPossibleError, match="This host has no partition"):
        select_partition(None, env)
    with pytest.raises(NotPossibleError, match="named 'quiet'") as refused:
        select_partition("quiet", env)
    assert "assay partition create quiet --cpus" in str(refused.value)
    create_folder("begun", env)
    stands("a", env)
    assert select_partition(None, env) == "a"
    stands("b", env)
    assert [made.name for made in active_partitions(env)] == ["a", "b"]
    assert select_partition("b", env) == "b"
    with pytest.raises(InvalidInputError, match="This host has 2 partitions: a, b"):
        select_partition(None, env)
    with pytest.raises(InvalidInputError, match="Unknown partition: 'begun'"):
        select_partition("begun", env)


def test_folder_writable_by_others_is_refused(tmp_path: Path) -> None:
    env = {"ASSAY_RUN": str(tmp_path / "run")}
    stands("a", env)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "run/partitions/led").symlink_to(elsewhere, target_is_directory=True)
    assert partition_names(env) == ("a",)
    for folder in (tmp_path / "run", tmp_path / "run/partitions"):
        folder.chmod(0o777)
        for ask in (partition_names, active_partitions, lambda env: select_partition("a", env)):
            with pytest.raises(NotPossibleError, match="Other users may write to"):
                ask(env)
        folder.chmod(0o755)
    assert select_partition(None, env) == "a"


# --- violations of isolation ----------------------------------------------------------------------


@pytest.fixture
def share(tmp_path: Path) -> Share:
    """Provide CPUs 2 to 4 of an isolated partition of version 2."""
    lease = tmp_path / "lease-7"
    lease.mkdir()
    (tmp_path / "cpuset.cpus.partition").write_text("isolated\n")
    (lease / "cpuset.cpus.effective").write_text("2-4\n")
    part = ShareResources(CpuChoice((2, 3), (4,)), 1 << 30, (0,))
    return Share("work", part, 7, (str(lease),))


def test_share_is_described_as_text_variables_and_machine(share: Share) -> None:
    assert str(share) == (
        "partition work: CPUs 2-3, utility CPU 4, 1.00 GiB of memory, GPU 0 (lease 7)"
    )
    assert share.variables["ASSAY_UTILITY_CPUS"] == "4"
    visible = share.machine_within(machine(cores=8))
    assert visible.allowed_cpus == (2, 3) and visible.memory_limit_bytes == 1 << 30


def test_intact_partition_has_no_violations(share: Share) -> None:
    assert not share.violations(share.read_files(), share.read_files())


def notes(share: Share, *looks: dict[str, str]) -> list[str]:
    found = share.violations(*looks)
    assert all(piece.kind == "partition" and piece.external for piece in found)
    return [piece.note or "" for piece in found]


def test_lost_isolation_is_a_violation(share: Share, tmp_path: Path) -> None:
    before = share.read_files()
    path = tmp_path / "cpuset.cpus.partition"
    path.write_text("isolated invalid (Cpu list in cpuset.cpus not exclusive)\n")
    (note,) = notes(share, before, share.read_files())
    assert note.startswith(f"{path}: isolated became isolated invalid (Cpu list")
    (note,) = notes(share, share.read_files(), share.read_files())  # it did not hold from the start
    assert note.startswith(f"{path}: isolated invalid")
    invalid = share.read_files()
    path.write_text("isolated\n")
    (note,) = notes(share, invalid, share.read_files())
    assert note.endswith("became isolated")


def test_missing_isolation_before_launch_is_a_violation(share: Share, tmp_path: Path) -> None:
    path = tmp_path / "cpuset.cpus.partition"
    path.write_text("member\n")
    look = share.read_files()
    assert notes(share, look, look) == [f"{path}: member; isolation requires isolated"]


def test_missing_isolation_of_version_1_is_a_violation(tmp_path: Path) -> None:
    group = tmp_path / "assay-work"
    lease = group / "lease-7"
    lease.mkdir(parents=True)
    files = {
        group / "cpuset.cpu_exclusive": "1",
        group / "cpuset.sched_load_balance": "0",
        tmp_path / "cpuset.sched_load_balance": "0",
        lease / "cpuset.effective_cpus": "2-3",
    }
    for path, text in files.items():
        path.write_text(text + "\n")
    held = Share("work", ShareResources(CpuChoice((2, 3), ()), 0, ()), 7, (str(lease),))
    assert not held.violations(held.read_files(), held.read_files())
    for path, text in list(files.items())[:3]:
        path.write_text("0\n" if text == "1" else "1\n")
        look = held.read_files()
        (note,) = notes(held, look, look)
        assert note.startswith(f"{path}: ") and note.endswith(f"isolation requires {text}")
        path.write_text(text + "\n")


def test_lost_cpus_or_group_of_a_share_are_violations(share: Share, tmp_path: Path) -> None:
    before = share.read_files()
    (tmp_path / "lease-7/cpuset.cpus.effective").write_text("2-3\n")
    (note,) = notes(share, before, share.read_files())
    assert note.endswith("cpuset.cpus.effective: 2-3; the share has 2-4")
    (tmp_path / "lease-7/cpuset.cpus.effective").unlink()
    assert not share.violations(
        before, share.read_files()
    )  # a tree of limits on memory has no such file
    (tmp_path / "lease-7").rmdir()
    assert notes(share, before, share.read_files()) == [f"{tmp_path}/lease-7 is missing"]
