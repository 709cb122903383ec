"""Command line of ``assay machine noise`` as a request."""

from __future__ import annotations

import os
from pathlib import Path

from assay.api.options.option_values import parse_quantity
from assay.cli.files.output_file import output_path
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list
from assay.noise.driver import METHODS, NoiseRequest
from assay.noise.tracers import TOOLS
from assay.requests.noise import MachineNoiseRequest
from assay.units import parse_duration_s, show_duration

DEFAULT_DURATION = "3s"
DEFAULT_QUANTUM = "1ms"
DEFAULT_THRESHOLD = "1us"
MAX_DURATION_S = 3600.0
MIN_PERIODS = 10
"""Minimum length of a measurement, in quanta and in thresholds."""
PICTURE_SUFFIXES = (".svg", ".html")


def picture_path(parsed: Parsed) -> Path | None:
    """Return the file of the picture; ``None`` for none.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    output = parsed.arguments.output
    return output_path("-o", output, PICTURE_SUFFIXES) if output else None


def prints_figures(parsed: Parsed) -> bool:
    """Return whether the results are printed as lines of name, value and unit."""
    figures: bool = parsed.arguments.figures
    return figures


def noise_request(parsed: Parsed) -> MachineNoiseRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: an unknown method, or an invalid option.
    """
    arguments = parsed.arguments
    unknown = [word for word in arguments.words if word not in METHODS]
    if unknown:
        raise InvalidInputError(
            f"Unknown method {unknown[0]!r}.",
            f"Known methods are {', '.join(METHODS)} (default: all).",
        )
    twice = [word for word in METHODS if arguments.words.count(word) > 1]
    if twice:
        raise InvalidInputError(f"{twice[0]} is given twice.", "Write each method once.")
    if arguments.figures and arguments.json:
        raise InvalidInputError(
            "--figures and --json exclude each other.",
            "Write one of them: the document of --json contains the figures too.",
        )
    if arguments.tool and arguments.tool not in TOOLS:
        raise InvalidInputError(
            f"--tool: unknown tracer {arguments.tool}.", f"Known are {', '.join(TOOLS)}."
        )
    if arguments.tool and arguments.words:
        raise InvalidInputError(
            f"--tool {arguments.tool} and the method {arguments.words[0]} exclude each other.",
            "Write one of them.",
        )
    cpus = _cpus(arguments.cpus)
    seconds = _time(arguments.seconds or DEFAULT_DURATION, "--seconds", 0.01, MAX_DURATION_S)
    quantum_s = _time(arguments.quantum or DEFAULT_QUANTUM, "--quantum", 1e-6, 1.0)
    threshold_s = _time(arguments.threshold or DEFAULT_THRESHOLD, "--threshold", 1e-7, 1.0)
    _demand_length(seconds, quantum_s, threshold_s)
    measurements = tuple(
        NoiseRequest(
            method=method,
            seconds=seconds,
            cpus=cpus,
            quantum_s=quantum_s,
            threshold_s=threshold_s,
        )
        for method in METHODS
        if not arguments.words or method in arguments.words
    )
    return MachineNoiseRequest(measurements=measurements, tool=arguments.tool)


def _demand_length(seconds: float, quantum_s: float, threshold_s: float) -> None:
    """Raise an error on a measurement that is too short for its quantum or threshold.

    Raises:
        InvalidInputError: it is shorter than ``MIN_PERIODS`` of them.
    """
    for option, period_s in (("--quantum", quantum_s), ("--threshold", threshold_s)):
        if seconds < MIN_PERIODS * period_s:
            raise InvalidInputError(
                f"{option} {period_s:g} s is too long for a measurement of {seconds:g} s.",
                f"Measure for at least {MIN_PERIODS} times as long: --seconds "
                f"{MIN_PERIODS * period_s:g}.",
            )


def _cpus(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    cpus = parse_list(text)
    usable = os.sched_getaffinity(0)
    unusable = [cpu for cpu in cpus if cpu not in usable]
    if not cpus or unusable:
        raise InvalidInputError(
            f"--cpus {text}: CPU {unusable[0]} cannot be used."
            if unusable
            else f"--cpus {text!r} contains no CPU.",
            f"This process may use {format_list(usable)}.",
        )
    return cpus


def _time(text: str, option: str, min_s: float, max_s: float) -> float:
    found_s = parse_quantity(option, text, parse_duration_s)
    if not min_s <= found_s <= max_s:
        raise InvalidInputError(
            f"{option} {text} is out of range.",
            f"It takes from {show_duration(min_s)} to {show_duration(max_s)}.",
        )
    return found_s
