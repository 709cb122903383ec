"""``assay tier predict``: predicted efficiency of a program with a tier."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from assay.api.composition import program_of
from assay.cli.arguments.common import common_options
from assay.cli.arguments.tier import predict_request
from assay.cli.documents.tier import TierPredictAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.tier.environment import device_of, tier_env
from assay.errors import NotPossibleError
from assay.records import to_builtins
from assay.settings.refusals import preload_obstacle
from assay.tier.prediction import Prediction, predict, reasons
from assay.tier.sampling import sample_session
from assay.units import show_bytes, show_duration, show_signal

TERMINATION_S = 5.0


def run(parsed: Parsed) -> int:
    """Sample the program for some time, end it, and print the prediction.

    Raises:
        InvalidInputError: the program or a size is missing.
        NotPossibleError: the tier is not available here, the program cannot be started, or it had
            no large allocation.
    """
    request, options = predict_request(parsed), common_options(parsed)
    command, dram_bytes = request.argv, request.dram_bytes
    if why := preload_obstacle(program_of(command), os.uname().machine):
        raise NotPossibleError(
            f"{command[0]} {why}.",
            "Link it dynamically, or let it allocate regions (tier.h).",
        )
    device = device_of(request.path)
    terminate_in_order()  # a signal ends the program
    with _started(command, tier_env(request.path, dram_bytes, request.numa)) as process:
        seen = list(sample_session(process.pid, request.duration_s, lambda: process.poll() is None))
        status = process.poll()
    if len(seen) < 2 and status:
        raise NotPossibleError(
            f"{command[0]} ended during the sample, {_ending(status)}.",
            "Its messages and those of the tier are above: run it with `assay tier run` first.",
        )
    if len(seen) < 2:
        raise NotPossibleError(
            "The program had no large allocation during the sample.",
            "The tier manages allocations of 64 MiB or more, of dynamically linked programs. "
            "Sample longer (--for), or use larger data.",
        )
    # Use the second half, as the first one includes the start of the program.
    found = predict(seen[(len(seen) - 1) // 2], seen[-1], device)
    if options.json:
        answer = TierPredictAnswer(
            **asdict(found), dram_bytes=dram_bytes, reasons=tuple(reasons(found))
        )
        print_json(to_builtins(answer))
    else:
        print("\n".join(wrapped(_lines(found, dram_bytes), width_of(sys.stdout))))
    return 0


def _ending(status: int) -> str:
    return f"by {show_signal(-status)}" if status < 0 else f"with status {status}"


@contextlib.contextmanager
def _started(command: Sequence[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the program with its output on standard error, and end its process group afterwards."""
    try:
        process = subprocess.Popen(command, env=env, stdout=sys.stderr, start_new_session=True)
    except OSError as error:
        raise NotPossibleError(
            f"{command[0]} cannot be started: {error.strerror}.", "Name another program."
        ) from error
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TERMINATION_S)


def _lines(found: Prediction, dram_bytes: int) -> list[str]:
    return [
        f"efficiency {100 * found.efficiency:.0f} %, with a perfect overlap "
        f"{100 * found.max_efficiency:.0f} % ({show_bytes(dram_bytes)} of DRAM)",
        f"in {show_duration(found.wall_s)} it computed for {show_duration(found.compute_s)} and "
        f"waited for {show_duration(found.stall_s)}; it read {show_bytes(found.read_bytes)} and "
        f"wrote {show_bytes(found.written_bytes)}",
        *reasons(found),
    ]
