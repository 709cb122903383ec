"""Programs that buffer their output, and how to make them flush it.

A program that writes to a file or a pipe collects its output until a buffer is full. Its lines then
arrive in blocks, and their times mean nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from assay.executors.progress.notices import Notice
from assay.executors.progress.output_files import LineFollower
from assay.executors.progress.sources import LineSource
from assay.machine.document import Program

BLOCK_BYTES = 4096
"""Size of the buffer of the C library for a file (``st_blksize``); Python's is twice as large."""
_MAX_SPARE_BYTES = 64
"""Largest free part of a buffer that Python writes: the next piece of text did not fit."""
_MIN_GROWTHS = 3
"""Number of such writes that chance does not explain: each has a probability of 2 %."""
_MIN_RUN_S = 2.0
"""Shortest launch whose lines may be said to arrive at its end."""
_END_SHARE = 0.02
"""Last share of a launch within which all lines arrive if its output is buffered."""
_BURST_S = 0.2
"""Time before the end within which many lines arrive at once if assay ends the launch then."""
_BURST_LINES = 40
"""Number of such lines."""
_BURST_GAP_S = 0.1
"""Time without a value between two bursts: at least two readings."""
_MIN_WAIT_S = 1.0
"""Shortest time before the first burst, which a program with so many values would need."""
_MIN_BURST_REPORTS = 20
"""Mean number of values of a burst."""
_BURST_SHARE = 0.02
"""Largest share of the launch within which all of its values arrive."""
_PYTHON = re.compile(r"(?:.*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed)|.*\.py")

_PYTHON_ADVICE = (
    "Set PYTHONUNBUFFERED=1 in the environment of assay, start the program with python -u, or call "
    "print(..., flush=True)."
)
_BY_INTERPRETER = (
    (re.compile(r"python[\d.]*"), _PYTHON_ADVICE),
    (re.compile(r"perl[\d.]*"), "Set $| = 1 in the program; stdbuf has no effect on Perl."),
    (
        re.compile(r"ruby[\d.]*"),
        "Set $stdout.sync = true in the program; stdbuf has no effect on Ruby.",
    ),
    (
        re.compile(r"(?:ba|da|z|k|a)?sh"),
        "Start the programs of the script with stdbuf -oL, each stage of a pipe as well.",
    ),
)
_GENERAL_ADVICE = (
    "Make the program flush its output after each line, or run it in a pseudo-terminal: "
    "script -qefc 'COMMAND' /dev/null."
)


def buffering_advice(program: Program | None, words: Sequence[str] = ()) -> str:
    """Return a sentence on how to make a program flush its output.

    Args:
        program: program of the command, if known.
        words: words of the command, in which launchers such as ``mpirun`` name the program.
    """
    if program is None or program.kind != "script":
        if any(_PYTHON.fullmatch(word) for word in words):
            return _PYTHON_ADVICE
        return _native_advice(program)
    interpreter = program.interpreter or ""
    for name, advice in _BY_INTERPRETER:
        if name.fullmatch(interpreter):
            return advice
    return _GENERAL_ADVICE


def _native_advice(program: Program | None) -> str:
    if program is None or program.kind != "elf":
        return _GENERAL_ADVICE
    if "go" in program.runtimes:
        return "Call Flush of the bufio.Writer after each line; stdbuf has no effect on Go."
    if any("libgfortran" in library for library in program.libraries):
        return "Set GFORTRAN_UNBUFFERED_ALL=y in the environment of assay."
    if program.static:
        return f"stdbuf has no effect on a static program. {_GENERAL_ADVICE}"
    return "Start the program with stdbuf -oL, before the first word of its command."


def has_block_writes(follower: LineFollower) -> bool:
    """Return whether an output grew in whole buffers only.

    The C library fills its buffer exactly, within a line. Python writes it a few bytes earlier,
    between two pieces of text.

    Args:
        follower: follower of the output.
    """
    bursts = follower.bursts
    sizes = bursts.sizes[:-1] or bursts.sizes  # the rest at the end of the program has any size
    if bursts.open_ends and sizes and all(size % BLOCK_BYTES == 0 for size in sizes):
        return True
    growths = [after - before for before, after in zip([0, *sizes], sizes, strict=False)]
    return len(growths) >= _MIN_GROWTHS and all(map(_is_nearly_whole, growths))


