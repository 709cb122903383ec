"""Study ids: short, readable, and selectable by a unique prefix."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from assay.errors import InvalidInputError, nearest

_LETTERS = "abcdefghjkmnpqrstvwxyz"
_ALPHABET = "0123456789" + _LETTERS
"""Base 32 of Crockford, without the ambiguous letters i, l, o, u; so ``last`` is not an id."""
_LENGTH = 7
_LAST = "last"
CREATE_STUDY = "Create a study: `assay tune -- COMMAND`."
_SHOW = "`assay study list` lists all studies."


def new_id() -> str:
    """Return a random id of seven characters that begins with a letter, to differ from numbers."""
    rest = (secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))
    return secrets.choice(_LETTERS) + "".join(rest)


def resolve_id(text: str, known: Sequence[str]) -> str:
    """Return the id in ``known`` (oldest first) that ``text`` selects.

    Args:
        text: an id, a unique prefix of one, or ``last``.
        known: all ids.

    Raises:
        InvalidInputError: no match, or several.
    """
    wanted = text.strip().lower()
    if not known:
        raise InvalidInputError("The store is empty.", CREATE_STUDY)
    if wanted == _LAST:
        return known[-1]
    if wanted in known:
        return wanted
    found = [study_id for study_id in known if wanted and study_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise InvalidInputError(f"Ambiguous study {text!r}: {shown}.", _SHOW)
    near = nearest(wanted, list(known))
    hint = f"Did you mean {near}? {_SHOW}" if near else _SHOW
    raise InvalidInputError(f"Unknown study {text!r}.", hint)
