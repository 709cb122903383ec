"""Untrusted text is made safe for terminals, scripts and reports."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from assay.untrusted import clean

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_clean_removes_hiding_and_reordering_characters(text):
    shown = clean(text)
    kinds = {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    shown.encode("utf-8")


@given(st.text(st.characters(categories=("L", "N", "P", "S", "M", "Zs"))))
def test_clean_keeps_visible_text(text):
    assert clean(text) == text


def test_clean_escapes_removed_characters():
    assert clean("\x1b[31m\x00") == "\\x1b[31m\\x00"
    assert clean("a\nb\tc\rd") == "a\\nb\\tc\\rd"
    assert clean("a\nb", keep="\n") == "a\nb"
    assert clean("\u202egnp") == "\\u202egnp"
    assert clean("\udcff") == "\\xff"
    assert clean("\U000e0041") == "\\U000e0041"


def test_clean_keeps_joiners_and_right_to_left_letters():
    text = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert clean(text) == text
