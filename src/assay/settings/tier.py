"""``mem.dram``, ``mem.tier``, ``mem.numa``: large memory in so much DRAM, storage behind it.

Interface: ``libassay-tier.so`` is put in front of the C library (``LD_PRELOAD``) and told by its
environment how much memory it has and where the rest goes
(native/tier/preload/environment.cpp). It answers page faults with userfaultfd(2), and moves pages
with ``UFFDIO_MOVE`` (Linux 6.8); with the kernel's swap behind it, it only advises (madvise(2)).
Evidence: *seen* in the maps of the run; a program that cannot have it ends before its first
instruction, aloud. From which NUMA nodes the DRAM comes (``mem.numa``) is *set*: where the pages
are is not looked at.
"""

from __future__ import annotations

import msgspec

from assay.errors import InvalidInputError
from assay.machine.document import Machine, Program
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
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import granted, mapped_files, refused, unread_reason, unverified
from assay.settings.refusals import is_preloadable, out_of_domain
from assay.units import parse_bytes, show_bytes

DRAM, TIER, NUMA = "mem.dram", "mem.tier", "mem.numa"
POLICY = "mem.policy"
SWAP = "swap"
"""In place of directories: what the kernel has, with advice."""
LIBRARY = "assay-tier"
"""Name of the pager's library among those of a machine."""

CHUNK_BYTES = 2 << 20
"""Default chunk size (``PagerConfig::chunk_bytes`` in native/tier/pager/pager_config.hpp)."""
MIN_DRAM_BYTES = 8 * CHUNK_BYTES
"""DRAM at least: no instruction touches as many chunks at once (``ChunkCache::min_chunks`` in
native/tier/memory/chunk_cache.hpp)."""
TOO_LITTLE_DRAM_REMEDY = f"Give at least {MIN_DRAM_BYTES >> 20}M: eight chunks of 2 MiB."
"""Remedy where it is less."""
TOO_MUCH_DRAM_REMEDY = "Give what the program may really have, beside all else that runs."
"""Remedy where it is more than there is."""
_SIZES = AnyText("a size as 8G")
_PATHS = AnyText("a directory on a disk, or several with commas between them, or swap")
_PLACES = Choices(("follow", "local", "interleave"))


