"""Metrics and checks read from a launch's output."""

from __future__ import annotations

import math
import mmap
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.errors import BadInput, nearest
from assay.records import Metric, RunFacts
from assay.records.workload import BUILT_IN, COUNTED

WINDOW = 1 << 25
"""Bytes of an output that are looked at together."""
LONGEST = 1 << 20
"""Of a match, in an output of several windows."""
LARGEST = 1e100
"""A figure beyond it, or below its inverse, is no measurement, and its square no number."""

SUMS = {
    "context_switches": ("voluntary_switches", "involuntary_switches"),
    "page_faults": ("minor_faults", "major_faults"),
}
"""Of what the kernel adds up for the tree whether asked or not: no perf event is needed for it."""


def metrics_of(
    metrics: tuple[Metric, ...], facts: RunFacts, outputs: Sequence[Path]
) -> tuple[dict[str, float], dict[str, str]]:
    """The value of each metric, and for those that have none the reason.

    Args:
        metrics: those without a pattern come from the launcher, the others from the output.
        facts: the launcher's record.
        outputs: what the program wrote; the first file that holds a match counts.
    """
    found: dict[str, float] = {}
    absent: dict[str, str] = {}
    for metric in metrics:
        if metric.pattern is None:
            value = _given(metric.name, facts)
            if value is None:
                absent[metric.name] = _why_absent(metric.name, facts)
            else:
                found[metric.name] = float(value)
            continue
        text = last_match(metric.pattern, outputs)
        if text is None:
            absent[metric.name] = f"no match of {metric.pattern!r} in the output"
            continue
        try:
            value = math.nan if "_" in text else float(text)  # Python reads 1_000, others do not
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            absent[metric.name] = f"{text[:60]!r} in the output is not a number"
            if not text:
                absent[metric.name] += f"; the last match of {metric.pattern!r} is empty, and .+ in"
                absent[metric.name] += " the place of .* matches no empty line"
        elif abs(value) > LARGEST or 0.0 < abs(value) < 1.0 / LARGEST:
            absent[metric.name] = f"{text[:60]!r} in the output is beyond what can be worked with"
        else:
            found[metric.name] = value
    return found, absent


def _given(name: str, facts: RunFacts) -> float | None:
    """What the launcher tells for a built-in metric."""
    if name in COUNTED:
        return _counted(name, facts)
    if name in SUMS:
        parts = [getattr(facts, part) for part in SUMS[name]]
        return None if None in parts else float(sum(parts))
    value: float | None = getattr(facts, name, None)
    return value


def _counted(name: str, facts: RunFacts) -> float | None:
    """The count of an event: over all kinds of cores, where there are several."""
    if _missing(name, facts):
        return None
    counts = [c.value for n, c in facts.counters.items() if n.partition(".")[0] == name]
    return sum(counts) if counts else None


def _missing(name: str, facts: RunFacts) -> list[str]:
    """Why an event was not counted, for each kind of cores on which it was not."""
    counter = f"counters.{name}"
    return [why for n, why in facts.absent.items() if n == counter or n.startswith(f"{counter}.")]


def _why_absent(name: str, facts: RunFacts) -> str:
    reasons = [*_missing(name, facts), "the launcher could not tell"]
    return facts.absent.get(name, reasons[0])


def last_match(pattern: str, outputs: Sequence[Path]) -> str | None:
    """The first group, or the whole, of the last match of a pattern in the first file with one."""
    sought = re.compile(pattern.encode(), re.MULTILINE)
    for output in outputs:
        newest = deque(_matches(sought, output), maxlen=1)
        if newest:
            # A group that took no part in the match holds nothing.
            found = newest[0][1 if sought.groups else 0] or b""
            return found.decode(errors="replace")
    return None


def holds(check: str, outputs: Sequence[Path]) -> bool:
    """Whether a pattern is found in any of the files."""
    sought = re.compile(check.encode(), re.MULTILINE)
    return any(next(_matches(sought, output), None) is not None for output in outputs)


def _matches(sought: re.Pattern[bytes], output: Path) -> Iterator[re.Match[bytes]]:
    """Each match in a file.

    The file is mapped, and looked at window by window, each of which is let go again: an output of
    gigabytes costs no more memory than one of them. A match that begins near the end of a window
    is found whole up to ``LONGEST``.
    """
    text = _mapped(output)
    for begin in range(0, max(1, len(text)), WINDOW):
        for match in sought.finditer(text, begin, min(len(text), begin + WINDOW + LONGEST)):
            if match.start() >= begin + WINDOW:
                break  # the next window's
            yield match
        if isinstance(text, mmap.mmap):
            text.madvise(mmap.MADV_DONTNEED)


def _mapped(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return b""


def compiled(pattern: str, what: str) -> str:
    """The pattern, when it is one.

    Raises:
        BadInput: not a regular expression.
    """
    try:
        re.compile(pattern.encode())
    except re.error as error:
        raise BadInput(
            f"{what} {pattern!r} is not a regular expression: {error}.",
            "Write for example 'inertia=([0-9.]+)'.",
        ) from error
    return pattern


def named_metric(text: str, units: Mapping[str, str]) -> Metric:
    """A metric as written on the command line: a built-in name, or ``NAME=REGEX``.

    Raises:
        BadInput: neither.
    """
    if text in BUILT_IN:
        return BUILT_IN[text]
    name, equals, pattern = text.partition("=")
    if not equals or not name.isidentifier():
        near = nearest(text, tuple(BUILT_IN))
        raise BadInput(
            f"{text!r} is not a metric.",
            (f"Did you mean {near}? " if near else "")
            + "Write NAME=REGEX with one group, for example 'fps=([0-9.]+) fps', or one of "
            + ", ".join(BUILT_IN)
            + ".",
        )
    if name in BUILT_IN:
        raise BadInput(
            f"{name} is what assay measures itself.", "Give the figure in the output another name."
        )
    return Metric(name=name, unit=units.get(name, ""), pattern=compiled(pattern, "The metric's"))
