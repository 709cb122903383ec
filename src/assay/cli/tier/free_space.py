"""Free space that the pager leaves on the file systems of the backing store."""

from __future__ import annotations

from assay.api.options.option_values import parse_quantity
from assay.errors import InvalidInputError
from assay.settings.tier import SWAP
from assay.units import parse_bytes


def free_space_assignments(keep_free: str | None, tier: str) -> list[str]:
    """Return the assignments that --keep-free is short for.

    Args:
        keep_free: size to keep free on each file system; the library's default if absent.
        tier: backing store, as the value of ``mem.tier``.

    Raises:
        InvalidInputError: an invalid size, or a tier without file systems.
    """
    if keep_free is None:
        return []
    if tier == SWAP:
        raise InvalidInputError(
            "--keep-free needs the file systems of --path, and this run advises on swap.",
            "Leave it out, or see `assay tier doctor` for the pager.",
        )
    return [f"env.ASSAY_TIER_KEEP_FREE={parse_quantity('--keep-free', keep_free, parse_bytes)}"]
