"""Studies as arguments of public functions."""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

from assay.api.functions.argument_types import shown
from assay.errors import InvalidInputError


@runtime_checkable
class Identified(Protocol):
    """Object of a study, such as its result."""

    @property
    def id(self) -> str | None:
        """Id of the study; ``None`` before it begins."""
        ...


StudyName: TypeAlias = str | Identified
"""Study: its id, the beginning of its id, ``last``, or an object of the study."""


def study_id(study: StudyName) -> str:
    """Return the id of a study, its beginning, or ``last``.

    Raises:
        InvalidInputError: the value names no study.
    """
    name = study if isinstance(study, str) else getattr(study, "id", None)
    if not isinstance(name, str):
        raise InvalidInputError(
            f"study: invalid value {shown(study)}.",
            "Give the id of a study, its result, or 'last'.",
        )
    return name
