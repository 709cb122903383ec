"""Target: a file that a verb is to write, looked at before anything is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import InvalidInputError


def output_path(option: str, text: str, endings: Sequence[str]) -> Path:
    """The file that ``option`` names.

    Raises:
        InvalidInputError: an ending that does not say what to write, or a folder that is not there.
    """
    path = Path(text)
    if path.suffix not in endings:
        raise InvalidInputError(
            f"{option} {path}: its ending does not say what to write.",
            f"It takes files that end in {', '.join(endings)}.",
        )
    demand_parent(option, path)
    return path


def demand_parent(option: str, path: Path) -> None:
    """Refuse a file in a folder that is not there.

    Raises:
        InvalidInputError: names the folder.
    """
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"{option} {path}: there is no folder {path.parent}.", "Make it first."
        )
