"""Options of allocators: shared ones (``malloc.NAME``), and those of a single allocator.

Sources: glibc manual, "Memory Allocation Tunables"; jemalloc(3), "TUNING" (5.3); mimalloc,
"Environment Options" (2.0 to 2.2, ``src/options.c``); gperftools, "TCMalloc", its environment.
glibc silently applies the bounds of ``malloc/malloc.c`` (2.36): ``HEAP_MAX_SIZE / 2`` for the mmap
threshold, ``MAX_TCACHE_SIZE``, ``MAX_TCACHE_COUNT``, ``MAX_FAST_SIZE``.
"""

from __future__ import annotations

from assay.machine.document import Machine
from assay.records import Choices, Configuration, Grant, GrantStatus, Level, Plan, Range, RunFacts
from assay.settings.base import Refused, Resolved
from assay.settings.evidence import granted, readback_of
from assay.settings.malloc.encodings import AllocatorOption, OptionEncoding
from assay.settings.thp import SWITCH
from assay.units import show_bytes

_MAX_BYTES = 2**40
_MAX_MS = 10**10
"""Four months: practically never. The IPEX launcher uses 9000000000, which is below it."""
_SWITCHED = Choices(("on", "off"))
_TRUTH = {"on": "true", "off": "false"}


def _glibc(text: str) -> tuple[tuple[str, str], ...]:
    return (("GLIBC_TUNABLES", text),)


def _jemalloc(text: str) -> tuple[tuple[str, str], ...]:
    return (("MALLOC_CONF", text),)


