"""Proof: its cost, and the command that continues a study to it."""

from __future__ import annotations

import math

from assay.records import Budget, Recommendation
from assay.units import show_count, show_duration


def script_note(recommendation: Recommendation) -> str:
    """Return a comment for the script of a recommendation; empty for a proven one."""
    return "Not proven: no claim shows a gain." if recommendation.unproven else ""


def proof_command(study_id: str, budget: Budget, proof: Budget) -> str:
    """Return the command that continues a study to a proof.

    Args:
        study_id: name of the study.
        budget: budget of the study.
        proof: expected cost of the proof.
    """
    options = []
    if budget.time_s is not None and proof.time_s is not None:
        options.append(f"--budget {max(1, math.ceil(proof.time_s))}s")
    if budget.launches is not None and proof.launches is not None:
        options.append(f"--runs {proof.launches}")
    return " ".join(["assay study resume", study_id, *options])


def proof_words(proof: Budget) -> str:
    """Return the cost of a proof: ``about 14 launches, 3 min``."""
    parts = []
    if proof.launches is not None:
        parts.append(show_count(proof.launches, "launch", "launches"))
    if proof.time_s is not None:
        parts.append(show_duration(proof.time_s))
    return f"about {', '.join(parts)}"
