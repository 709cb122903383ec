"""Launches of a large study that its page draws."""

from __future__ import annotations

from collections import Counter

from assay.records import Configuration, Stage
from assay.reporting.drawn import MAX_DRAWN, drawn_launches, share_sentence
from assay.reporting.trials import State, Trial


def _trial(number: int, arm: str, value: float | None) -> Trial:
    state = State.FAILED if value is None else State.VALUE
    return Trial(number, float(number), arm, Configuration(), Stage.CONFIRM, 0, state, value)


def test_small_study_is_drawn_whole():
    drawn = drawn_launches([_trial(at, "a", 1.0) for at in range(MAX_DRAWN)])
    assert drawn.numbers is None
    assert drawn.count == drawn.total == MAX_DRAWN


def test_many_arms_of_few_launches_fill_the_page():
    trials = [_trial(at, f"arm {at % 10_000}", float(at)) for at in range(20_000)]
    drawn = drawn_launches(trials)
    assert drawn.count == MAX_DRAWN
    middle = [number for number in drawn.numbers if 5_000 <= number < 15_000]
    assert len(middle) > MAX_DRAWN / 3


def test_arms_have_shares_by_their_launches():
    trials = [_trial(at, "often" if at % 10 else "seldom", float(at % 7)) for at in range(50_000)]
    drawn = drawn_launches(trials)
    counts = Counter("often" if number % 10 else "seldom" for number in drawn.numbers)
    assert 0.07 * drawn.count < counts["seldom"] < 0.13 * drawn.count


def test_extremes_and_failed_launches_are_drawn():
    trials = [_trial(at, "a", float(at)) for at in range(20_000)]
    trials += [_trial(20_000 + at, "a", None) for at in range(100)]
    drawn = drawn_launches(trials)
    assert {0, 19_999} <= drawn.numbers
    assert all(20_000 + at in drawn for at in range(100))
    assert drawn.count <= MAX_DRAWN


def test_sentence_counts_the_drawn_launches():
    assert share_sentence(20, 20) == ""
    assert share_sentence(5_000, 20_000).startswith("5,000 of 20,000 launches are drawn, with the ")
