"""Kernels: how the kernels of a study differ."""

from __future__ import annotations

from assay.records.codec import Record


class KernelDifference(Record, frozen=True, kw_only=True):
    """One option or reading that is not the same under all kernels.

    Attributes:
        name: ``CONFIG_HZ`` of an option, ``thp.enabled`` of a reading.
        values: under each kernel, in the order of ``KernelComparison.releases``; ``None`` where
            the kernel has no such option or reading.
    """

    name: str
    values: tuple[str | None, ...]


class KernelComparison(Record, frozen=True, kw_only=True):
    """The differences of the kernels that a study ran under.

    Attributes:
        releases: as ``uname -r`` prints them; the first is the one that the study began under.
        differences: readings of the running machine first, then options of the configuration.
        unread: releases whose configuration could not be read: their options are not compared.
    """

    releases: tuple[str, ...]
    differences: tuple[KernelDifference, ...] = ()
    unread: tuple[str, ...] = ()
