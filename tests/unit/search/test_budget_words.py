"""Sufficient budgets in next steps."""

from __future__ import annotations

from assay.records import Budget
from assay.wording.budget_words import IN_PYTHON, ON_COMMAND_LINE
from assay.wording.notes import missing_values

SMALL, NEEDED = Budget(time_s=3.0, launches=4), Budget(time_s=9.5, launches=14)


def test_budget_has_the_form_of_its_reader() -> None:
    assert ON_COMMAND_LINE.of(SMALL, NEEDED) == "--budget 10s and --runs 14"
    assert ON_COMMAND_LINE.resume("x", SMALL, NEEDED) == (
        "assay study resume x --budget 10s --runs 14"
    )
    assert IN_PYTHON.of(SMALL, NEEDED) == 'budget="10s" and runs=14'
    assert IN_PYTHON.resume("x", SMALL, NEEDED) == 'assay.resume("x", budget="10s", runs=14)'


def test_budget_without_a_limit_is_not_named() -> None:
    assert IN_PYTHON.of(Budget(launches=4), NEEDED) == "runs=14"
    assert IN_PYTHON.of(Budget(time_s=3.0), NEEDED) == 'budget="10s"'


def test_number_of_missing_values_agrees_with_its_verb() -> None:
    one = missing_values("x", 1, 3, "arm a", "no match")
    assert one.startswith("1 of 3 launches has no x, arm a, and is excluded from")
    two = missing_values("x", 2, 3, "arm a", "no match")
    assert two.startswith("2 of 3 launches have no x, arm a, and are excluded from")
