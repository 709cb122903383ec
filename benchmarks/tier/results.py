"""Stored results of each part.

Each part records when, where and how it was measured, so a repeated measurement replaces only
that part.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.errors import InvalidInputError
from assay.records.codec import Record, decode, encode
from assay.tier.efficiency import Cell as EfficiencyCell
from assay.tier.efficiency import Device

from .measuring import Cell, Pass
from .ways import Way

SCHEMA = 1


class Machine(Record, frozen=True, kw_only=True):
    """Machine of the figures."""

    model: str
    cpus: int
    kernel: str


class About(Record, frozen=True, kw_only=True):
    """Circumstances of a part's measurement.

    Attributes:
        date: date in ISO 8601.
        assay: version of assay.
        machine: machine of the measurement.
        rounds: rounds that all cells have.
        dram_bytes: memory of a program that has all of it.
        load: load averages over 1, 5 and 15 minutes before the start (proc_loadavg(5)).
    """

    date: str
    assay: str
    machine: Machine
    rounds: int
    dram_bytes: int
    load: tuple[float, float, float]


class Row(Record, frozen=True, kw_only=True):
    """A program with data of one size, in one way.

    Attributes:
        cell: its name.
        of_dram: its data over the memory that it may hold.
        dram_bytes: that memory.
        way: its name.
        passes: one of each round; the one in the middle where a round had several.
    """

    cell: str
    of_dram: float
    dram_bytes: int
    way: str
    passes: tuple[Pass, ...]


class Measured(Record, frozen=True, kw_only=True):
    """A part that is measured in rounds."""

    about: About
    rows: tuple[Row, ...]

    def of(self, cell: Cell, way: Way) -> tuple[Pass, ...]:
        """Passes, one of each round; none where it was not measured."""
        return next((row.passes for row in self.rows if _is(row, cell, way)), ())


class Rates(Measured, frozen=True, kw_only=True):
    """Programs in all ways."""


class OnDisks(Measured, frozen=True, kw_only=True):
    """Programs with the tier on several disks.

    Attributes:
        disk_rates: bytes per second of each disk.
    """

    disk_rates: tuple[int, ...]


class Efficiency(Record, frozen=True, kw_only=True):
    """Answer of `assay tier bench`.

    Attributes:
        budget_s: its budget.
        device: device of the model.
    """

    about: About
    budget_s: float
    device: Device
    cells: tuple[EfficiencyCell, ...]


Part = Rates | OnDisks | Efficiency


class Results(Record, frozen=True, kw_only=True):
    """All parts; unmeasured ones are absent. Parts have the names of the command line."""

    schema: int
    rates: Rates | None = None
    disks: OnDisks | None = None
    efficiency: Efficiency | None = None


def read(file: Path) -> Results:
    """Return the results in a file.

    Raises:
        InvalidInputError: the file is unreadable or has another format.
    """
    try:
        results = decode(file.read_bytes(), Results)
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}.") from error
    if results.schema != SCHEMA:
        raise InvalidInputError(f"{file} is of schema {results.schema}, and this is {SCHEMA}.")
    return results


def shown(results: Results) -> str:
    """As JSON, with a line for each row and cell."""
    document: dict[str, Any] = json.loads(encode(results))
    parts = (f" {json.dumps(name)}: {_keys(part)}" for name, part in document.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _keys(part: Any) -> str:
    if not isinstance(part, dict):
        return json.dumps(part)
    lines = (f"  {json.dumps(key)}: {_items(value)}" for key, value in part.items())
    return "{\n" + ",\n".join(lines) + "\n }"


def _items(value: Any) -> str:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return json.dumps(value)
    return "[\n" + ",\n".join(f"   {json.dumps(one)}" for one in value) + "\n  ]"


def _is(row: Row, cell: Cell, way: Way) -> bool:
    return (row.cell, row.of_dram, row.way) == (cell.name, cell.of_dram, way.name)
