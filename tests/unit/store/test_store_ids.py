from __future__ import annotations

import re

import pytest

from assay.errors import InvalidInputError
from assay.store.ids import new_id, resolve_id

KNOWN = ["ab3kx9q", "ab7mmmm", "zz00000"]


def test_ids_are_unique_and_unambiguous() -> None:
    ids = [new_id() for _ in range(200)]
    assert len(set(ids)) == 200
    assert all(re.fullmatch("[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{6}", one) for one in ids)


def test_unique_prefix_selects_id() -> None:
    assert resolve_id("ab3", KNOWN) == "ab3kx9q"
    assert resolve_id("Z", KNOWN) == "zz00000"
    assert resolve_id("last", KNOWN) == "zz00000"
    assert resolve_id("ab", ["ab", "abc"]) == "ab"


def test_ambiguous_prefix_lists_ids() -> None:
    with pytest.raises(InvalidInputError, match="ab3kx9q, ab7mmmm"):
        resolve_id("ab", KNOWN)


def test_long_list_of_ambiguous_ids_is_truncated() -> None:
    with pytest.raises(InvalidInputError) as caught:
        resolve_id("a", [f"a{n}" for n in range(100)])
    assert len(caught.value.cause) < 100


def test_unknown_id_suggests_nearest() -> None:
    with pytest.raises(InvalidInputError, match="Did you mean ab7mmmm"):
        resolve_id("ab7mmnm", KNOWN)


def test_unknown_id_without_suggestion_names_list_command() -> None:
    with pytest.raises(InvalidInputError, match="assay study list"):
        resolve_id("99999", KNOWN)


def test_empty_store_names_command_to_create_study() -> None:
    with pytest.raises(InvalidInputError, match="assay tune"):
        resolve_id("last", [])
