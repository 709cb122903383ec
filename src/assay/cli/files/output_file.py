"""Output files of verbs, checked before the first launch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError


def output_path(option: str, text: str, endings: Sequence[str]) -> Path:
    """Return the output file of an option.

    Args:
        option: option that the error names.
        text: path as written.
        endings: valid suffixes.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
        NotPossibleError: no permission to write the file.
    """
    path = Path(text)
    if path.suffix not in endings:
        raise InvalidInputError(
            f"{option} {path}: unknown suffix.",
            f"Write a file with the suffix {' or '.join(endings)}.",
        )
    demand_writable(option, path)
    return path


def demand_writable(option: str, path: Path) -> None:
    """Raise an error if an output file cannot be created: its folder is missing or read-only.

    Raises:
        InvalidInputError: the folder is missing.
        NotPossibleError: no permission to write to the folder, or to a special file.
    """
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"{option} {path}: there is no folder {path.parent}.", "Create it first."
        )
    # A regular file is replaced by a new one, which requires write permission for its folder.
    target = Path(os.path.realpath(path))
    place = target if target.exists() and not target.is_file() else target.parent
    if not os.access(place, os.W_OK, effective_ids=True):
        raise NotPossibleError(
            f"{option} {path}: no permission to write to {place}.", "Specify another file."
        )
