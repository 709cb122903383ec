"""Series table: one row for each interval of reported values, as CSV (RFC 4180)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import zip_longest
from typing import TextIO

from assay.bundle.source import Source
from assay.bundle.table import full_fidelity
from assay.records import Sample, Series, Value
from assay.records.configuration import show_value
from assay.untrusted import no_formula

COLUMNS = (
    *("stratum", "sample", "stage", "block", "arm", "fidelity", "metric", "rank"),
    *("time_s", "step", "value", "min", "max", "count"),
)
"""Columns: ``sample`` is the number of the sample in its stratum, as in the table of samples."""


def write_series_table(source: Source, target: TextIO) -> None:
    """Write the reported values of all launches, with empty cells without a value.

    Args:
        source: data of a study.
        target: text file.
    """
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    full = full_fidelity(source.record.spec)
    for stratum, survey in zip(source.strata, source.surveys, strict=True):
        if not survey.series:
            continue
        for number, sample in enumerate(stratum.samples, start=1):
            writer.writerows(_rows(stratum.stratum.number, number, sample, full))


def _rows(stratum: int, number: int, sample: Sample, full: Value | None) -> Iterator[list[str]]:
    launch = sample.launch
    fidelity = full if launch.fidelity is None else launch.fidelity
    place = [str(stratum), str(number), str(launch.stage), str(launch.block)]
    place.append(no_formula(launch.arm))
    place.append("" if fidelity is None else no_formula(show_value(fidelity)))
    for name, series in sample.series.items():
        rank = "" if series.rank is None else str(series.rank)
        for interval in _intervals(series):
            cells = ("" if cell is None else show_value(cell) for cell in interval)
            yield [*place, no_formula(name), rank, *cells]


def _intervals(series: Series) -> Iterator[tuple[float | None, ...]]:
    """Yield the intervals; one with a single report is its own minimum and maximum."""
    columns = (series.times_s, series.steps, series.values)
    if series.counts:
        yield from zip_longest(*columns, series.minima, series.maxima, series.counts)
        return
    for time_s, step, value in zip(*columns, strict=True):
        yield time_s, step, value, value, value, 1
