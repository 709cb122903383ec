from __future__ import annotations

import itertools

from assay.search.history.interim_analyses import is_analysis_due


def test_interim_analyses_become_sparser_and_never_stop() -> None:
    assert all(is_analysis_due(n) for n in range(80))
    analyses = [n for n in range(10_000) if is_analysis_due(n)]
    assert len(analyses) < 500
    gaps = [b / a for a, b in itertools.pairwise(analyses[80:])]
    assert max(gaps) < 1.05
