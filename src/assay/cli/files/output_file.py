"""Output files of verbs, checked before the first launch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import InvalidInputError


def output_path(option: str, text: str, endings: Sequence[str]) -> Path:
    """Return the output file of an option.

    Args:
        option: option that the error names.
        text: path as written.
        endings: valid suffixes.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    path = Path(text)
    if path.suffix not in endings:
        raise InvalidInputError(
            f"{option} {path}: unknown suffix.",
            f"Write a file with the suffix {' or '.join(endings)}.",
        )
    demand_parent(option, path)
    return path


def demand_parent(option: str, path: Path) -> None:
    """Raise an error if the folder of an output file is missing.

    Raises:
        InvalidInputError: the folder is missing.
    """
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"{option} {path}: there is no folder {path.parent}.", "Create it first."
        )
