"""Published figures of other machines, shown beside those of a case."""

from __future__ import annotations

import csv
from pathlib import Path

from assay.records.codec import Record

_FILE = Path(__file__).with_name("published.csv")


class PublishedFigure(Record, frozen=True, kw_only=True):
    """A published figure of a case.

    Attributes:
        source: publication of the figure.
        experiment: experiment and machine of the publication.
        quantity: measured quantity.
        value: value of the quantity; may be a range or words.
        unit: unit of the value.
    """

    source: str
    experiment: str
    quantity: str
    value: str
    unit: str

    def __str__(self) -> str:
        return f"{self.experiment}: {self.quantity} {self.value} {self.unit} ({self.source})"


def published_figures(case: str) -> tuple[PublishedFigure, ...]:
    """Return the published figures of a case; most cases have none."""
    with _FILE.open(newline="", encoding="utf-8") as file:
        return tuple(
            PublishedFigure(**{name: text for name, text in row.items() if name != "case"})
            for row in csv.DictReader(file)
            if row["case"] == case
        )
