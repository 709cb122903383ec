"""Kernels: the differences of the kernels of a study."""

from __future__ import annotations

from assay.records.codec import Record


class KernelDifference(Record, frozen=True, kw_only=True):
    """Option or reading that differs between kernels.

    Attributes:
        name: an option such as ``CONFIG_HZ`` or a reading such as ``thp.enabled``.
        values: value under each kernel, in the order of ``KernelComparison.releases``; ``null`` if
            the kernel has no such option or reading.
    """

    name: str
    values: tuple[str | None, ...]


class KernelComparison(Record, frozen=True, kw_only=True):
    """Differences of the kernels under which a study ran.

    Attributes:
        releases: releases as printed by ``uname -r``; the study began under the first one.
        differences: readings of the running machine first, then configuration options.
        unreadable_releases: releases with unreadable configuration, whose options are not compared.
    """

    releases: tuple[str, ...]
    differences: tuple[KernelDifference, ...] = ()
    unreadable_releases: tuple[str, ...] = ()
