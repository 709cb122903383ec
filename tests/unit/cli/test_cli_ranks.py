"""assay as one of several processes of a parallel job."""

from __future__ import annotations

import pytest

from assay.cli.process.parallel_job import parallel_job_of, warn_of_parallel_job


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"OMPI_COMM_WORLD_SIZE": "4"}, ("OMPI_COMM_WORLD_SIZE", 4)),
        ({"PMI_SIZE": "2", "PMI_RANK": "0"}, ("PMI_SIZE", 2)),
        ({"SLURM_STEP_NUM_TASKS": "128"}, ("SLURM_STEP_NUM_TASKS", 128)),
        ({"OMPI_COMM_WORLD_SIZE": "1"}, None),
        ({"SLURM_NTASKS": "64"}, None),
        ({"PMI_SIZE": "many"}, None),
        ({}, None),
    ],
)
def test_number_of_processes_is_read_from_the_environment(
    environ: dict[str, str], expected: tuple[str, int] | None
) -> None:
    assert parallel_job_of(environ) == expected


def test_study_of_one_rank_says_how_to_start_one_of_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    warn_of_parallel_job({"PMI_SIZE": "3"}, quiet=False)
    assert "3 processes of a parallel job" in (err := capsys.readouterr().err)
    assert "mpirun -n 3 PROGRAM" in err
    warn_of_parallel_job({"PMI_SIZE": "3"}, quiet=True)
    warn_of_parallel_job({}, quiet=False)
    assert capsys.readouterr().err == ""
