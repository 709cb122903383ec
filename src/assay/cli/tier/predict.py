"""``assay tier predict``: how fast a program will be with storage behind its memory."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.cli.documents import print_json
from assay.cli.ending import end_in_order
from assay.cli.layout import fitted, width_of
from assay.cli.tier.place import device_of, tier_env
from assay.errors import BadInput, NotPossible
from assay.records import to_builtins
from assay.tier.meter import THREAD, meters
from assay.tier.prediction import Look, Prediction, predicted, reasons
from assay.units import parse_bytes, parse_duration_s, show_bytes, show_duration

FOR_S = 30.0
EVERY_S = 0.25
ENDING_S = 5.0
_TICKS = os.sysconf("SC_CLK_TCK")
_SUMS = ("first", "demand", "late", "staged", "read_bytes", "written_bytes", "stall_s")


def run(arguments: argparse.Namespace, command: Sequence[str]) -> int:
    """Run the program for a while, end it, and tell.

    Raises:
        BadInput: no program, or no sizes.
        NotPossible: the tier cannot be used here, or the program cannot be started, or had no
            large memory.
    """
    for name, example in (("dram", "8G"), ("path", "/mnt/nvme")):
        if not getattr(arguments, name):
            raise BadInput(
                f"`assay tier predict` needs --{name}.",
                f"Write --{name}, as in --{name} {example}.",
            )
    if not command:
        raise BadInput("There is no program.", "Write it after --, as in -- ./app.")
    for_s = parse_duration_s(getattr(arguments, "for")) if getattr(arguments, "for") else FOR_S
    dram_bytes = parse_bytes(arguments.dram)
    device = device_of(arguments.path)
    end_in_order()  # the program is ended when a signal comes
    with _started(command, tier_env(arguments.path, dram_bytes, arguments.numa)) as process:
        looks = list(_looks(process, for_s))
    if len(looks) < 2:
        raise NotPossible(
            "No large memory of the program was seen while it was looked at.",
            "Memory is managed from 64 MiB in one piece on; look longer (--for), or give it more "
            "to do.",
        )
    # The second half: the first is how it begins.
    found = predicted(looks[(len(looks) - 1) // 2], looks[-1], device)
    if arguments.json:
        told = reasons(found)
        print_json({"dram_bytes": dram_bytes, **to_builtins(found), "reasons": told})
    else:
        print("\n".join(fitted(_lines(found, dram_bytes), width_of(sys.stdout))))
    return 0


@contextlib.contextmanager
def _started(command: Sequence[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program with its output on standard error; it ends, with all its processes, at last."""
    try:
        process = subprocess.Popen(command, env=env, stdout=sys.stderr, start_new_session=True)
    except OSError as error:
        raise NotPossible(
            f"{command[0]} cannot be started: {error.strerror}.", "Name a program that can."
        ) from error
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)


def _looks(process: subprocess.Popen[bytes], for_s: float) -> Iterator[Look]:
    """From the first that shows large memory on, until the time is over or the program."""
    end = time.monotonic() + for_s
    while time.monotonic() < end and process.poll() is None:
        look = _look(process.pid)
        if look is not None:
            yield look
        time.sleep(min(EVERY_S, for_s / 8))


def _look(session: int) -> Look | None:
    mine = [one for one in meters() if _session(one.pid) == session and one.regions]
    if not mine:
        return None
    regions = [region for one in mine for region in one.regions]
    return Look(
        at_s=time.monotonic(),
        cpu_s=sum(_cpu_s(one.pid) for one in mine),
        **{name: sum(getattr(one, name) for one in regions) for name in _SUMS},
    )


def _session(pid: int) -> int | None:
    fields = _stat(Path(f"/proc/{pid}/stat"))
    return int(fields[3]) if fields else None


def _cpu_s(pid: int) -> float:
    """Of all threads, those that have ended too, without the pager's."""
    whole = _stat(Path(f"/proc/{pid}/stat"))
    ticks = sum(map(int, whole[11:13])) if whole else 0
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            if (thread / "comm").read_text().strip() == THREAD:
                ticks -= sum(map(int, _stat(thread / "stat")[11:13]))
    return ticks / _TICKS


def _stat(path: Path) -> list[str]:
    """Fields of proc_pid_stat(5) from the third on, behind the name in brackets."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _lines(found: Prediction, dram_bytes: int) -> list[str]:
    return [
        f"efficiency {100 * found.efficiency:.0f} %, with a perfect overlap "
        f"{100 * found.overlap:.0f} % ({show_bytes(dram_bytes)} of DRAM)",
        f"in {show_duration(found.wall_s)} it computed {show_duration(found.cpu_s)} and waited "
        f"{show_duration(found.stall_s)}; {show_bytes(found.read_bytes)} were read, "
        f"{show_bytes(found.written_bytes)} written",
        *reasons(found),
    ]
