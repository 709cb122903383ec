"""Warning about a grace period that exceeds the budget."""

from __future__ import annotations

import pytest

from assay.cli.process.long_grace import warn_of_long_grace
from assay.records import Budget, Workload


@pytest.mark.parametrize(
    ("grace_s", "budget_s", "quiet", "told"),
    [
        (20.0, 5.0, False, True),
        (20.0, 5.0, True, False),
        (5.0, 5.0, False, False),
        (None, 5.0, False, False),
        (20.0, None, False, False),
    ],
)
def test_grace_beyond_the_budget_is_told(
    grace_s: float | None,
    budget_s: float | None,
    quiet: bool,
    told: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    workload = Workload(argv=("./p",), grace_s=grace_s)
    warn_of_long_grace(workload, Budget(time_s=budget_s), quiet=quiet)
    said = capsys.readouterr().err
    assert ("--grace 20.0 s is longer than the budget of 5.00 s" in said) == told
    assert bool(said) == told
