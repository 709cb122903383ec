"""Words of sessions: trials instead of launches, and unchanged texts of the user."""

from __future__ import annotations

import pytest

from assay.wording.trial_words import SampleWords


@pytest.mark.parametrize(
    ("launches", "trials"),
    [
        ("5 of 44 launches failed", "5 of 44 trials failed"),
        ("1 launch, launched last. Launches differ.", "1 trial, tried last. Trials differ."),
        ("the launcher and relaunches", "the launcher and relaunches"),
        ("", ""),
    ],
)
def test_text_on_launches_becomes_one_on_trials(launches: str, trials: str) -> None:
    assert SampleWords(in_process=True)(launches) == trials
    assert SampleWords(in_process=False)(launches) == launches


def test_texts_of_the_user_are_unchanged() -> None:
    words = SampleWords(in_process=True, own=("launch=2", "the launch (of a kernel) failed"))
    text = "2 launches of 'launch=2' (the launch (of a kernel) failed)"
    assert words(text) == "2 trials of 'launch=2' (the launch (of a kernel) failed)"
