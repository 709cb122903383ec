"""Restriction by the affinity mask at the start of assay."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.machine.cpu_restriction import describe_restriction, read_restriction
from assay.machine.document import CpuRestriction
from assay.machine.root import Root


@pytest.mark.parametrize(
    ("env", "by", "remedy"),
    [
        ({"OMPI_COMM_WORLD_SIZE": "1"}, "Open MPI", "mpirun --bind-to none"),
        ({"SLURM_CPU_BIND": "quiet,mask_cpu:0x1"}, "Slurm", "srun --cpu-bind=none"),
        ({}, None, "taskset -c 0-1 assay ..."),
    ],
)
def test_restricting_mask_is_reported_with_remedy(
    tmp_path: Path, env: dict[str, str], by: str | None, remedy: str
) -> None:
    found = read_restriction(Root(tmp_path), env, (0, 1), (0,))
    assert found == CpuRestriction(granted_cpus=(0, 1), launcher=by)
    assert describe_restriction(found, (0,)).startswith("limited to CPU 0 of 0-1")
    assert remedy in describe_restriction(found, (0,))


def test_isolated_cpus_are_not_a_restriction(tmp_path: Path) -> None:
    folder = tmp_path / "sys/devices/system/cpu"
    folder.mkdir(parents=True)
    (folder / "isolated").write_text("2-3\n")
    assert read_restriction(Root(tmp_path), {}, (0, 1, 2, 3), (0, 1)) is None
    found = read_restriction(Root(tmp_path), {}, (0, 1, 2, 3), (0, 2))
    assert found == CpuRestriction(granted_cpus=(0, 1, 2))
