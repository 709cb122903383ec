"""Memory regions larger than DRAM, as NumPy arrays or buffers.

    with Tier("/mnt/nvme", dram="4G") as tier:
        field = tier.region("64G").array("f4", (4096, 4096, 1024))

Memory of a region is initially zero. It belongs to the process that allocated it: a child process
that accesses it after a fork is terminated by SIGSEGV, instead of reading zeros.
"""

from __future__ import annotations

import ctypes
import operator
import os
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from assay.errors import InvalidInputError, NotPossibleError
from assay.native_programs import native_folder
from assay.tier.counts import Counts, counts_by_name
from assay.tier.rows import HasArrayInterface, Rows, rows_of
from assay.units import parse_bytes, show_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_MAX_MESSAGE_BYTES = 1024
"""Size of the buffer for an error message of the library, in bytes."""


AccessPattern = Literal["unknown", "sequential", "random"]
ACCESS_PATTERNS: tuple[AccessPattern, ...] = get_args(AccessPattern)
"""In the order of ``assay_tier_pattern`` in ``tier.h``."""


class Tier:
    """DRAM and backing store that a group of regions shares.

    Args:
        path: one directory on a disk, or several.
        dram: DRAM of all regions together: a number of bytes, or a size such as ``"4G"``.
        chunk: unit of fetch and eviction; below 2 MiB for small objects that lie far apart.
        env: environment that may name another launcher (ASSAY_EXEC) with its own library.

    Raises:
        InvalidInputError: invalid size.
        NotPossibleError: not supported by this machine, these rights or that path.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        dram: int | str,
        chunk: int | str = "2M",
        env: Mapping[str, str] = os.environ,
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else list(path)
        words = [os.fspath(one) for one in paths]
        if any("," in word for word in words):
            raise InvalidInputError(
                "A path of the backing store contains a comma.",
                "Specify a directory without a comma.",
            )
        self._library = _library(env)
        problem = ctypes.create_string_buffer(_MAX_MESSAGE_BYTES)
        self._tier = self._library.assay_tier_open(
            ",".join(words).encode(), _bytes(dram), _bytes(chunk), problem, _MAX_MESSAGE_BYTES
        )
        if not self._tier:
            cause, _, step = problem.value.decode(errors="replace").rpartition(": ")
            raise NotPossibleError(
                f"The tier is not available: {cause or step}.",
                f"{step[:1].upper()}{step[1:]}." if cause else "See `assay tier doctor`.",
            )
        self._region_count = 0
        self._is_closing = False
        self._owner = os.getpid()

    def region(self, size: int | str) -> Region:
        """Allocate a region of zeros.

        Raises:
            InvalidInputError: invalid size.
            NotPossibleError: not enough free space on the paths, or no address space left.
        """
        bytes_ = _bytes(size)
        if self._is_closing:
            raise _closed()
        at = self._library.assay_tier_allocate(self._handle(), bytes_)
        if not at:
            why = os.strerror(ctypes.get_errno())
            raise NotPossibleError(
                f"Cannot allocate a region of {show_bytes(bytes_)}: {why}.",
                "Free space on the paths of the tier, or request less.",
            )
        self._region_count += 1
        return Region(self, int(at), bytes_)

    def free(self, at: int) -> None:
        """Free the memory of a region without remaining references."""
        self._library.assay_tier_free(self._tier, at)
        self._region_count -= 1
        if self._is_closing and self._region_count == 0:
            self.close()

    def prefetch(self, at: int, size: int) -> None:
        """Prefetch ``size`` bytes from an address."""
        self._library.assay_tier_prefetch(self._handle(), at, size)

    def prefetch_rows(self, rows: Rows) -> None:
        """Prefetch the rows of a tile."""
        self._library.assay_tier_prefetch_rows(self._handle(), *rows)

    def advise(self, at: int, size: int, pattern: AccessPattern) -> None:
        """Declare the access pattern of ``size`` bytes from an address."""
        self._library.assay_tier_advise(self._handle(), at, size, ACCESS_PATTERNS.index(pattern))

    def evict(self, at: int, size: int) -> None:
        """Evict ``size`` bytes from an address; their content is kept."""
        self._library.assay_tier_evict(self._handle(), at, size)

    def discard(self, at: int, size: int) -> None:
        """Discard ``size`` bytes from an address; they read as zeros afterwards."""
        self._library.assay_tier_discard(self._handle(), at, size)

    @property
    def counts(self) -> Counts:
        """Counters summed over all regions, including freed ones."""
        found = (ctypes.c_uint64 * len(Counts.__struct_fields__))()
        self._library.assay_tier_count(self._handle(), found)
        return Counts(**counts_by_name(list(found)))

    def close(self) -> None:
        """Free all memory.

        Raises:
            NotPossibleError: an array or a view of a region is in use.
        """
        if not self._tier:
            return
        if self._region_count > 0:
            raise NotPossibleError(
                "Memory of this tier is in use.", "Delete the regions, arrays and views first."
            )
        self._library.assay_tier_close(self._tier)
        self._tier = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The last remaining view closes the tier; a second error would hide the first.
        self._is_closing = True
        if self._region_count == 0:
            self.close()

    def _handle(self) -> int:
        if not self._tier:
            raise _closed()
        if os.getpid() != self._owner:
            raise NotPossibleError(
                "A forked child process cannot use the tier of its parent.",
                "Open a tier in the child, or start processes by spawn.",
            )
        return int(self._tier)


class Region:
    """Memory of a tier, freed with its last reference."""

    def __init__(self, tier: Tier, at: int, size: int) -> None:
        self._tier = tier
        self.nbytes = size
        self.buffer = (ctypes.c_ubyte * size).from_address(at)
        """Provider of the buffer protocol; views keep the memory alive."""
        # The tier lives as long as its regions; at exit the kernel frees everything.
        weakref.finalize(self.buffer, tier.free, at).atexit = False

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.buffer)

    def array(self, dtype: npt.DTypeLike, shape: int | tuple[int, ...] = -1) -> npt.NDArray[Any]:
        """Return a NumPy array on the first bytes; the array keeps the memory alive.

        Raises:
            InvalidInputError: the array is larger than the region.
        """
        import numpy as np

        kind = np.dtype(dtype)
        if shape == -1:
            return np.frombuffer(
                memoryview(self.buffer), dtype=kind, count=self.nbytes // kind.itemsize
            )
        count = int(np.prod(shape, dtype=np.int64))
        if count * kind.itemsize > self.nbytes:
            raise InvalidInputError(
                f"An array of {count} {kind} values does not fit into {show_bytes(self.nbytes)}.",
                f"Allocate a region of {count * kind.itemsize} bytes.",
            )
        return np.frombuffer(memoryview(self.buffer), dtype=kind, count=count).reshape(shape)

    def prefetch(self, first: int = 0, last: int | None = None) -> None:
        """Prefetch bytes ``first`` to ``last``."""
        self._tier.prefetch(*self._within(first, last))

    def prefetch_view(self, view: HasArrayInterface) -> None:
        """Prefetch the elements of a view of an array: a tile, a column, every tenth row.

        A program that prefetches the next tile before it processes the present one overlaps reading
        and computing.

        Raises:
            InvalidInputError: not an array, or not a view of this region.
        """
        base = ctypes.addressof(self.buffer)
        for rows in rows_of(view, base, base + self.nbytes):
            self._tier.prefetch_rows(rows)

    def advise(self, pattern: AccessPattern) -> None:
        """Declare the access pattern of the region.

        Args:
            pattern: "sequential" (ascending addresses: prefetch begins with the first fault),
                "random" (small fetches, no prefetch) or "unknown" (detected from page faults).

        Raises:
            InvalidInputError: unknown access pattern.
        """
        if pattern not in ACCESS_PATTERNS:
            raise InvalidInputError(
                f"Unknown access pattern {pattern!r}.", f"Use one of {', '.join(ACCESS_PATTERNS)}."
            )
        self._tier.advise(*self._within(0, None), pattern)

    def evict(self, first: int = 0, last: int | None = None) -> None:
        """Evict bytes ``first`` to ``last``: other data use their DRAM.

        Only whole chunks are evicted. Dirty ones are written to the backing store.
        """
        self._tier.evict(*self._within(first, last))

    def discard(self, first: int = 0, last: int | None = None) -> None:
        """Discard bytes ``first`` to ``last``; they read as zeros afterwards."""
        self._tier.discard(*self._within(first, last))

    def _within(self, first: int, last: int | None) -> tuple[int, int]:
        """Return address and length of a range, in bytes."""
        first = operator.index(first)
        end = self.nbytes if last is None else operator.index(last)
        if not 0 <= first <= end <= self.nbytes:
            raise InvalidInputError(
                f"Bytes {first} to {end} exceed the region of {self.nbytes} bytes.",
                "Specify positions within the region.",
            )
        return ctypes.addressof(self.buffer) + first, end - first


def _closed() -> NotPossibleError:
    return NotPossibleError("This tier is closed.", "Open another tier.")


def _bytes(size: int | str) -> int:
    bytes_ = parse_bytes(size) if isinstance(size, str) else operator.index(size)
    if bytes_ < 1:
        raise InvalidInputError(
            f"Invalid size of memory: {bytes_} bytes.", "Specify at least one byte."
        )
    return bytes_


def _library(env: Mapping[str, str]) -> ctypes.CDLL:
    path = native_folder(env) / "libassay-region.so"
    if not path.exists():
        raise NotPossibleError(
            "This installation of assay has no pager.",
            "Install liburing-dev and libxxhash-dev, then reinstall assay.",
        )
    library = ctypes.CDLL(str(path), use_errno=True)
    number, address = ctypes.c_uint64, ctypes.c_void_p
    library.assay_tier_open.restype = address
    library.assay_tier_open.argtypes = [ctypes.c_char_p, number, number, ctypes.c_char_p, number]
    library.assay_tier_close.argtypes = [address]
    library.assay_tier_allocate.restype = address
    library.assay_tier_allocate.argtypes = [address, number]
    library.assay_tier_free.argtypes = [address, address]
    library.assay_tier_prefetch.argtypes = [address, address, number]
    library.assay_tier_prefetch_rows.argtypes = [address, address, number, number, number]
    library.assay_tier_advise.argtypes = [address, address, number, ctypes.c_int]
    library.assay_tier_evict.argtypes = [address, address, number]
    library.assay_tier_discard.argtypes = [address, address, number]
    library.assay_tier_count.argtypes = [address, address]
    return library
