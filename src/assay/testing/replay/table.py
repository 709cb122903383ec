"""Table: recorded time of each configuration of a program.

Two formats (CSV, gzipped or not): parameters and then ``mean``; or parameters, ``status`` and the
raw repeats ``t0``, ``t1`` and on. A row is a valid configuration. Its ``status`` states whether it
works; methods see it only after a launch.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InvalidInputError
from assay.records import Value

Point = tuple[Value, ...]
"""One value for each column."""


@dataclass(frozen=True)
class Table:
    """A recorded space.

    Attributes:
        name: name of the file, without suffixes.
        columns: names of the parameters.
        points: the valid configurations.
        means: mean of each point, in any unit; ``None`` if it failed.
        repeats: single launches of each point; empty if only means were recorded.
    """

    name: str
    columns: tuple[str, ...]
    points: tuple[Point, ...]
    means: tuple[float | None, ...]
    repeats: tuple[tuple[float, ...], ...]

    @property
    def working(self) -> list[int]:
        """Indices of the points that have a value."""
        return [i for i, mean in enumerate(self.means) if mean is not None]

    def domain(self, column: int) -> tuple[Value, ...]:
        """Return the values of a column: numbers sorted, strings in order of occurrence."""
        values = list(dict.fromkeys(point[column] for point in self.points))
        if all(isinstance(value, int | float) for value in values):
            values.sort(key=float)
        return tuple(values)


def load(path: Path) -> Table:
    """Read a table.

    Raises:
        InvalidInputError: the file is not readable, or has neither format.
    """
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", newline="") as file:
            head, *rows = list(csv.reader(file))
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"Cannot read {path}: {error}.", _FORMATS) from error
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    try:
        if head[-1] == "mean":
            return _of_means(name, head[:-1], rows)
        return _of_repeats(name, head[: head.index("status")], rows)
    except (ValueError, IndexError) as error:
        raise InvalidInputError(f"{path} is not a table of a space: {error}.", _FORMATS) from error


_FORMATS = (
    "A table has one row for each configuration: its parameters and `mean`, or its parameters, "
    "`status` and repeats."
)


def _of_means(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    points = tuple(_point(row[:-1]) for row in rows)
    return Table(name, tuple(columns), points, tuple(_positive(row[-1]) for row in rows), ())


def _of_repeats(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    count = len(columns)
    points = tuple(_point(row[:count]) for row in rows)
    repeats = tuple(
        tuple(_positive(cell) for cell in row[count + 1 :] if cell) if row[count] == "ok" else ()
        for row in rows
    )
    means = tuple(statistics.fmean(values) if values else None for values in repeats)
    return Table(name, tuple(columns), points, means, repeats)


def _positive(cell: str) -> float:
    value = float(cell)
    if not 0.0 < value < math.inf:
        raise ValueError(f"{cell} is not a time")
    return value


def _point(cells: Sequence[str]) -> Point:
    return tuple(_value(cell) for cell in cells)


def _value(cell: str) -> Value:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() else number


# --- encodings --------------------------------------------------------------------------------


def joined(table: Table) -> Table:
    """Return a table without constant columns, and with one-hot columns as one parameter.

    Columns of zeros and ones with exactly one 1 in every row encode one choice: ``ref_1, ref_5,
    ref_9`` is a number, ``CGSolver, LoopSolver`` a name.
    """
    groups = list(_groups(table))
    columns, parts = [], []
    for group in groups:
        if len(group) == 1:
            if len(table.domain(group[0])) > 1:
                columns.append(table.columns[group[0]])
                parts.append([point[group[0]] for point in table.points])
            continue
        names = [table.columns[i] for i in group]
        values = _numbers(names) or names
        columns.append("|".join(names))
        parts.append(
            [values[next(k for k, i in enumerate(group) if point[i])] for point in table.points]
        )
    points: tuple[Point, ...] = tuple(zip(*parts, strict=True))
    return Table(table.name, tuple(columns), points, table.means, table.repeats)


def _groups(table: Table) -> Iterator[tuple[int, ...]]:
    """Return the columns grouped by choice, in the order of the first column of each."""
    ones = {
        i: frozenset(k for k, point in enumerate(table.points) if point[i])
        for i in range(len(table.columns))
        if set(table.domain(i)) == {0, 1}
    }
    taken: set[int] = set()
    for i in range(len(table.columns)):
        if i in taken:
            continue
        group = _choice(i, {k: rows for k, rows in ones.items() if k not in taken}, table)
        taken |= set(group)
        yield group


def _choice(first: int, ones: dict[int, frozenset[int]], table: Table) -> tuple[int, ...]:
    """Return the columns that form one choice with ``first``; itself alone without others."""
    if first not in ones:
        return (first,)
    group, covered = [first], ones[first]
    for i in sorted(ones):
        if i > first and not covered & ones[i]:
            group.append(i)
            covered |= ones[i]
        if len(group) > 1 and len(covered) == len(table.points):
            return tuple(group)
    return (first,)


_NUMBER = re.compile(r"\d+")


def _numbers(names: Sequence[str]) -> list[int] | None:
    """Return the numbers in names that differ in one number alone."""
    found = [_NUMBER.findall(name) for name in names]
    same = {_NUMBER.sub("#", name) for name in names}
    if len(same) != 1 or len({len(f) for f in found}) != 1 or not found[0]:
        return None
    changing = [k for k in range(len(found[0])) if len({f[k] for f in found}) > 1]
    return [int(f[changing[0]]) for f in found] if len(changing) == 1 else None


# --- other worlds -----------------------------------------------------------------------------


def without_difference(table: Table) -> Table:
    """Return a table with equal means of all points: the default is optimal."""
    working = [mean for mean in table.means if mean is not None]
    level = statistics.fmean(working)
    means = tuple(None if mean is None else level for mean in table.means)
    centred = tuple(
        tuple(level * value / mean for value in values) if mean is not None else ()
        for values, mean in zip(table.repeats, table.means, strict=False)  # means only
    )
    return Table(f"{table.name}, no difference", table.columns, table.points, means, centred)
