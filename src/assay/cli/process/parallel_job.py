"""Ranks: assay as one of several processes of a parallel job."""

from __future__ import annotations

import sys
from collections.abc import Mapping

SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""Variables in which launchers say how many processes they started: Open MPI, PMI (MPICH, Intel
MPI), MVAPICH2, srun. SLURM_NTASKS is there in batch scripts as well, which run once."""


def warn_of_parallel_job(environ: Mapping[str, str], *, quiet: bool) -> None:
    """Say that several processes of a job make studies side by side.

    Args:
        environ: of this process.
        quiet: say nothing.
    """
    found = parallel_job_of(environ)
    if found is not None and not quiet:
        name, count = found
        print(
            f"assay: this is one of {count} processes of a parallel job ({name}), and each makes a "
            "study of its own beside the others; start assay once, and the job within it: "
            f"assay ... -- mpirun -n {count} PROGRAM.",
            file=sys.stderr,
        )


def parallel_job_of(environ: Mapping[str, str]) -> tuple[str, int] | None:
    """Return how many processes a launcher started, and the variable that tells.

    Args:
        environ: of one of them.

    Returns:
        ``None`` where there is one, or no launcher.
    """
    for name in SIZE_VARIABLES:
        text = environ.get(name, "")
        if text.isascii() and text.isdecimal() and int(text) > 1:
            return name, int(text)
    return None
