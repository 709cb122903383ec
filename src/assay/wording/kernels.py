"""The kernels of a study in words."""

from __future__ import annotations

from assay.records import KernelComparison
from assay.units import show_count

ABSENT = "-"
"""Stands for the value of an option, or a reading, that a kernel does not have."""


def kernels_words(found: KernelComparison) -> str:
    """Say how many differences there are, and which configurations could not be compared."""
    many = len(found.differences)
    number = show_count(many, "difference") if many else "no difference"
    told = f"{number} between {' and '.join(found.releases)}"
    if found.unread:
        told += (
            f"; the configuration of {' and '.join(found.unread)} cannot be read "
            "(/proc/config.gz, /boot/config-RELEASE)"
        )
    return told
