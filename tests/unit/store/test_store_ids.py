from __future__ import annotations

import re

from assay.store.ids import ambiguous_error, new_id, unknown_error

KNOWN = ["ab3kx9q", "ab7mmmm", "zz00000"]


def test_ids_are_unique_and_unambiguous() -> None:
    ids = [new_id() for _ in range(200)]
    assert len(set(ids)) == 200
    assert all(re.fullmatch("[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{6}", one) for one in ids)


def test_ambiguous_prefix_lists_ids() -> None:
    assert "ab3kx9q, ab7mmmm." in ambiguous_error("ab", KNOWN[:2]).cause


def test_long_list_of_ambiguous_ids_is_truncated() -> None:
    assert ambiguous_error("a", [f"a{n}" for n in range(6)]).cause.endswith("a4, ….")


def test_unknown_id_suggests_nearest() -> None:
    assert "Did you mean ab7mmmm" in str(unknown_error("ab7mmnm", KNOWN))


def test_unknown_id_without_suggestion_names_list_command() -> None:
    assert "assay study list" in str(unknown_error("99999", KNOWN))


def test_empty_store_names_command_to_create_study() -> None:
    assert "assay tune" in str(unknown_error("last", []))