def _is_nearly_whole(growth: int) -> bool:
    """Return whether a number of bytes is that of buffers that were almost full."""
    blocks = -(-growth // BLOCK_BYTES)
    return growth > 0 and blocks * BLOCK_BYTES - growth <= blocks * _MAX_SPARE_BYTES


def came_at_the_end(follower: LineFollower, now_s: float) -> bool:
    """Return whether all lines of an output arrived at the end of the launch.

    Args:
        follower: follower of the output.
        now_s: time since the start of the launch, which has ended, in seconds.
    """
    first_s = follower.first_s
    if first_s is None or follower.lines < 2 or now_s < _MIN_RUN_S:
        return False
    lag_s = now_s - first_s
    return lag_s <= _END_SHARE * now_s or (lag_s <= _BURST_S and follower.lines >= _BURST_LINES)


def bursts_of(times_s: Sequence[float]) -> int:
    """Return the number of bursts in which values arrived; 0 if they came one by one.

    A program with a small buffer writes its lines in two or three blocks, which end anywhere.

    Args:
        times_s: times of the values since the start of the launch, in seconds.
    """
    if len(times_s) < _BURST_LINES or times_s[0] < _MIN_WAIT_S:
        return 0
    gaps = [after - before for before, after in itertools.pairwise(times_s)]
    bursts = 1 + sum(gap > _BURST_GAP_S for gap in gaps)
    within_s = sum(gap for gap in gaps if gap <= _BURST_GAP_S)
    is_dense = len(times_s) >= _MIN_BURST_REPORTS * bursts
    return bursts if is_dense and within_s <= _BURST_SHARE * times_s[-1] else 0


def buffered(source: LineSource, now_s: float, advice: str, *, ended: bool) -> Iterator[Notice]:
    """Yield a notice if the program buffers an output that contains values.

    Args:
        source: source of the lines.
        now_s: time since the start of the launch, in seconds.
        advice: see ``buffering_advice``.
        ended: whether the launch has ended.
    """
    if not any(series.reports for series in source.series):
        return
    yield from itertools.islice(_buffered(source, now_s, advice, ended=ended), 1)


def _buffered(source: LineSource, now_s: float, advice: str, *, ended: bool) -> Iterator[Notice]:
    """Yield the notices on each output, and on the times of each metric."""
    for follower in source.followers:
        name = follower.file.path.name
        if has_block_writes(follower):
            text = f"{name} arrives in blocks of {BLOCK_BYTES} bytes: the program buffers it"
        elif ended and came_at_the_end(follower, now_s):
            text = f"All {follower.lines} lines of {name} arrived at the end of the launch"
        else:
            continue
        yield Notice(
            kind="progress_buffered",
            text=f"{text}, and the times of its values mean nothing. {advice}",
            value=float(follower.lines),
            unit="lines",
        )
    for series in source.series:
        main = series.main
        bursts = 0 if main is None else bursts_of(main.recorder.times_s)
        if main is not None and bursts:
            count = main.recorder.reports
            at_once = "at once" if bursts == 1 else f"in {bursts} bursts"
            yield Notice(
                kind="progress_buffered",
                text=f"All {count} values of {series.metric.name} arrived {at_once}: the program "
                f"buffers its output, and the times of its values mean nothing. {advice}",
                value=float(count),
                unit="values",
            )


def empty_output(source: LineSource, now_s: float, advice: str) -> Iterator[Notice]:
    """Yield a notice if the program has printed nothing so far.

    Args:
        source: source of the lines.
        now_s: time since the start of the launch, in seconds.
        advice: see ``buffering_advice``.
    """
    if source.lines == 0 and source.series:
        yield Notice(
            kind="progress_buffered",
            text=f"The program has printed nothing for {now_s:.0f} s. It may buffer its output. "
            f"{advice}",
            value=now_s,
            unit="s",
        )
