"""Study ids: short, readable, and found by their beginning."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from assay.errors import InvalidInputError, nearest

_LETTERS = "abcdefghjkmnpqrstvwxyz"
_ALPHABET = "0123456789" + _LETTERS
"""Base 32 after Crockford: no i, l, o, u, which are mistaken for others; so ``last`` is no id."""
_LENGTH = 7
_LAST = "last"
_SHOW = "`assay study list` shows all."


def new_id() -> str:
    """A random id of seven characters; it begins with a letter, so that it is no number."""
    rest = (secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))
    return secrets.choice(_LETTERS) + "".join(rest)


def resolve_id(text: str, known: Sequence[str]) -> str:
    """The one of ``known`` (oldest first) that ``text`` means.

    Args:
        text: an id, the unique beginning of one, or ``last``.
        known: all ids.

    Raises:
        InvalidInputError: none or several.
    """
    wanted = text.strip().lower()
    if not known:
        raise InvalidInputError("There is no study yet.", "`assay tune -- COMMAND` makes one.")
    if wanted == _LAST:
        return known[-1]
    if wanted in known:
        return wanted
    found = [one for one in known if wanted and one.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise InvalidInputError(f"{text!r} is the beginning of several studies: {shown}.", _SHOW)
    near = nearest(wanted, list(known))
    hint = f"Did you mean {near}? {_SHOW}" if near else _SHOW
    raise InvalidInputError(f"There is no study {text!r}.", hint)
