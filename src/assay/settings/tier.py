"""``mem.dram``, ``mem.tier``, ``mem.numa``: large memory in limited DRAM, backed by storage.

Interface: ``libassay-tier.so`` is preloaded (``LD_PRELOAD``) and reads its DRAM budget and backing
store from the environment (native/tier/preload/environment.cpp). It handles page faults with
userfaultfd(2), and moves pages with ``UFFDIO_MOVE`` (Linux 6.8); with the kernel's swap as backing
store, it only advises (madvise(2)). Evidence: *seen* in the maps of the run; a program that cannot
use it ends with an error before its first instruction. The NUMA nodes of the DRAM (``mem.numa``)
are *set*: the location of pages is not checked.
"""

from __future__ import annotations

from typing import ClassVar

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.machine.swaps import SWAPS, swap_areas
from assay.records import (
    AnyText,
    Choices,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    Level,
    Plan,
    Preload,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import (
    NOT_MAPPED,
    granted,
    mapped_files,
    refused,
    unread_reason,
    unverified,
)
from assay.settings.refusals import is_preloadable, out_of_domain, unpreloadable
from assay.units import parse_bytes, show_bytes

DRAM, TIER, NUMA = "mem.dram", "mem.tier", "mem.numa"
POLICY = "mem.policy"
SWAP = "swap"
"""In place of directories: the kernel's swap, with advice."""
LIBRARY = "assay-tier"
"""Name of the pager's library in a machine document."""

CHUNK_BYTES = 2 << 20
"""Default chunk size (``PagerConfig::chunk_bytes`` in native/tier/pager/pager_config.hpp)."""
MIN_DRAM_BYTES = 8 * CHUNK_BYTES
"""Minimum DRAM budget: no instruction touches as many chunks at once (``ChunkCache::min_chunks`` in
native/tier/memory/chunk_cache.hpp).
"""
TOO_LITTLE_DRAM_REMEDY = f"Use at least {MIN_DRAM_BYTES >> 20}M: eight chunks of 2 MiB."
"""Remedy for a smaller budget."""
TOO_MUCH_DRAM_REMEDY = "Use the memory that is available beside all other programs."
"""Remedy for a budget above the memory of the machine."""
_SIZES = AnyText("a size such as 8G")
_PATHS = AnyText("a directory on a disk, several with commas between them, or swap")
_PLACES = Choices(("follow", "local", "interleave"))


class DramBudget(BaseSetting, frozen=True):
    """``mem.dram``: DRAM budget of the large allocations of a program."""

    name: str = DRAM
    summary: str = "DRAM budget of large allocations, backed by storage (with mem.tier)"
    not_suggested: ClassVar[str] = "only the user knows the memory budget of a program"

    def domain(self, machine: Machine) -> Domain:
        """Return sizes."""
        return _SIZES

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the budget as a variable.

        Raises:
            InvalidInputError: the size is invalid, or below the minimum of the pager.
        """
        if TIER not in config:
            return Refused(
                f"{DRAM} needs storage for data beyond it", f"Add {TIER}=DIR, on a disk."
            )
        bytes_ = _bytes_of(config[self.name])
        if bytes_ < MIN_DRAM_BYTES:
            raise InvalidInputError(
                f"The DRAM budget is too small: {DRAM}={config[self.name]}.", TOO_LITTLE_DRAM_REMEDY
            )
        most = machine.memory_limit_bytes or machine.memory_bytes
        if 0 < most < bytes_:
            return Refused(f"it is {excess_reason(most)}", TOO_MUCH_DRAM_REMEDY)
        return Resolved((budget(bytes_),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the pager was mapped."""
        return _judge(config[self.name], facts)


class TierStorage(BaseSetting, frozen=True):
    """``mem.tier``: backing store for memory beyond ``mem.dram``."""

    name: str = TIER
    summary: str = "backing store of large allocations: directories, or swap (with mem.dram)"
    not_suggested: ClassVar[str] = "only the user knows which disk may be used as memory"

    def domain(self, machine: Machine) -> Domain:
        """Return directories, or the kernel's swap."""
        return _PATHS

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the preload, and the variables of the backing store."""
        if DRAM not in config:
            return Refused(f"{TIER} needs a DRAM budget", f"Add {DRAM}=SIZE.")
        path = machine.libraries.get(LIBRARY)
        if path is None:
            return Refused(
                "this installation of assay has no pager",
                "Install liburing-dev and libxxhash-dev, then reinstall assay.",
            )
        if not is_preloadable(path):
            return unpreloadable(path, "Install assay in another directory.")
        if config[self.name] == SWAP and not _has_swap(machine):
            return Refused(
                "no swap area is in use, so nothing can be paged out",
                "Enable one as root: swapon FILE.",
            )
        return Resolved(
            (
                # Another allocator follows it, for small allocations.
                Preload(path=path, place_first=True),
                *_storage_variables(str(config[self.name])),
            )
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the pager was mapped."""
        return _judge(config[self.name], facts)


class TierPlacement(BaseSetting, frozen=True):
    """``mem.numa``: NUMA nodes of the DRAM budget."""

    name: str = NUMA
    summary: str = "NUMA nodes of mem.dram: follow (threads), local, interleave (with mem.tier)"
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "it needs mem.tier, which only the user can request"

    def domain(self, machine: Machine) -> Domain:
        """Return the policies of the pager (native/tier/numa/placement.hpp)."""
        return _PLACES

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the policy as a variable."""
        value = config[self.name]
        if value not in _PLACES:
            return out_of_domain(self.name, value, _PLACES)
        if TIER not in config:
            return Refused(
                f"{NUMA} needs a DRAM budget backed by storage",
                f"Add {TIER}=DIR and {DRAM}=SIZE, or use {POLICY}.",
            )
        if config[TIER] == SWAP:
            return Refused(
                f"with {TIER}={SWAP} the kernel places memory",
                f"Remove {NUMA}, or use {POLICY}.",
            )
        if POLICY in config:
            return Refused(
                f"{POLICY} already selects the nodes of all memory",
                f"Remove one of them: {NUMA} applies to large allocations only, {POLICY} to all"
                " memory.",
            )
        one = sum(node.memory_bytes > 0 for node in machine.nodes) < 2
        return Resolved(
            (placement(str(value)),),
            note="all memory is on one node" if one else None,
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the pager was mapped."""
        return _judge(config[self.name], facts, Level.SET)


def excess_reason(memory_bytes: int) -> str:
    """Return the reason for refusing a DRAM budget above the memory of the machine."""
    return f"more than the {show_bytes(memory_bytes)} of memory on this machine"


def budget(dram_bytes: int) -> EnvSet:
    """Return the variable of the DRAM budget."""
    return EnvSet(name="ASSAY_TIER_DRAM", value=str(dram_bytes))


def storage(paths: str) -> tuple[EnvSet, ...]:
    """Return the variables of the pager and its directories, separated by commas."""
    return (
        EnvSet(name="ASSAY_TIER_HOW", value="pager"),
        EnvSet(name="ASSAY_TIER_PATH", value=paths),
    )


def placement(numa: str) -> EnvSet:
    """Return the variable of the NUMA policy of the DRAM budget."""
    return EnvSet(name="ASSAY_TIER_NUMA", value=numa)


def _has_swap(machine: Machine) -> bool:
    """Return whether swap is in use; true if unknown, since the library checks it too."""
    return SWAPS not in machine.system_files or bool(swap_areas(machine.system_files[SWAPS]))


def _storage_variables(value: str) -> tuple[EnvSet, ...]:
    if value == SWAP:
        return (EnvSet(name="ASSAY_TIER_HOW", value="advisor"),)
    return storage(value)


def _bytes_of(value: Value) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return parse_bytes(str(value))


def _judge(value: Value, facts: RunFacts, level: Level = Level.SEEN) -> Grant:
    found = mapped_files(facts, (f"lib{LIBRARY}",))
    if found is None:
        return unverified(value, unread_reason(facts, "maps"))
    if not found:
        return refused(value, Level.SEEN, NOT_MAPPED)
    return granted(value, level, ", ".join(found))


TIER_SETTINGS = (DramBudget(), TierStorage(), TierPlacement())
