"""Unfit: a space and a design that do not go together."""

from __future__ import annotations

from assay.errors import InvalidInputError

MAX_CELLS = 1000
"""More cells than this are no design: one block of them takes longer than most budgets."""


class DesignError(InvalidInputError):
    """A space and a design that do not go together.

    Attributes:
        key: what has to be changed, as the path to it in a sweep file.
    """

    def __init__(self, key: tuple[str, ...], cause: str, remedy: str | None = None) -> None:
        super().__init__(cause, remedy)
        self.key = key
