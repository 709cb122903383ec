"""``assay machine noise``: OS noise of this machine and its likely causes."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from assay.bundle.files import replace_atomically
from assay.cli.files.output_file import output_path
from assay.cli.machine.noise_document import noise_document
from assay.cli.machine.noise_text import figure_lines, noise_lines
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.process.termination import Terminated, terminate_in_order
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import AssayError, InvalidInputError
from assay.machine.cpulist import format_list, parse_list
from assay.machine.processor import read_kernel, read_processor
from assay.machine.root import LIVE
from assay.machine.state import read_hypervisor
from assay.noise.driver import METHODS, NoiseMeasurement, NoiseMeter, NoiseRequest, find_noise
from assay.noise.periods import known_periods
from assay.noise.summary import NoiseSummary, summarize_noise
from assay.noise.tracers import TOOLS, KernelTrace, demand_tracer, with_lost_events
from assay.records.noise import NoiseRun
from assay.units import parse_duration_s, show_duration
from assay.untrusted import clean

DEFAULT_DURATION = "3s"
DEFAULT_QUANTUM = "1ms"
DEFAULT_THRESHOLD = "1us"
MAX_DURATION_S = 3600.0
MIN_PIECES = 10
"""Minimum length of a measurement, in quanta and in thresholds."""
ENDINGS = (".svg", ".html")


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print the results; after Ctrl-C those so far."""
    output = output_path("-o", arguments.output, ENDINGS) if arguments.output else None
    requests = _requests(arguments)
    if not arguments.quiet:
        warn_of_partitions()
    msgspec.json.Decoder(NoiseRun)  # caches the type: see assay.cli.process.termination
    terminate_in_order()
    if arguments.tool:
        answer, status = _traced(arguments.tool, requests[0])
    else:
        answer, status = _measured(requests, quiet=arguments.quiet or arguments.json)
    if not answer.runs:
        return status
    _give(arguments, answer, output)
    return status


def _requests(arguments: argparse.Namespace) -> tuple[NoiseRequest, ...]:
    """Return the measurements in order.

    Raises:
        InvalidInputError: an unknown method, or an invalid option.
    """
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
    _demand_room(seconds, quantum_s, threshold_s)
    return tuple(
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


def _demand_room(seconds: float, quantum_s: float, threshold_s: float) -> None:
    """Raise an error on a measurement that is too short for its quantum or threshold.

    Raises:
        InvalidInputError: it is shorter than ``MIN_PIECES`` of them.
    """
    for option, piece_s in (("--quantum", quantum_s), ("--threshold", threshold_s)):
        if seconds < MIN_PIECES * piece_s:
            raise InvalidInputError(
                f"{option} {piece_s:g} s is too long for a measurement of {seconds:g} s.",
                f"Measure for at least {MIN_PIECES} times as long: --seconds "
                f"{MIN_PIECES * piece_s:g}.",
            )


def _cpus(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    cpus = parse_list(text)
    usable = os.sched_getaffinity(0)
    beyond = [cpu for cpu in cpus if cpu not in usable]
    if not cpus or beyond:
        raise InvalidInputError(
            f"--cpus {text}: CPU {beyond[0]} cannot be used."
            if beyond
            else f"--cpus {text!r} contains no CPU.",
            f"This process may use {format_list(usable)}.",
        )
    return cpus


def _time(text: str, option: str, least_s: float, most_s: float) -> float:
    found_s = parse_duration_s(text)
    if not least_s <= found_s <= most_s:
        raise InvalidInputError(
            f"{option} {text} is out of range.",
            f"It takes from {show_duration(least_s)} to {show_duration(most_s)}.",
        )
    return found_s


def _measured(requests: Sequence[NoiseRequest], *, quiet: bool) -> tuple[NoiseSummary, int]:
    """Run all methods in turn; a signal ends the running one and skips the rest."""
    program = find_noise(os.environ)
    found: list[NoiseMeasurement] = []
    status = 0
    try:
        for request in requests:
            if not quiet:
                print(f"measuring: {request.method}, {request.seconds:g} s", file=sys.stderr)
            with NoiseMeter(program, request, os.environ) as meter:
                try:
                    meter.wait()
                except (KeyboardInterrupt, Terminated):
                    meter.stop()
                    with contextlib.suppress(AssayError):  # no sample so far
                        found.append(meter.found())
                    raise
                found.append(meter.found())
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except Terminated as termination:
        status = 128 + termination.number
    return summarize_noise(found, known_periods(), guest=_is_guest()), status


def _traced(tool: str, request: NoiseRequest) -> tuple[NoiseSummary, int]:
    """Measure with a tracer of the kernel.

    Raises:
        NotPossibleError: the kernel lacks the tracer, or does not permit it to this user.
    """
    folder = demand_tracer(tool)
    cpus = request.cpus or tuple(sorted(os.sched_getaffinity(0)))
    status, began_s = 0, time.monotonic()
    with KernelTrace(folder, tool, cpus).running() as trace:
        try:
            time.sleep(request.seconds)
        except KeyboardInterrupt:
            status = 128 + signal.SIGINT
        except Terminated as termination:
            status = 128 + termination.number
        length_s = time.monotonic() - began_s
        text, lost = trace.text(), trace.lost()
    traced = TOOLS[tool](text, length_s, cpus)
    found = NoiseMeasurement(
        run=with_lost_events(traced.run, lost), steal_s={}, switches=0, busiest_processes=()
    )
    return summarize_noise(
        [found], known_periods(), guest=_is_guest(), causes=traced.causes
    ), status


def _is_guest() -> bool:
    flags = read_processor(LIVE).flags
    return read_hypervisor(LIVE, flags, read_kernel(LIVE).arch) is not None


def _give(arguments: argparse.Namespace, answer: NoiseSummary, output: Path | None) -> None:
    if output is not None:
        with replace_atomically(output) as file:
            file.write(_picture(output, answer).encode())
    if arguments.json:
        print_json(noise_document(answer))
    elif arguments.figures:
        print("\n".join(figure_lines(answer)))
    else:
        print("\n".join(_shown(answer, brief=arguments.quiet)))
    if output is not None and not arguments.quiet:
        print(f"The picture is {clean(str(output))}", file=sys.stderr)


def _shown(answer: NoiseSummary, *, brief: bool) -> Iterator[str]:
    return wrapped(noise_lines(answer, brief=brief), width_of(sys.stdout))


def _picture(output: Path, answer: NoiseSummary) -> str:
    from assay.reporting.machine_noise import machine_noise_figure, noise_page
    from assay.reporting.pictures.detours import detours_svg
    from assay.reporting.pictures.theme import standalone

    assert answer.source is not None  # there are runs
    rhythms = [(1 / one.period.period_s, one.likely) for one in answer.rhythms]
    figure = machine_noise_figure(answer.source, answer.histogram, answer.spectrum, rhythms)
    now = datetime.datetime.now(datetime.UTC)
    model = read_processor(LIVE).model
    svg = detours_svg(replace(figure, machine=model, date=f"{now:%Y-%m-%d %H:%M} UTC"))
    if output.suffix == ".svg":
        return standalone(svg)
    return noise_page(svg, "\n".join(noise_lines(answer)))
