"""Arguments of a kernel's program for data and threads."""

from __future__ import annotations

import os
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.requests.case import CaseShowRequest
from assay.units import show_count


def data_words(request: CaseShowRequest) -> tuple[str, ...]:
    """Return the arguments that select the data."""
    words = ["--size", request.size]
    for name, value in request.parameters.items():
        words += [f"--{name}", value]
    return tuple(words)


def thread_words(request: CaseShowRequest, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments that select the number of threads; none for the default of OpenMP.

    Raises:
        InvalidInputError: OMP_NUM_THREADS is greater than the number of CPUs, without
            ``--threads``.
    """
    if request.threads:
        return ("--threads", request.threads)
    threads, cpus = env.get("OMP_NUM_THREADS", ""), len(os.sched_getaffinity(0))
    if threads.isdecimal() and int(threads) > cpus:
        raise InvalidInputError(
            f"OMP_NUM_THREADS={threads} exceeds the {show_count(cpus, 'CPU', 'CPUs')} that this "
            "process may use.",
            f"Unset it, or add --threads {cpus}.",
        )
    return ()
