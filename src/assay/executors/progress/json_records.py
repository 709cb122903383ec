"""Records in JSON, one a line, from the progress channel or from a file."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.report import Report

STEP_KEYS = ("step", "global_step", "iteration", "iter", "_step", "batch")
"""Keys of the step, in the order of preference."""
_DECODER = msgspec.json.Decoder(dict[str, Any])


class RecordReader:
    """Reads records.

    Args:
        clock: clock of the launch.
        from_writer: whether the records come from a progress writer, in which ``null`` is NaN or
            infinity. In files, ``null`` is mostly a value that is missing.

    Attributes:
        dropped: number of records that writers lost because the channel was full.
        invalid: number of lines that are not records.
        other_clocks: number of records with a time that is not within the launch.
    """

    def __init__(self, clock: LaunchClock, *, from_writer: bool = False) -> None:
        self._clock = clock
        self._from_writer = from_writer
        self.dropped = 0
        self.invalid = 0
        self.other_clocks = 0

    def read(self, line: str | bytes, time_s: float) -> Report | None:
        """Return the report of a line; ``None`` if it is not a record.

        Args:
            line: one line.
            time_s: time of its arrival, used if the record has no valid time of its own.
        """
        fields = _decoded(line)
        if fields is None:
            self.invalid += 1
            return None
        step = next((fields.pop(key) for key in STEP_KEYS if key in fields), None)
        rank = fields.pop("rank", None)
        if self._from_writer:
            self._read_writer_fields(fields)
        own_s = number(fields.pop("time_s", None))
        if own_s is not None:
            found = self._clock.of_monotonic(own_s)
            self.other_clocks += found is None
            time_s = time_s if found is None else found
        return Report(
            time_s,
            fields,
            step=finite(number(step)),
            rank=rank if isinstance(rank, int) else None,
        )

    def _read_writer_fields(self, fields: dict[str, Any]) -> None:
        dropped = fields.pop("dropped", 0)
        if isinstance(dropped, int):
            self.dropped += max(0, dropped)
        for key, value in fields.items():
            if value is None:
                fields[key] = math.nan


def number(value: object) -> float | None:
    """Return a number, also if it is a text; ``None`` for anything else."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def finite(value: float | None) -> float | None:
    """Return a number if it is finite."""
    return value if value is not None and math.isfinite(value) else None


def _decoded(line: str | bytes) -> dict[str, Any] | None:
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeError):
        pass
    try:
        found = json.loads(line)  # it also reads NaN and Infinity, which Python's encoder writes
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
