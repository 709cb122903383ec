"""Asked: which data and how many threads a case is to have."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.units import show_count

USUAL_SIZE = "L2"


def data_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The words of a kernel's command line that say which data.

    Raises:
        InvalidInputError: a word that says nothing.
    """
    words = ["--size", arguments.size or USUAL_SIZE]
    for text in arguments.values:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInputError(
                f"{text!r} says nothing of the work.",
                f"Write PARAMETER=N: `assay case show {arguments.name}` names the parameters.",
            )
        words += [f"--{name}", value]
    return tuple(words)


def thread_words(arguments: argparse.Namespace, env: Mapping[str, str]) -> tuple[str, ...]:
    """Those that say how many threads; none where it is left to OpenMP.

    Raises:
        InvalidInputError: OpenMP is told of more than there are CPUs; who means that says ``--threads``.
    """
    if arguments.threads:
        return ("--threads", arguments.threads)
    told, cpus = env.get("OMP_NUM_THREADS", ""), len(os.sched_getaffinity(0))
    if told.isdecimal() and int(told) > cpus:
        raise InvalidInputError(
            f"OMP_NUM_THREADS={told} is more than the {show_count(cpus, 'CPU', 'CPUs')} that this "
            "process may use.",
            f"Unset it, or say --threads {cpus}.",
        )
    return ()
