"""Study ids: short, readable, and selectable by a unique prefix."""

from __future__ import annotations

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
    import secrets  # loads OpenSSL, which would delay `assay study list`

    rest = (secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))
    return secrets.choice(_LETTERS) + "".join(rest)


def is_last(text: str) -> bool:
    """Return whether a text selects the newest study."""
    return text == _LAST


def ambiguous_error(text: str, found: Sequence[str]) -> InvalidInputError:
    """Return the error for the beginning of several ids.

    Args:
        text: the beginning.
        found: these ids, or the first six of them.
    """
    shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
    return InvalidInputError(f"Ambiguous study {text!r}: {shown}.", _SHOW)


def unknown_error(text: str, known: Sequence[str]) -> InvalidInputError:
    """Return the error for a text that selects none of the known ids; names the nearest."""
    if not known:
        return InvalidInputError("The store is empty.", CREATE_STUDY)
    near = nearest(text.strip().lower(), list(known))
    hint = f"Did you mean {near}? {_SHOW}" if near else _SHOW
    return InvalidInputError(f"Unknown study {text!r}.", hint)
