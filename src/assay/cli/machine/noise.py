"""``assay machine noise``: OS noise of this machine and its likely causes."""

from __future__ import annotations

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
from assay.cli.arguments.common import common_options
from assay.cli.arguments.noise import noise_request, picture_path, prints_figures
from assay.cli.machine.noise_document import noise_answer
from assay.cli.machine.noise_text import figure_lines, noise_lines
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.parsing.parser import Parsed
from assay.cli.process.termination import Terminated, terminate_in_order
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import AssayError
from assay.machine.processor import read_kernel, read_processor
from assay.machine.root import LIVE
from assay.machine.state import read_hypervisor
from assay.noise.driver import NoiseMeasurement, NoiseMeter, NoiseRequest, find_noise
from assay.noise.periods import known_periods
from assay.noise.summary import NoiseSummary, summarize_noise
from assay.noise.tracers import TOOLS, KernelTrace, demand_tracer, with_lost_events
from assay.records import to_builtins
from assay.records.noise import NoiseRun
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Measure, and print the results; after Ctrl-C those so far."""
    output, figures = picture_path(parsed), prints_figures(parsed)
    request, options = noise_request(parsed), common_options(parsed)
    measurements = request.measurements
    if not options.quiet:
        warn_of_partitions()
    msgspec.json.Decoder(NoiseRun)  # caches the type: see assay.cli.process.termination
    terminate_in_order()
    if request.tool:
        answer, status = _traced(request.tool, measurements[0])
    else:
        answer, status = _measured(measurements, quiet=options.quiet or options.json)
    if not answer.runs:
        return status
    if output is not None:
        with replace_atomically(output) as file:
            file.write(_picture(output, answer).encode())
    if options.json:
        print_json(to_builtins(noise_answer(answer)))
    elif figures:
        print("\n".join(figure_lines(answer)))
    else:
        print("\n".join(_shown(answer, brief=options.quiet)))
    if output is not None and not options.quiet:
        print(f"The picture is {clean(str(output))}", file=sys.stderr)
    return status


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
                        found.append(meter.results())
                    raise
                found.append(meter.results())
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


def _shown(answer: NoiseSummary, *, brief: bool) -> Iterator[str]:
    return wrapped(noise_lines(answer, brief=brief), width_of(sys.stdout))


def _picture(output: Path, answer: NoiseSummary) -> str:
    from assay.reporting.machine_noise import machine_noise_figure, noise_page
    from assay.reporting.pictures.detours import detours_svg
    from assay.reporting.pictures.theme import standalone

    assert answer.source is not None  # there are runs
    rhythms = [(1 / one.period.period_s, one.likely) for one in answer.periods]
    figure = machine_noise_figure(answer.source, answer.histogram, answer.spectrum, rhythms)
    now = datetime.datetime.now(datetime.UTC)
    model = read_processor(LIVE).model
    svg = detours_svg(replace(figure, machine=model, date=f"{now:%Y-%m-%d %H:%M} UTC"))
    if output.suffix == ".svg":
        return standalone(svg)
    return noise_page(svg, "\n".join(noise_lines(answer)))
