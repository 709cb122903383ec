from __future__ import annotations

import itertools

from assay.search.history.looks import is_look_due


def test_looks_become_sparser_and_never_stop() -> None:
    assert all(is_look_due(n) for n in range(80))
    looks = [n for n in range(10_000) if is_look_due(n)]
    assert len(looks) < 500
    gaps = [b / a for a, b in itertools.pairwise(looks[80:])]
    assert max(gaps) < 1.05
