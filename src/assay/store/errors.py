"""Errors of a store."""

from __future__ import annotations

from assay.errors import NotPossibleError


class StoreUnusableError(NotPossibleError):
    """The database is locked, damaged, full, unreachable or replaced: no other study works either.

    Loops over studies end with it, whereas other errors concern one study.
    """


class DamagedStudyError(NotPossibleError):
    """A study has content that this version cannot read: other studies still work."""
