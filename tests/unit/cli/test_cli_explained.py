"""Explanation of a gain, on a terminal and as JSON."""

from __future__ import annotations

import math

import pytest

from assay.api.results.documents import explanation_document
from assay.cli.show.explanation import explanation_lines
from assay.search.model.explanation import Explanation, SettingEffect
from assay.wording.sentence import bound_words

MALLOC = SettingEffect((("malloc", "jemalloc"),), 0.7, (0.65, 0.76))
BOTH = SettingEffect((("malloc", "jemalloc"), ("threads", 2)), 1.1, (1.02, 1.2))
NICE = SettingEffect((("nice", 5),), 1.05, (1.01, 1.09))


def test_each_group_has_a_heading_and_the_first_says_what_it_rests_on() -> None:
    lines = list(explanation_lines(Explanation((MALLOC,), (BOTH,), (NICE,), 84)))
    assert [line.strip() for line in lines if line.endswith(":")] == [
        "effect of each recommended setting (from a model of 84 launches):",
        "interactions of two settings, beyond their separate effects:",
        "effects of other settings, on average over the space:",
    ]
    assert lines[2].split() == ["malloc=jemalloc", "-30.0", "%", "-35.0", "to", "-24.0", "%"]
    changes = {line.index("%") for line in lines[1:] if not line.endswith(":")}
    assert len(changes) == 1, "one below the other"


def test_missing_explanation_yields_no_lines() -> None:
    assert list(explanation_lines(None)) == []
    empty = Explanation((), (), (), 20, tried=7, combinations=1200.0, untried_ratio_bound=0.985)
    assert list(explanation_lines(empty)) == [
        "  7 of 1,200 combinations were tried; according to the model no other one is better "
        "by more than 1.5 % (95 %)."
    ]
    endless = Explanation((), (), (), 20, tried=7, combinations=math.inf)
    assert list(explanation_lines(endless)) == ["  7 combinations were tried."]


def test_the_document_has_every_share() -> None:
    found = explanation_document(Explanation((MALLOC,), (BOTH,), (), 84))
    assert found == {
        "launches": 84,
        "setting_effects": [{"settings": {"malloc": "jemalloc"}, "ratio": 0.7, "ci": [0.65, 0.76]}],
        "interactions": [
            {"settings": {"malloc": "jemalloc", "threads": 2}, "ratio": 1.1, "ci": [1.02, 1.2]}
        ],
        "average_effects": [],
        "launched_combinations": 1,
        "untried_ratio_bound": None,
    }


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (1.0, "as much as 0.1 %"),
        (0.99951, "as much as 0.1 %"),
        (0.999, "more than 0.1 %"),
        (0.9849, "more than 1.6 %"),
        (0.985, "more than 1.5 %"),
    ],
)
def test_the_bound_that_is_shown_is_true(left: float, told: str) -> None:
    assert bound_words(left) == told
    assert float(told.split()[-2]) / 100 >= 1.0 - left - 1e-9


@pytest.mark.parametrize(
    ("left", "factor"), [(2.628, "2.63"), (2.0, "2"), (0.38, "2.64"), (0.5, "2"), (1234.5, "1240")]
)
def test_bound_beyond_twice_is_a_factor(left: float, factor: str) -> None:
    assert bound_words(left) == f"more than a factor of {factor}"
    assert float(factor) >= max(left, 1 / left) - 1e-9


@pytest.mark.parametrize("left", [1.999, 0.501])
def test_bound_below_twice_is_a_share(left: float) -> None:
    assert bound_words(left).endswith(" %")
