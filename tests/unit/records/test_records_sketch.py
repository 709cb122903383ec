"""Sketches of outputs agree where nothing but values of the launches' own settings differs."""

from __future__ import annotations

import pytest

from assay.records.sketch import MAX_TOKENS, OWN_VALUE, first_difference, sketch_of, sketches_agree


def _agree(one: str, other: str, *, numbers: bool = True) -> bool:
    """Return whether texts agree, in which ``@`` is a value of the launch's own."""
    sketches = [sketch_of(text.replace("@", OWN_VALUE).splitlines()) for text in (one, other)]
    forward = sketches_agree(*sketches, numbers=numbers)
    assert sketches_agree(*reversed(sketches), numbers=numbers) == forward
    return forward


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nice @", "nice 0"),
        ("nice @", "nice"),
        ("LANG=@\nok", "LANG=C.UTF-8\nok"),
        ("preload=@", "preload="),
        ("lib/@.so x", "lib/m.so x"),
        ("mode @ of fast", "mode slow of @"),
        ("@\nrows 5", "rows 5"),
        ("a @ b @ c", "a b 1 c"),
    ],
)
def test_other_word_or_none_in_place_of_a_value_agrees(one: str, other: str) -> None:
    assert _agree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mode @: rows 5", "usage: q fast|slow"),
        ("mode @\nsum 12345", "mode slow\nsum 12346"),
        ("mode @\nsum 12345", "mode slow"),
        ("mode @\nrows 5\nsum 1", "mode slow\nsum 1"),
        ("mode @", "mode slow and more"),
        ("LANG=@", "LANG"),
        ("@", ""),
        ("rows 5", "rows 5 of 6"),
    ],
    ids=["usage", "checksum", "truncated", "line", "words", "no-value", "nothing", "none-of-own"],
)
def test_difference_beside_a_value_does_not_agree(one: str, other: str) -> None:
    assert not _agree(one, other)


def test_digits_are_left_out_where_numbers_do_not_count() -> None:
    assert not _agree("mode @ at 10:01", "mode b at 10:02")
    assert _agree("mode @ at 10:01", "mode b at 10:02", numbers=False)
    assert not _agree("mode @ at 10:01", "mode b on 10:02", numbers=False)


def test_first_difference_names_the_line() -> None:
    a, b = sketch_of(["x", f"m {OWN_VALUE}", "y 1"]), sketch_of(["x", "m z", "y 2"])
    assert first_difference(a, b) == 3
    assert first_difference(a, a) is None
    assert first_difference(sketch_of(["x"]), sketch_of(["x", "y"])) == 2


def test_sketch_holds_no_words_and_long_outputs_have_none() -> None:
    text = sketch_of(["the password is 1234"])
    assert not any(word in text for word in ("password", "1234"))
    assert "\n" not in text
    assert sketch_of(["a"] * MAX_TOKENS) and not sketch_of(["a"] * (MAX_TOKENS + 1))
    assert not sketches_agree("", "*")
