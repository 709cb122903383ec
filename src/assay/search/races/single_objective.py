"""Alone: what a study with several objectives does not have."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import InvalidInputError
from assay.records import StudySpec


def check_single_objective(spec: StudySpec) -> None:
    """Refuse a study by several objectives that asks for what is decided by one.

    Raises:
        InvalidInputError: names the first.
    """
    reject_options(
        {"--require": spec.require, "--parallel": spec.parallel, "--warm-start": spec.earlier}
    )


def reject_options(asked: Mapping[str, object]) -> None:
    """Refuse options that are for one objective.

    Args:
        asked: by the name of the option; what is empty was not asked for.

    Raises:
        InvalidInputError: names the first.
    """
    for option, value in asked.items():
        if value:
            raise InvalidInputError(
                f"{option} is for one objective; there are several.",
                f"Leave {option} out, or decide by one of them.",
            )
