from __future__ import annotations

from assay.wording.endings import INTERRUPTED, shown_ending


def test_interrupted_study_names_the_command_that_continues_it() -> None:
    shown = shown_ending(INTERRUPTED, "abc1234", in_process=False)
    assert shown == "Interrupted; `assay study resume abc1234` continues the study."


def test_interrupted_session_names_its_own_continuation() -> None:
    shown = shown_ending(INTERRUPTED, "abc1234", in_process=True)
    assert shown == 'Interrupted; `assay.Session(study="abc1234")` continues the study.'


def test_other_ending_stays() -> None:
    assert shown_ending("Done.", "abc1234", in_process=False) == "Done."
