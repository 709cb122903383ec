"""Exit status of ``--fail-if``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from assay.search.claims.gate import gate_reasons
from assay.study.result import StudyResult
from assay.untrusted import clean


def gate_status(words: Sequence[str], result: StudyResult) -> int:
    """Return 1 if a verdict of ``--fail-if`` holds, and print the reason; else return 0."""
    found = gate_reasons(words, result.conclusion, result.spec)
    for text in found:
        print(f"assay: status 1 by --fail-if {clean(text)}", file=sys.stderr)
    return 1 if found else 0
