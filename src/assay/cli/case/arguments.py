"""Arguments of a kernel's program for data and threads."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.units import show_count

DEFAULT_SIZE = "L2"


def data_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the arguments that select the data.

    Raises:
        InvalidInputError: a word that is not PARAMETER=N.
    """
    words = ["--size", arguments.size or DEFAULT_SIZE]
    for text in arguments.values:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInputError(
                f"Invalid parameter: {text!r}.",
                f"Write PARAMETER=N: `assay case show {arguments.name}` lists the parameters.",
            )
        words += [f"--{name}", value]
    return tuple(words)


def thread_words(arguments: argparse.Namespace, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments that select the number of threads; none for the default of OpenMP.

    Raises:
        InvalidInputError: OMP_NUM_THREADS is greater than the number of CPUs, without
            ``--threads``.
    """
    if arguments.threads:
        return ("--threads", arguments.threads)
    threads, cpus = env.get("OMP_NUM_THREADS", ""), len(os.sched_getaffinity(0))
    if threads.isdecimal() and int(threads) > cpus:
        raise InvalidInputError(
            f"OMP_NUM_THREADS={threads} exceeds the {show_count(cpus, 'CPU', 'CPUs')} that this "
            "process may use.",
            f"Unset it, or add --threads {cpus}.",
        )
    return ()