class DramBudget(msgspec.Struct, frozen=True):
    """``mem.dram``: how much DRAM the large allocations of a program share."""

    name: str = DRAM
    summary: str = "DRAM for large allocations, with storage behind it (with mem.tier)"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """Sizes."""
        return _SIZES

    def default(self, machine: Machine) -> Value | None:
        """None: all that there is."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return "only the user knows how much memory a program is to have"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The budget, in the environment.

        Raises:
            InvalidInputError: no size, or less than the pager can work with.
        """
        if TIER not in config:
            return Refused(
                f"{DRAM} needs storage for what does not fit", f"Add {TIER}=DIR, on a disk."
            )
        bytes_ = _bytes_of(config[self.name])
        if bytes_ < MIN_DRAM_BYTES:
            raise InvalidInputError(
                f"{DRAM}={config[self.name]} is too little.", TOO_LITTLE_DRAM_REMEDY
            )
        most = machine.memory_limit_bytes or machine.memory_bytes
        if 0 < most < bytes_:
            return Refused(f"it is {excess_reason(most)}", TOO_MUCH_DRAM_REMEDY)
        return Resolved((budget(bytes_),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether the pager was there."""
        return _judge(config[self.name], facts)


class TierStorage(msgspec.Struct, frozen=True):
    """``mem.tier``: where memory goes that does not fit into ``mem.dram``."""

    name: str = TIER
    summary: str = "directories on disks behind large allocations, or swap (with mem.dram)"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """Directories, or the kernel's own storage."""
        return _PATHS

    def default(self, machine: Machine) -> Value | None:
        """None: memory is memory."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return "only the user knows which disk may be used as memory"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The library, and where it may put what it takes out of memory."""
        if DRAM not in config:
            return Refused(
                f"{TIER} needs to know how much memory it stands behind", f"Add {DRAM}=SIZE."
            )
        path = machine.libraries.get(LIBRARY)
        if path is None:
            return Refused(
                "this assay was built without its pager",
                "Install liburing-dev and libxxhash-dev, and assay again.",
            )
        if not is_preloadable(path):
            return Refused(
                f"{path!r} cannot be preloaded: its path holds a space or a colon",
                "Install assay elsewhere.",
            )
        if config[self.name] == SWAP and not _has_swap(machine):
            return Refused(
                "no swap is in use, so nothing can be paged out",
                "Take one into use: swapon FILE, as root.",
            )
        return Resolved(
            (
                # Another allocator is behind it, for all that is not large.
                Preload(path=path, first=True),
                *_place(str(config[self.name])),
            )
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether the pager was there."""
        return _judge(config[self.name], facts)


class TierPlacement(msgspec.Struct, frozen=True):
    """``mem.numa``: the NUMA nodes that the DRAM of ``mem.dram`` comes from."""

    name: str = NUMA
    summary: str = "NUMA nodes of the DRAM: follow threads, local, interleave (with mem.tier)"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Words of the pager (native/tier/numa/placement.hpp)."""
        return _PLACES

    def default(self, machine: Machine) -> Value | None:
        """None: threads are followed, where there is a tier at all."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked, as the tier itself."""
        return "it is of use only with mem.tier, which only the user can ask for"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A word in the environment."""
        value = config[self.name]
        if value not in _PLACES:
            return out_of_domain(self.name, value, _PLACES)
        if TIER not in config:
            return Refused(
                f"{NUMA} places the DRAM that storage stands behind, and there is none",
                f"Add {TIER}=DIR and {DRAM}=SIZE, or take {POLICY}.",
            )
        if config[TIER] == SWAP:
            return Refused(
                f"with {TIER}={SWAP} memory is the kernel's to place",
                f"Leave {NUMA} out, or take {POLICY}.",
            )
        if POLICY in config:
            return Refused(
                f"{POLICY} says already which nodes memory comes from, and decides",
                f"Leave one of them out: {NUMA} is of large memory alone, {POLICY} of all.",
            )
        one = sum(node.memory_bytes > 0 for node in machine.nodes) < 2
        return Resolved(
            (placement(str(value)),),
            note="all memory is on one node" if one else None,
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether the pager was there to be told."""
        return _judge(config[self.name], facts, Level.SET)


def excess_reason(memory_bytes: int) -> str:
    """What is wrong with more DRAM than that."""
    return f"more than the {show_bytes(memory_bytes)} of memory that there are"


def budget(dram_bytes: int) -> EnvSet:
    """How much DRAM the library divides."""
    return EnvSet(name="ASSAY_TIER_DRAM", value=str(dram_bytes))


def storage(paths: str) -> tuple[EnvSet, ...]:
    """The pager, and its directories, with commas between them."""
    return (
        EnvSet(name="ASSAY_TIER_HOW", value="pager"),
        EnvSet(name="ASSAY_TIER_PATH", value=paths),
    )


def placement(numa: str) -> EnvSet:
    """From which NUMA nodes the DRAM comes: a word of the pager."""
    return EnvSet(name="ASSAY_TIER_NUMA", value=numa)


def _has_swap(machine: Machine) -> bool:
    """Where nobody knows, the library finds out."""
    return SWAPS not in machine.system or bool(swap_areas(machine.system[SWAPS]))


def _place(value: str) -> tuple[EnvSet, ...]:
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
        return refused(
            value,
            Level.SEEN,
            "not mapped: the program is static, or runs with raised rights, or drops it",
        )
    return granted(value, level, ", ".join(found))


TIER_SETTINGS = (DramBudget(), TierStorage(), TierPlacement())