class HugePagesOption(AllocatorOption, frozen=True):
    """``malloc.hugepages``: refused if the system disables huge pages.

    Huge pages in the process make the evidence *effective*.
    """

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the variables, or a refusal if the system's mode excludes huge pages."""
        answer = super().resolve(config, machine)
        value = config[self.name]
        if isinstance(answer, Refused) or value == "off":
            return answer
        if value == "hugetlb":
            return Resolved(
                answer.actions,
                degraded="limited to the reserved pages: /proc/sys/vm/nr_hugepages",
            )
        mode = machine.huge_pages.enabled
        if mode is None:
            return Refused("the kernel has no transparent huge pages")
        if mode == "never":
            return Refused(
                "transparent huge pages are disabled system-wide",
                f"As root: echo madvise > {SWITCH}.",
            )
        return answer

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the environment; *effective* if the process has huge pages."""
        held = super().judge(config, facts, plan)
        huge = readback_of(facts).anon_huge_bytes
        if held.status is not GrantStatus.GRANTED or held.value != "thp" or not huge:
            return held
        return granted(held.value, Level.EFFECTIVE, f"{show_bytes(huge)} in huge pages")


_SHARED: tuple[AllocatorOption, ...] = (
    AllocatorOption(
        "malloc.arenas",
        "number of arenas that threads share: glibc, jemalloc",
        Range(1, 4096),
        {
            "glibc": OptionEncoding(_glibc("glibc.malloc.arena_max={}")),
            "jemalloc": OptionEncoding(_jemalloc("narenas:{}")),
        },
    ),
    HugePagesOption(
        "malloc.hugepages",
        "huge pages that the allocator requests: glibc, jemalloc, mimalloc",
        Choices(("off", "thp", "metadata", "hugetlb")),
        {
            "glibc": OptionEncoding(
                _glibc("glibc.malloc.hugetlb={}"), {"off": "0", "thp": "1", "hugetlb": "2"}
            ),
            "jemalloc": OptionEncoding(
                _jemalloc("{}"),
                {
                    "off": "thp:never,metadata_thp:disabled",
                    "thp": "thp:always",
                    "metadata": "metadata_thp:auto",
                },
            ),
            # Version 2.1 renamed the option; each version ignores the other name.
            "mimalloc": OptionEncoding(
                (("MIMALLOC_LARGE_OS_PAGES", "{}"), ("MIMALLOC_ALLOW_LARGE_OS_PAGES", "{}")),
                {"off": "0", "thp": "1"},
            ),
        },
    ),
    AllocatorOption(
        "malloc.decay_ms",
        "time that freed pages are kept, in milliseconds: jemalloc, mimalloc",
        Range(0, _MAX_MS),
        {
            "jemalloc": OptionEncoding(_jemalloc("dirty_decay_ms:{0},muzzy_decay_ms:{0}")),
            # Renamed in version 2.1, as above.
            "mimalloc": OptionEncoding(
                (("MIMALLOC_DECOMMIT_DELAY", "{}"), ("MIMALLOC_PURGE_DELAY", "{}"))
            ),
        },
    ),
    AllocatorOption(
        "malloc.background",
        "background threads that return pages to the kernel: jemalloc",
        _SWITCHED,
        {"jemalloc": OptionEncoding(_jemalloc("background_thread:{}"), _TRUTH)},
    ),
    AllocatorOption(
        "malloc.tcache",
        "cache of freed blocks in each thread: glibc, jemalloc",
        _SWITCHED,
        {
            # 7 is TCACHE_FILL_COUNT, the default of glibc.
            "glibc": OptionEncoding(
                _glibc("glibc.malloc.tcache_count={}"), {"on": "7", "off": "0"}
            ),
            "jemalloc": OptionEncoding(_jemalloc("tcache:{}"), _TRUTH),
        },
    ),
)


def _of_glibc(name: str, summary: str, low: int, high: int) -> AllocatorOption:
    encoding = OptionEncoding(_glibc(f"glibc.malloc.{name}={{}}"))
    return AllocatorOption(f"glibc.{name}", summary, Range(low, high), {"glibc": encoding})


_OF_GLIBC: tuple[AllocatorOption, ...] = (
    _of_glibc("trim_threshold", "free bytes kept at the top of the heap", 0, _MAX_BYTES),
    _of_glibc("mmap_threshold", "block size in bytes above which malloc uses mmap", 0, 32 * 2**20),
    _of_glibc("mmap_max", "maximum number of blocks allocated with mmap; 0: none", 0, 2**31 - 1),
    _of_glibc("top_pad", "extra bytes by which the heap grows", 0, _MAX_BYTES),
    _of_glibc("tcache_count", "blocks of one size in the cache of a thread", 0, 65535),
    _of_glibc("tcache_max", "largest block in the cache of a thread, in bytes", 0, 1032),
    _of_glibc("mxfast", "largest block in fast bins, in bytes; 0: none", 0, 160),
)

_OTHER_ALLOCATORS: tuple[AllocatorOption, ...] = (
    AllocatorOption(
        "jemalloc.oversize_threshold",
        "block size in bytes above which blocks get a separate arena; 0: never",
        Range(0, _MAX_BYTES),
        {"jemalloc": OptionEncoding(_jemalloc("oversize_threshold:{}"))},
    ),
    AllocatorOption(
        "jemalloc.percpu_arena",
        "one arena for each CPU or core instead of arenas shared by all threads",
        Choices(("disabled", "percpu", "phycpu")),
        {"jemalloc": OptionEncoding(_jemalloc("percpu_arena:{}"))},
    ),
    AllocatorOption(
        "tcmalloc.release_rate",
        "rate at which pages are returned to the kernel: 0 never, 10 fastest",
        Range(0, 10, step=1),
        {"tcmalloc": OptionEncoding((("TCMALLOC_RELEASE_RATE", "{}"),))},
    ),
    AllocatorOption(
        "tcmalloc.thread_cache",
        "maximum size of all thread caches together, in bytes",
        # kMinThreadCacheSize * 2 and 1 GiB (src/thread_cache.cc): other values are clamped to
        # these.
        Range(512 * 2**10, 2**30),
        {"tcmalloc": OptionEncoding((("TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "{}"),))},
    ),
)

OPTIONS: tuple[AllocatorOption, ...] = (*_SHARED, *_OF_GLIBC, *_OTHER_ALLOCATORS)
"""All options, in the order in which they are listed."""
