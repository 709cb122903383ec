"""``malloc``: memory allocator of the program.

Interface: ``LD_PRELOAD`` (ld.so(8)); the shared object takes precedence over the C library.
Evidence: *seen* in the maps of the run.
"""

from __future__ import annotations

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Preload,
    RunFacts,
    Unpreload,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import (
    granted,
    judge_preloaded,
    mapped_files,
    refused,
    unread_reason,
    unverified,
)
from assay.settings.refusals import is_preloadable, out_of_domain, preload_obstacle, unpreloadable

PREFIXES: dict[str, str] = {
    "jemalloc": "libjemalloc",
    "tcmalloc": "libtcmalloc",
    "tbbmalloc": "libtbbmalloc",
    "mimalloc": "libmimalloc",
}
"""Allocator -> prefix of the file names of its shared objects."""

_PACKAGES: dict[str, str] = {
    "jemalloc": "apt-get install libjemalloc2 (Fedora: dnf install jemalloc)",
    "tcmalloc": "apt-get install libtcmalloc-minimal4 (Debian 13, Ubuntu 24.04:"
    " libtcmalloc-minimal4t64; Fedora: dnf install gperftools-libs)",
    "tbbmalloc": "apt-get install libtbbmalloc2 (Fedora: dnf install tbb)",
    "mimalloc": "apt-get install libmimalloc2.0 (Debian 13: libmimalloc3;"
    " Fedora: dnf install mimalloc)",
}
_DOMAIN = Choices(("glibc", *PREFIXES))
_ALL_PREFIXES = tuple(PREFIXES.values())


class AllocatorSetting(BaseSetting, frozen=True):
    """``malloc``: a preloaded allocator, or glibc's own."""

    name: str = "malloc"
    summary: str = "memory allocator: glibc's own, or a preloaded one"

    def domain(self, machine: Machine) -> Domain:
        """Return all five; ``resolve`` names the package of one that is not installed."""
        return _DOMAIN

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest installed allocators that can be preloaded."""
        if why := preload_obstacle(program, machine.arch):
            return f"the program {why}"
        installed = [name for name in PREFIXES if name in machine.libraries]
        if not installed:
            return f"no other allocator is installed: {_PACKAGES['jemalloc']}"
        own = [name for name in installed if name in program.runtimes]
        if own:
            others = tuple(name for name in installed if name not in own)
            if not others:
                return f"the program contains {own[0]}, and no other is installed"
            return Suggestion(
                Choices(others), f"the program contains {own[0]}; another may be faster"
            )
        missing = [name for name in PREFIXES if name not in installed]
        more = f"; {', '.join(missing)} not installed" if missing else ""
        return Suggestion(
            Choices(tuple(installed)),
            f"allocators differ in thread scalability and memory use{more}",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a preload that replaces any inherited allocator."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        clear = Unpreload(prefixes=_ALL_PREFIXES)
        if value == "glibc":
            return Resolved((clear,))
        path = machine.libraries.get(str(value))
        if path is None:
            return Refused(f"{value} is not installed", f"{_PACKAGES[str(value)]}.")
        if not is_preloadable(path):
            return unpreloadable(path)
        return Resolved((clear, Preload(path=path)))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mapped allocators."""
        value = config[self.name]
        found = mapped_files(facts, _ALL_PREFIXES)
        if found is None:
            return unverified(value, unread_reason(facts, "maps"))
        prefix = PREFIXES.get(str(value))
        if prefix is not None:
            return judge_preloaded(value, prefix, found, "allocator")
        if found:
            why = "the program contains another allocator"
            return refused(value, Level.SEEN, why, ", ".join(found))
        return granted(value, Level.SEEN, "no other allocator mapped")
