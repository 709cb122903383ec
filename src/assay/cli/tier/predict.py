"""``assay tier predict``: how fast a program will be with storage behind its memory."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from assay.cli.composition import program_of
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.tier.environment import device_of, tier_env
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import to_builtins
from assay.settings.refusals import preload_obstacle
from assay.tier.prediction import Prediction, predict, reasons
from assay.tier.sampling import sample_session
from assay.units import parse_bytes, parse_duration_s, show_bytes, show_duration, show_signal

DEFAULT_DURATION_S = 30.0
TERMINATION_S = 5.0


def run(arguments: argparse.Namespace, command: Sequence[str]) -> int:
    """Run the program for a while, end it, and tell.

    Raises:
        InvalidInputError: no program, or no sizes.
        NotPossibleError: the tier cannot be used here, or the program cannot be started, or had no
            large memory.
    """
    for name, example in (("dram", "8G"), ("path", "/mnt/nvme")):
        if not getattr(arguments, name):
            raise InvalidInputError(
                f"`assay tier predict` needs --{name}.",
                f"Write --{name}, as in --{name} {example}.",
            )
    if not command:
        raise InvalidInputError("There is no program.", "Write it after --, as in -- ./app.")
    if why := preload_obstacle(program_of(tuple(command)), os.uname().machine):
        raise NotPossibleError(
            f"{command[0]} {why}.",
            "Build it otherwise, or have it ask for regions (tier.h).",
        )
    for_s = (
        parse_duration_s(getattr(arguments, "for"))
        if getattr(arguments, "for")
        else DEFAULT_DURATION_S
    )
    dram_bytes = parse_bytes(arguments.dram)
    device = device_of(arguments.path)
    terminate_in_order()  # the program is ended when a signal comes
    with _started(command, tier_env(arguments.path, dram_bytes, arguments.numa)) as process:
        seen = list(sample_session(process.pid, for_s, lambda: process.poll() is None))
        status = process.poll()
    if len(seen) < 2 and status:
        raise NotPossibleError(
            f"{command[0]} ended by itself, {_ending(status)}, while it was looked at.",
            "Its own last words, and those of the tier, stand above: have it run first.",
        )
    if len(seen) < 2:
        raise NotPossibleError(
            "No large memory of the program was seen while it was looked at.",
            "Memory is managed from 64 MiB in one piece on, of programs that are not linked "
            "statically; look longer (--for), or give it more to do.",
        )
    # The second half: the first is how it begins.
    found = predict(seen[(len(seen) - 1) // 2], seen[-1], device)
    if arguments.json:
        told = reasons(found)
        print_json({"dram_bytes": dram_bytes, **to_builtins(found), "reasons": told})
    else:
        print("\n".join(wrapped(_lines(found, dram_bytes), width_of(sys.stdout))))
    return 0


def _ending(status: int) -> str:
    return f"by {show_signal(-status)}" if status < 0 else f"with status {status}"


@contextlib.contextmanager
def _started(command: Sequence[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program with its output on standard error; it ends, with all its processes, at last."""
    try:
        process = subprocess.Popen(command, env=env, stdout=sys.stderr, start_new_session=True)
    except OSError as error:
        raise NotPossibleError(
            f"{command[0]} cannot be started: {error.strerror}.", "Name a program that can."
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
        f"{100 * found.overlap:.0f} % ({show_bytes(dram_bytes)} of DRAM)",
        f"in {show_duration(found.wall_s)} it worked {show_duration(found.work_s)} and waited "
        f"{show_duration(found.stall_s)}; {show_bytes(found.read_bytes)} were read, "
        f"{show_bytes(found.written_bytes)} written",
        *reasons(found),
    ]
