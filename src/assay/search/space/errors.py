"""Errors of designs that do not fit their search space."""

from __future__ import annotations

from assay.errors import InvalidInputError

MAX_CELLS = 10_000
"""Maximum number of cells. Up to it a launch costs the same, and the report takes seconds."""


class DesignError(InvalidInputError):
    """A design does not fit its search space.

    Attributes:
        key: path of the key to change in a sweep file.
    """

    def __init__(self, key: tuple[str, ...], cause: str, remedy: str | None = None) -> None:
        super().__init__(cause, remedy)
        self.key = key
