"""``cache``: state of the page cache for the files of the command at its start.

Interface: ``posix_fadvise(2)`` with ``POSIX_FADV_DONTNEED``, file by file; other cached files are
not affected. Evidence: *effective*: the cached share of these files just before the launch, by
``cachestat(2)`` (Linux 6.5) or ``mincore(2)``.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    PageCache,
    Plan,
    RunFacts,
)
from assay.records.facts import CachedFiles
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import degraded, granted, refused, unverified
from assay.settings.refusals import out_of_domain
from assay.units import show_bytes, show_count

_DOMAIN = Choices(("warm", "cold"))
_TOLERANCE = 0.01
"""Tolerated share of bytes in the wrong state: the kernel drops whole large pages."""


class PageCacheSetting(BaseSetting, frozen=True):
    """``cache``: warm or cold files."""

    name: str = "cache"
    summary: str = "page cache of the files in the command: warm (read before) or cold"
    evidence: ClassVar[Level] = Level.EFFECTIVE
    not_suggested: ClassVar[str] = (
        "it defines the measurement, not the best setting; name it to compare both states"
    )

    def domain(self, machine: Machine) -> Domain:
        """Return both states."""
        return _DOMAIN

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the preparation of the launch."""
        match config[self.name]:
            case "warm" | "cold" as state:
                return Resolved((PageCache(state=state),))
            case value:
                return out_of_domain(self.name, value, _DOMAIN)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the cached share just before the launch."""
        value = config[self.name]
        found = facts.cached_files
        if found is None:
            return unverified(value, "the page cache was not read before the launch")
        if not found.files:
            return refused(
                value,
                Level.SET,
                "the command names no existing file; directories are not searched",
            )
        if found.cached_bytes is None:
            return unverified(
                value, found.unavailable or "the kernel does not report it", _cached_text(found)
            )
        cached = min(found.cached_bytes / found.size_bytes, 1.0)
        wrong = cached if value == "cold" else 1.0 - cached
        if wrong <= _TOLERANCE:
            return granted(value, Level.EFFECTIVE, _cached_text(found))
        if wrong >= 1.0 - _TOLERANCE:
            return refused(value, Level.EFFECTIVE, _REASONS[str(value)], _cached_text(found))
        return degraded(value, Level.EFFECTIVE, _REASONS[str(value)], _cached_text(found))


_REASONS = {
    "cold": "files remain in the cache if other processes have mapped them, or if they are in"
    " memory only (tmpfs)",
    "warm": "memory is too small for these files, or limited, or the kernel reclaims pages by"
    " itself (memory.damon of `assay machine check`)",
}


def _cached_text(found: CachedFiles) -> str:
    files = show_count(found.files, "file")
    cached = "?" if found.cached_bytes is None else show_bytes(found.cached_bytes)
    return f"{cached} of {show_bytes(found.size_bytes)} in {files} cached"
