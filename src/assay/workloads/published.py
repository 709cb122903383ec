"""Published: figures that others saw, on other machines, beside which a case's own stand."""

from __future__ import annotations

import csv
from pathlib import Path

from assay.records.codec import Record

_FILE = Path(__file__).with_name("published.csv")


class Published(Record, frozen=True, kw_only=True):
    """A figure of a case, as it was published: ``value`` may be a range or words."""

    source: str
    experiment: str
    quantity: str
    value: str
    unit: str

    def __str__(self) -> str:
        return f"{self.experiment}: {self.quantity} {self.value} {self.unit} ({self.source})"


def published(case: str) -> tuple[Published, ...]:
    """What was published of a case; nothing of most."""
    with _FILE.open(newline="", encoding="utf-8") as file:
        return tuple(
            Published(**{name: text for name, text in row.items() if name != "case"})
            for row in csv.DictReader(file)
            if row["case"] == case
        )
