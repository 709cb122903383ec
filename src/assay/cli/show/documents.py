"""JSON documents of the verbs; scripts rely on their keys (docs/reference/cli.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.api.results.documents import baseline_document, named_document, warm_start_document
from assay.records import StudySpec
from assay.records.codec import to_builtins
from assay.search.conclusion.notes import too_few_blocks_notes


def design_document(spec: StudySpec, launches: int) -> dict[str, Any]:
    """Return the design of a sweep, for its dry run.

    Args:
        spec: specification of the sweep.
        launches: minimum number of launches that can support a claim.
    """
    return {
        "baseline": baseline_document(spec),
        "cells": [{"name": arm.name, "settings": dict(arm.configuration)} for arm in spec.arms],
        "launches": launches,
        "notes": [*(spec.design.notes if spec.design else ()), *too_few_blocks_notes(spec)],
    }


def space_document(
    spec: StudySpec, left_out: Mapping[str, str], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the search space of a study and its restrictions, for a dry run.

    Args:
        spec: specification of the study.
        left_out: reasons by setting that is not part of the space.
        notes: remarks on the space.
    """
    space = spec.space
    return {
        "space": [
            {
                "name": p.name,
                "domain": str(p.domain),
                **({"reason": p.reason} if p.reason else {}),
                **({"condition": p.condition} if p.condition else {}),
            }
            for p in space.parameters
        ],
        "constraints": list(space.constraints),
        **named_document(spec),
        "excluded_settings": dict(left_out),
        **warm_start_document(spec),
        **({} if spec.fidelity is None else {"fidelity": to_builtins(spec.fidelity)}),
        "notes": list(notes),
    }
