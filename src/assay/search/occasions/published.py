"""Published summaries: number, mean and standard deviation, from a table or from text."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.records.comparison import Condition, ConditionSource
from assay.search.occasions.side import PublishedCondition
from assay.units import show_count
from assay.wording.occasions import divisor_note, inconsistent_error_note, rounded_deviation_note

SUMMARY_EXAMPLE = "n=30,mean=299.4,sd=3.38"
REQUIRED_COLUMNS = ("n", "mean", "sd")
"""Columns without which a summary cannot be compared."""
SUMMARY_KEYS = (*REQUIRED_COLUMNS, "sem", "unit")
NON_IDENTIFYING_COLUMNS = frozenset(
    (*SUMMARY_KEYS, "min", "max", "median", "q1", "q3", "note", "source", "workload")
)
"""Columns that do not name a row."""
MAX_ERROR = 0.25
"""Largest standard error over the mean for the delta method.

At this limit an end of the interval is wrong by a fifth of its width, at a tenth of it by less than
a fiftieth.
"""
MAX_ROWS = 100_000
_UNIT = re.compile(r"\(([^()]+)\)\s*$")
_PAIR = re.compile(r"\s*([a-z]+)\s*=\s*(.*?)\s*", re.DOTALL)


def is_summary(text: str) -> bool:
    """Return whether a word is a summary: ``n=30,mean=299.4,sd=3.38``."""
    keys = [part.partition("=")[0].strip() for part in text.split(",") if "=" in part]
    return bool(keys) and any(key in REQUIRED_COLUMNS for key in keys)


def summary_of(text: str) -> PublishedCondition:
    """Return a summary from the command line.

    Raises:
        InvalidInputError: an unknown, repeated or missing key, or an invalid figure.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        match = _PAIR.fullmatch(part)
        if match is None or match[1] not in SUMMARY_KEYS:
            raise InvalidInputError(
                f"{part!r} is not a part of a summary.",
                f"The keys are {', '.join(SUMMARY_KEYS)}; write for example {SUMMARY_EXAMPLE}",
            )
        if match[1] in found:
            raise InvalidInputError(
                f"{match[1]} occurs twice in {text!r}.", f"For example: {SUMMARY_EXAMPLE}"
            )
        found[match[1]] = match[2]
    return _published(text, found, text)


def row_of(table: str, name: str, line: int) -> PublishedCondition:
    """Return a row of a table with columns ``n``, ``mean`` and ``sd``.

    Args:
        table: text of a CSV file; its first line names the columns.
        name: name of the file as the user wrote it.
        line: number of the line in the file, from 1.

    Raises:
        InvalidInputError: a missing line or column, or an invalid figure.
    """
    reader = csv.reader(io.StringIO(table, newline=""))
    columns: list[str] = []
    before, rows = 0, 0
    try:
        for cells in reader:
            lines = range(before + 1, reader.line_num + 1)
            before, rows = reader.line_num, rows + 1
            if rows == 1:
                columns = [cell.strip().lower() for cell in cells]
                _demand_columns(columns, name)
            if rows > MAX_ROWS:
                raise InvalidInputError(
                    f"{name} has more than {MAX_ROWS:,} rows.", "Name a smaller table."
                )
            if line in lines:
                return _row(columns, cells, name, line, first=rows == 1)
    except csv.Error as error:
        raise InvalidInputError(
            f"{name} cannot be read as a table: {error}.", "Save it as CSV in UTF-8."
        ) from error
    raise InvalidInputError(
        f"{name} has no line {line}: it has {show_count(before, 'line')}.",
        f"Line 1 names the columns; the first row is {name}:2",
    )


def _demand_columns(columns: list[str], name: str) -> None:
    missing = [column for column in REQUIRED_COLUMNS if column not in columns]
    if missing:
        raise InvalidInputError(
            f"{name} has no column {' and no column '.join(missing)}: a mean without the number "
            "of launches and their standard deviation has no interval.",
            f"Add it, or write the figures: {SUMMARY_EXAMPLE}",
        )


