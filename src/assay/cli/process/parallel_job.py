"""Detection of a parallel job that runs several processes of assay."""

from __future__ import annotations

import sys
from collections.abc import Mapping

SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""Variables with the number of processes of a job: Open MPI, PMI (MPICH, Intel MPI), MVAPICH2 and
srun. SLURM_NTASKS is also set in batch scripts, which run once."""


def warn_of_parallel_job(environ: Mapping[str, str], *, quiet: bool) -> None:
    """Warn that several processes of a job run studies at the same time.

    Args:
        environ: environment of this process.
        quiet: print nothing.
    """
    found = parallel_job_of(environ)
    if found is not None and not quiet:
        name, count = found
        print(
            f"assay: {count} processes of a parallel job run assay ({name}), and each one runs a "
            "study of its own. Start assay once, and let it launch the job: "
            f"assay ... -- mpirun -n {count} PROGRAM.",
            file=sys.stderr,
        )


def parallel_job_of(environ: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the variable with the number of processes of a job, and the number.

    Args:
        environ: environment of one of the processes.

    Returns:
        ``None`` for a single process, or without a launcher of jobs.
    """
    for name in SIZE_VARIABLES:
        text = environ.get(name, "")
        if text.isascii() and text.isdecimal() and int(text) > 1:
            return name, int(text)
    return None
