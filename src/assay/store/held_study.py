"""Held study: properties that are cached between its samples."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection

from assay.store.dictionaries import DocumentKind, PackedDocuments


@dataclass
class HeldStudy:
    """Properties of a held study, cached for writing samples.

    Attributes:
        number: number of its row.
        objective: name of its objective.
        strata: numbers of its strata.
        plans: stratum and digest of the configuration of each stored plan.
        packers: writers of documents by stratum and kind.
        counted: the row may state the number of samples.
    """

    number: int
    objective: str
    strata: set[int]
    plans: set[tuple[int, str]] = field(default_factory=set)
    packers: dict[tuple[int, DocumentKind], PackedDocuments] = field(default_factory=dict)
    counted: bool = False

    def packer(
        self, connection: Connection, study_id: str, stratum_number: int, kind: DocumentKind
    ) -> PackedDocuments:
        """Return the writer of the documents of a stratum."""
        found = self.packers.get((stratum_number, kind))
        if found is None:
            found = PackedDocuments(connection, study_id, stratum_number, kind)
            self.packers[stratum_number, kind] = found
        return found
