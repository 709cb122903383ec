"""Checks of options that are valid for a single objective only."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.records import StudySpec


def check_single_objective(spec: StudySpec) -> None:
    """Raise for a study by several objectives with an option for a single one.

    Raises:
        InvalidInputError: such an option is set.
    """
    reject_options(
        {
            "--require": spec.requirements,
            "--parallel": spec.parallel,
            "--warm-start": spec.earlier_studies,
        }
    )


def reject_options(asked: Mapping[str, object]) -> None:
    """Raise if an option for a single objective is set.

    Args:
        asked: values by option; an empty value means that the option is not set.

    Raises:
        InvalidInputError: an option is set.
    """
    for option, value in asked.items():
        if value:
            raise InvalidInputError(
                f"{option} is for one objective; there are several.",
                f"Leave {option} out, or decide by one of them.",
            )
