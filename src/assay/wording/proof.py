"""Words on a proof: what it takes, and the command that goes on to it."""

from __future__ import annotations

import math

from assay.records import Budget, Recommendation
from assay.units import show_count, show_duration


def script_note(recommendation: Recommendation) -> str:
    """A comment for the script of a recommendation; empty where there is nothing to say."""
    return "Not proven: no claim shows a gain." if recommendation.unproven else ""


def proof_command(study_id: str, asked: Budget, proof: Budget) -> str:
    """The command that goes on with a study until its recommendation is proven or not.

    Args:
        study_id: of the study.
        asked: its budget.
        proof: what the proof is expected to take.
    """
    options = []
    if asked.time_s is not None and proof.time_s is not None:
        options.append(f"--budget {max(1, math.ceil(proof.time_s))}s")
    if asked.launches is not None and proof.launches is not None:
        options.append(f"--runs {proof.launches}")
    return " ".join(["assay study resume", study_id, *options])


def proof_words(proof: Budget) -> str:
    """What a proof takes: ``about 14 launches, 3 min``."""
    parts = []
    if proof.launches is not None:
        parts.append(show_count(proof.launches, "launch", "launches"))
    if proof.time_s is not None:
        parts.append(show_duration(proof.time_s))
    return f"about {', '.join(parts)}"
