"""Room: the reserve that the pager leaves free on the file systems behind memory."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.settings.tier import SWAP
from assay.units import parse_bytes


def free_space_assignments(keep_free: str | None, tier: str) -> list[str]:
    """Return the assignments that --keep-free is short for.

    Args:
        keep_free: size that stays free of each file system; the library's own choice if absent.
        tier: storage behind memory, as the value of ``mem.tier``.

    Raises:
        InvalidInputError: not a size, or nothing is taken of a file system.
    """
    if keep_free is None:
        return []
    if tier == SWAP:
        raise InvalidInputError(
            "--keep-free is of the file systems of --path, and swap is advised here.",
            "Leave it out, or see `assay tier doctor` for the pager.",
        )
    return [f"env.ASSAY_TIER_KEEP_FREE={parse_bytes(keep_free)}"]
