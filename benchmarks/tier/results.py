"""Stored results of each part.

Each part records its date, machine and parameters. A repeated measurement replaces only that part.
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
        rounds: number of rounds that all programs have.
        dram_bytes: memory of a program.
        load: load averages over 1, 5 and 15 minutes before the start (proc_loadavg(5)).
    """

    date: str
    assay: str
    machine: Machine
    rounds: int
    dram_bytes: int
    load: tuple[float, float, float]


class Row(Record, frozen=True, kw_only=True):
    """Program with data of one size, run in one way.

    Attributes:
        cell: name of the program.
        of_dram: data divided by memory.
        dram_bytes: memory.
        way: name of the way.
        passes: one run of each round; the median one if a round had several.
    """

    cell: str
    of_dram: float
    dram_bytes: int
    way: str
    passes: tuple[Pass, ...]


class Measured(Record, frozen=True, kw_only=True):
    """Part that is measured in rounds."""

    about: About
    rows: tuple[Row, ...]

    def of(self, cell: Cell, way: Way) -> tuple[Pass, ...]:
        """Return one run of each round; none if the way was not measured."""
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
    """Output of `assay tier bench`.

    Attributes:
        budget_s: budget of the measurement, in seconds.
        device: device of the model.
    """

    about: About
    budget_s: float
    device: Device
    cells: tuple[EfficiencyCell, ...]


Part = Rates | OnDisks | Efficiency


class Results(Record, frozen=True, kw_only=True):
    """Results of all parts; parts that were not measured are absent."""

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
        raise InvalidInputError(f"cannot read {file}: {error.strerror}.") from error
    if results.schema != SCHEMA:
        raise InvalidInputError(f"{file} has schema {results.schema}; supported: {SCHEMA}.")
    return results


def shown(results: Results) -> str:
    """Return the results as JSON, with one line for each row and cell."""
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
