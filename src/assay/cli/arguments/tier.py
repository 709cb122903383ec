"""Command line of ``assay tier`` as requests, one for each action."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path

from assay.api.options.option_values import parse_quantity
from assay.cli.arguments.reservation import reservation_of
from assay.cli.arguments.run import run_argv
from assay.cli.files.output_file import output_path
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.run import RunRequest
from assay.requests.tier import (
    TierBenchRequest,
    TierDoctorRequest,
    TierPredictRequest,
    TierRunRequest,
    TierTopRequest,
)
from assay.units import parse_bytes, parse_duration_s


def doctor_request(parsed: Parsed) -> TierDoctorRequest:
    """Return the request of ``assay tier doctor``."""
    return TierDoctorRequest(path=parsed.arguments.path or "")


def tier_run_request(parsed: Parsed) -> TierRunRequest:
    """Return the request of ``assay tier run``.

    Raises:
        InvalidInputError: an option or the command is missing, or options exclude each other.
    """
    arguments = parsed.arguments
    if not arguments.dram:
        raise InvalidInputError("`assay tier run` needs --dram.", "Write --dram, as in --dram 8G.")
    if arguments.how == "advisor" and arguments.path:
        raise InvalidInputError(
            "`assay tier run --how advisor` takes no --path.",
            "Leave it out: the advisor uses the kernel's swap.",
        )
    if arguments.how != "advisor" and not arguments.path:
        raise InvalidInputError(
            "`assay tier run` needs --path.",
            "Write --path, as in --path /mnt/nvme, or --how advisor, which needs no path.",
        )
    run = RunRequest(
        argv=run_argv(parsed),
        settings=tuple(arguments.assignments),
        reserve=reservation_of(arguments),
        record=arguments.record or None,
        explain=arguments.explain,
    )
    return TierRunRequest(
        run=run,
        dram=arguments.dram,
        path=arguments.path,
        how=arguments.how or "auto",
        numa=arguments.numa,
        keep_free=arguments.keep_free,
        trace=arguments.trace,
        replay=arguments.replay,
    )


def top_request(parsed: Parsed) -> TierTopRequest:
    """Return the request of ``assay tier top``.

    Raises:
        InvalidInputError: an invalid interval.
    """
    text = parsed.arguments.every
    if text is None:
        return TierTopRequest()
    return TierTopRequest(interval_s=parse_quantity("--every", text, parse_duration_s))


def predict_request(parsed: Parsed) -> TierPredictRequest:
    """Return the request of ``assay tier predict``.

    Raises:
        InvalidInputError: the command or a size is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    _demand_sizes(parsed, dram_example="8G")
    if not parsed.command:
        raise InvalidInputError("The program is missing.", "Write it after --, as in -- ./app.")
    text = getattr(arguments, "for")
    duration = {"duration_s": parse_quantity("--for", text, parse_duration_s)} if text else {}
    return TierPredictRequest(
        argv=parsed.command,
        path=arguments.path,
        dram_bytes=parse_quantity("--dram", arguments.dram, parse_bytes),
        numa=arguments.numa,
        **duration,
    )


def bench_request(parsed: Parsed) -> TierBenchRequest:
    """Return the request of ``assay tier bench``.

    Raises:
        InvalidInputError: a size is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    _demand_sizes(parsed, dram_example="256M")
    text = arguments.budget
    budget = {"budget_s": parse_quantity("--budget", text, parse_duration_s)} if text else {}
    return TierBenchRequest(
        path=arguments.path,
        dram_bytes=parse_quantity("--dram", arguments.dram, parse_bytes),
        works=tuple(arguments.work),
        data=_data(arguments),
        threads=_threads(arguments),
        **budget,
    )


def heatmap_path(parsed: Parsed) -> Path | None:
    """Return the file of the efficiencies of ``assay tier bench``; ``None`` for none.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    output = parsed.arguments.output
    return output_path("--output", output, (".svg",)) if output else None


def _demand_sizes(parsed: Parsed, *, dram_example: str) -> None:
    for name, example in (("dram", dram_example), ("path", "/mnt/nvme")):
        if not getattr(parsed.arguments, name):
            raise InvalidInputError(
                f"`assay tier {parsed.action}` needs --{name}.",
                f"Write --{name}, as in --{name} {example}.",
            )


def _data(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Return the sizes of ``--data`` as multiples of DRAM, each once.

    Raises:
        InvalidInputError: an invalid number.
    """
    text = arguments.data
    if not text:
        return ()
    try:
        sizes = tuple(dict.fromkeys(map(float, text.split(","))))
    except ValueError:
        sizes = ()
    if not sizes or not all(0.0 < one < math.inf for one in sizes):
        raise InvalidInputError(
            f"--data: invalid list {text!r}.", "Write numbers above 0: --data 0.5,2,4."
        )
    return sizes


def _threads(arguments: argparse.Namespace) -> tuple[int, ...]:
    """Return the numbers of threads, each once.

    Raises:
        InvalidInputError: an invalid number, or more than two threads for each CPU.
    """
    text = arguments.threads
    if not text:
        return ()
    cpus = len(os.sched_getaffinity(0))
    words = text.split(",")
    known = all(word.isascii() and word.isdecimal() for word in words)
    if not known or not all(1 <= int(word) <= 2 * cpus for word in words):
        raise InvalidInputError(
            f"--threads: invalid list {text!r}.",
            f"Write numbers from 1 to {2 * cpus}, two for each CPU: --threads 1,{2 * cpus}.",
        )
    return tuple(dict.fromkeys(map(int, words)))
