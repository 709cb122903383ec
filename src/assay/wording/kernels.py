"""Kernels: differences between the kernels of a study."""

from __future__ import annotations

from assay.records import KernelComparison
from assay.units import show_count

ABSENT = "-"
"""Value of an option, or a reading, that a kernel does not have."""


def kernels_words(found: KernelComparison) -> str:
    """Return the number of differences, and the configurations that cannot be read."""
    many = len(found.differences)
    number = show_count(many, "difference") if many else "no difference"
    text = f"{number} between {' and '.join(found.releases)}"
    if found.unreadable_releases:
        text += (
            f"; the configuration of {' and '.join(found.unreadable_releases)} cannot be read "
            "(/proc/config.gz, /boot/config-RELEASE)"
        )
    return text