def _row(
    columns: list[str], cells: list[str], name: str, line: int, *, first: bool
) -> PublishedCondition:
    location = f"{name}:{line}"
    if first:
        raise InvalidInputError(
            f"{location} contains the names of the columns.", f"The first row is {name}:2"
        )
    if not any(cell.strip() for cell in cells):
        raise InvalidInputError(f"{location} is empty.", "Name a line with figures.")
    row = {column: cell.strip() for column, cell in zip(columns, cells, strict=False) if column}
    return _published(location, row, location)


def _published(name: str, row: Mapping[str, str], location: str) -> PublishedCondition:
    for key in REQUIRED_COLUMNS:
        if not row.get(key):
            raise InvalidInputError(
                f"{location} has no {key}: a comparison needs n, mean and sd.",
                f"Look for it in the source, then write for example {SUMMARY_EXAMPLE}",
            )
    n = _count(row["n"], location)
    mean = _number(row["mean"], "mean", location)
    sd = _number(row["sd"], "sd", location)
    if mean <= 0:
        raise InvalidInputError(
            f"{location}: the mean is {row['mean']}, and a ratio needs one above zero.",
            "Compare a figure that is always positive, as a time.",
        )
    if sd < 0:
        raise InvalidInputError(
            f"{location}: the standard deviation is {row['sd']}; it cannot be negative.",
            "Check the source.",
        )
    error, sd, notes = _standard_error(n, sd, row["sd"], row.get("sem", ""), location)
    if error == 0.0:
        rounded = _half_step(row["sd"])
        notes += (rounded_deviation_note(location, row["sd"], rounded),)
    if error > MAX_ERROR * mean:
        raise InvalidInputError(
            f"{location}: the standard error is {100 * error / mean:.0f} % of the mean "
            f"{row['mean']}, too large for the logarithm of a ratio.",
            "Name a row with more launches, or one that varies less.",
        )
    workload = row.get("workload", "")
    stated = _UNIT.search(workload)
    columns = {
        key: cell for key, cell in row.items() if key not in NON_IDENTIFYING_COLUMNS and cell
    }
    source = f"source: {row['source']}" if row.get("source") else ""
    about = ", ".join(filter(None, (workload, *columns.values(), source)))
    return PublishedCondition(
        condition=Condition(
            name=name,
            source=ConditionSource.PUBLISHED,
            n=n,
            mean=mean,
            sd=sd,
            columns=about or None,
        ),
        error=error,
        unit=row.get("unit", "") or (stated[1] if stated else ""),
        workload=workload,
        columns=columns,
        notes=notes,
    )


def _standard_error(
    n: int, sd: float, printed_sd: str, printed: str, location: str
) -> tuple[float, float, tuple[str, ...]]:
    """Return the standard error, the standard deviation with n - 1, and notes.

    Some tables print the standard deviation with the divisor n (NumPy's default). A standard error
    beside it shows which: it is sd / sqrt(n) with the divisor n - 1, and sd / sqrt(n - 1) with n.
    """
    plain, of_n = sd / math.sqrt(n), sd / math.sqrt(n - 1)
    if not printed:
        return plain, sd, ()
    sem = _number(printed, "sem", location)
    if sem < 0:
        raise InvalidInputError(
            f"{location}: the standard error is {printed}; it cannot be negative.",
            "Check the source.",
        )
    slack = _half_step(printed) + _half_step(printed_sd) / math.sqrt(n - 1)
    misfit, other = abs(plain - sem), abs(of_n - sem)
    if min(misfit, other) > slack * (1 + 1e-9):
        larger = max(sem, plain)
        note = inconsistent_error_note(location, printed, printed_sd, n)
        return larger, larger * math.sqrt(n), (note,)
    if misfit <= other:
        return plain, sd, ()
    return of_n, of_n * math.sqrt(n), (divisor_note(location, printed_sd),)


def _half_step(printed: str) -> float:
    """Return half of the last printed digit."""
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - digits)


def _count(text: str, location: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidInputError(
            f"{location}: n is {text!r}, not a number of launches.", f"As {SUMMARY_EXAMPLE}"
        )
    if int(text) < 2:
        raise InvalidInputError(
            f"{location}: n is {text}, and a standard deviation needs at least two launches.",
            "Name a row with more launches.",
        )
    return int(text)


def _number(text: str, key: str, location: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not text.isascii():
        raise InvalidInputError(
            f"{location}: {key} is {text!r}, not a number.", f"As {SUMMARY_EXAMPLE}"
        )
    return value
