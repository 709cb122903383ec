"""Results: one document for each part and each kind of machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from .machine_load import is_busy
from .reading import Table

SCHEMA = 2


class Column(Enum):
    """Kind of machine: with or without hardware counters that the user may open."""

    WITH = "with-counters"
    WITHOUT = "without-counters"

    @property
    def title(self) -> str:
        """Description of the machine, for heads of columns and sections."""
        return self.value.replace("-counters", " hardware counters")


def column_of(probe: Mapping[str, Any]) -> Column:
    """Return the column of a machine.

    Args:
        probe: answer of ``assay-exec --probe``.
    """
    cycles = probe.get("counters", {}).get("cycles", {})
    return Column.WITH if cycles.get("ok") else Column.WITHOUT


@dataclass(frozen=True)
class Measured:
    """The parts that were measured on one kind of machine, by name.

    Attributes:
        table: readings of all of them.
    """

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The readings of all parts."""
        return Table.of(
            entry for document in self.documents.values() for entry in document["readings"]
        )

    def busy(self, part: str) -> bool:
        """Return whether other processes kept the machine busy, and could disturb a part."""
        document = self.documents.get(part)
        return document is not None and is_busy(document) and not document.get("favoured")


def file_of(folder: Path, column: Column, part: str) -> Path:
    """Return the file of a part."""
    return folder / column.value / f"{part}.json"


def save(folder: Path, column: Column, part: str, document: dict[str, Any]) -> None:
    """Keep a part; an earlier result of it is replaced."""
    file = file_of(folder, column, part)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(shown(document))


def load(folder: Path, parts: Iterable[str]) -> dict[Column, Measured]:
    """Read the results in a folder."""
    found: dict[Column, Measured] = {column: Measured() for column in Column}
    for part in parts:
        for column, measured in found.items():
            file = file_of(folder, column, part)
            if file.exists():
                measured.documents[part] = json.loads(file.read_text())
    return found


def shown(document: dict[str, Any]) -> str:
    """Return a document as JSON, with one line for each list of readings."""
    head = {name: value for name, value in document.items() if name != "readings"}
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in document["readings"])
    return f'{json.dumps(head, indent=1)[:-2]},\n "readings": [\n{lines}\n]}}\n'
