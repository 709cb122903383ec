"""Revision notes: the commits that programs were built from."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Sample
from assay.records.sample import REVISION


def revision_notes(samples: Sequence[Sample]) -> list[str]:
    """Name the commit of each branch or tag that a program was built from, once.

    Args:
        samples: samples of one stratum.
    """
    pieces = (piece for sample in samples for piece in sample.evidence if piece.kind == REVISION)
    return list(dict.fromkeys(piece.note for piece in pieces if piece.note))
