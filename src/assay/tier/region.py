"""Regions: memory larger than DRAM for programs that ask for it, NumPy arrays among them.

    with Tier("/mnt/nvme", dram="4G") as tier:
        field = tier.region("64G").array("f4", (4096, 4096, 1024))

Memory of a region is zero at first. It belongs to the process that took it: a child of a fork that
touches it ends by SIGSEGV, rather than finding zeros.
"""

from __future__ import annotations

import ctypes
import operator
import os
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.native_programs import native_folder
from assay.tier.rows import HasArrayInterface, Rows, rows_of
from assay.units import parse_bytes, show_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_ROOM = 1024
"""Bytes for what the library says of a failure."""


Order = Literal["unknown", "sequential", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)
"""As ``tier.h`` numbers them."""


class Counts(msgspec.Struct, frozen=True):
    """What became of touches of chunks that were not mapped, and what was transferred.

    Attributes:
        first: of what was never written, which is zeros.
        demand: a thread waited for a transfer from its beginning on.
        late: it was on its way already.
        staged: it had been brought before.
        again: it had only been unmapped, and was there still.
        wasted: brought, and given up without a touch.
        unchanged: taken away without being written, for storage had it already.
        read_bytes, written_bytes: from and to storage.
        stall_ns: that chunks were waited for, altogether.
    """

    first: int
    demand: int
    late: int
    staged: int
    again: int
    wasted: int
    unchanged: int
    read_bytes: int
    written_bytes: int
    stall_ns: int


class Tier:
    """DRAM and storage that regions share.

    Args:
        path: a directory on a disk, or several.
        dram: bytes, or a size as ``"4G"``: what all regions together have of DRAM.
        chunk: what is brought and taken away at once; less than 2 MiB for small pieces far apart.
        env: names another library beside another launcher (ASSAY_EXEC).

    Raises:
        InvalidInputError: a size that is none.
        NotPossibleError: this machine, these rights or that path do not allow it.
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
                "A path of a tier holds a comma.", "Name a directory without one."
            )
        self._library = _library(env)
        problem = ctypes.create_string_buffer(_ROOM)
        self._tier = self._library.assay_tier_open(
            ",".join(words).encode(), _bytes(dram), _bytes(chunk), problem, _ROOM
        )
        if not self._tier:
            cause, _, step = problem.value.decode(errors="replace").rpartition(": ")
            raise NotPossibleError(
                f"There is no tier: {cause or step}.",
                f"{step[:1].upper()}{step[1:]}." if cause else "`assay tier doctor` says more.",
            )
        self._lent = 0
        self._over = False
        self._owner = os.getpid()

    def region(self, size: int | str) -> Region:
        """Memory of so many bytes, all zero.

        Raises:
            InvalidInputError: a size that is none.
            NotPossibleError: the paths have no room for it, or addresses are used up.
        """
        bytes_ = _bytes(size)
        if self._over:
            raise _closed()
        at = self._library.assay_tier_allocate(self._handle(), bytes_)
        if not at:
            why = os.strerror(ctypes.get_errno())
            raise NotPossibleError(
                f"A region of {show_bytes(bytes_)} cannot be had: {why}.",
                "Free space on the paths of the tier, or ask for less.",
            )
        self._lent += 1
        return Region(self, int(at), bytes_)

    def give_back(self, at: int) -> None:
        """A region's memory, which nothing refers to any more."""
        self._library.assay_tier_free(self._tier, at)
        self._lent -= 1
        if self._over and self._lent == 0:
            self.close()

    def expect(self, at: int, size: int) -> None:
        """So many bytes from an address on will be touched soon."""
        self._library.assay_tier_expect(self._handle(), at, size)

    def expect_rows(self, rows: Rows) -> None:
        """Rows of a tile will be touched soon."""
        self._library.assay_tier_expect_rows(self._handle(), *rows)

    def order(self, at: int, size: int, order: Order) -> None:
        """So many bytes from an address on will be gone through in that order."""
        self._library.assay_tier_order(self._handle(), at, size, ORDERS.index(order))

    def done(self, at: int, size: int) -> None:
        """So many bytes from an address on keep their content, and will not be touched soon."""
        self._library.assay_tier_done(self._handle(), at, size)

    def discard(self, at: int, size: int) -> None:
        """So many bytes from an address on are not needed any more, and zero from now on."""
        self._library.assay_tier_discard(self._handle(), at, size)

    @property
    def counts(self) -> Counts:
        """Of all its regions, those that are gone too."""
        found = (ctypes.c_uint64 * len(Counts.__struct_fields__))()
        self._library.assay_tier_count(self._handle(), found)
        return Counts(*found)

    def close(self) -> None:
        """Give all memory back.

        Raises:
            NotPossibleError: an array or a view of a region is in use.
        """
        if not self._tier:
            return
        if self._lent > 0:
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
        # What still uses it goes on, and closes it at last; a second error would hide the first.
        self._over = True
        if self._lent == 0:
            self.close()

    def _handle(self) -> int:
        if not self._tier:
            raise _closed()
        if os.getpid() != self._owner:
            raise NotPossibleError(
                "A child of a fork has none of its parent's tier.",
                "Open one there, or begin processes by spawn.",
            )
        return int(self._tier)


class Region:
    """Bytes of a tier; they are given back when nothing refers to them any more."""

    def __init__(self, tier: Tier, at: int, size: int) -> None:
        self._tier = tier
        self.nbytes = size
        self.buffer = (ctypes.c_ubyte * size).from_address(at)
        """Serves the buffer protocol; views of it keep it."""
        # The tier lives as long as what it lent; at exit all goes with the process.
        weakref.finalize(self.buffer, tier.give_back, at).atexit = False

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.buffer)

    def array(self, dtype: npt.DTypeLike, shape: int | tuple[int, ...] = -1) -> npt.NDArray[Any]:
        """As a NumPy array, of the first bytes; it keeps the memory as long as it is used.

        Raises:
            InvalidInputError: it does not fit.
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
                f"An array of {count} times {kind} does not fit into {show_bytes(self.nbytes)}.",
                f"Take a region of {count * kind.itemsize} bytes.",
            )
        return np.frombuffer(memoryview(self.buffer), dtype=kind, count=count).reshape(shape)

    def expect(self, first: int = 0, last: int | None = None) -> None:
        """Bytes ``first`` to ``last`` will be touched soon."""
        self._tier.expect(*self._within(first, last))

    def expect_view(self, view: HasArrayInterface) -> None:
        """What a view of an array holds will be touched soon: a tile, a column, every tenth row.

        A program that says so before it works on the tile before has its next one read meanwhile.

        Raises:
            InvalidInputError: it is not of this region, or no array.
        """
        base = ctypes.addressof(self.buffer)
        for rows in rows_of(view, base, base + self.nbytes):
            self._tier.expect_rows(rows)

    def order(self, order: Order) -> None:
        """All of it will be gone through in that order from now on.

        Args:
            order: upwards ("sequential"): it is read ahead from the first touch on; anywhere
                ("random"): a little is read at a time, and nothing ahead; or "unknown": it shows
                in the touches.

        Raises:
            InvalidInputError: none of these.
        """
        if order not in ORDERS:
            raise InvalidInputError(
                f"{order!r} is no order of touches.", f"Take {', '.join(ORDERS)}."
            )
        self._tier.order(*self._within(0, None), order)

    def done(self, first: int = 0, last: int | None = None) -> None:
        """Bytes ``first`` to ``last`` will not be touched soon: their DRAM is for others.

        Only whole chunks give it up. What was written goes to storage.
        """
        self._tier.done(*self._within(first, last))

    def discard(self, first: int = 0, last: int | None = None) -> None:
        """Bytes ``first`` to ``last`` are not needed any more, and zero from now on."""
        self._tier.discard(*self._within(first, last))

    def _within(self, first: int, last: int | None) -> tuple[int, int]:
        """Address and number of bytes."""
        first = operator.index(first)
        end = self.nbytes if last is None else operator.index(last)
        if not 0 <= first <= end <= self.nbytes:
            raise InvalidInputError(
                f"Bytes {first} to {end} are not within {self.nbytes}.", "Give positions within."
            )
        return ctypes.addressof(self.buffer) + first, end - first


def _closed() -> NotPossibleError:
    return NotPossibleError("This tier is closed.", "Open another.")


def _bytes(size: int | str) -> int:
    bytes_ = parse_bytes(size) if isinstance(size, str) else operator.index(size)
    if bytes_ < 1:
        raise InvalidInputError(f"Memory of {bytes_} bytes is none.", "Give one byte or more.")
    return bytes_


def _library(env: Mapping[str, str]) -> ctypes.CDLL:
    path = native_folder(env) / "libassay-region.so"
    if not path.exists():
        raise NotPossibleError(
            "This assay was built without its pager.",
            "Install liburing-dev and libxxhash-dev, and assay again.",
        )
    library = ctypes.CDLL(str(path), use_errno=True)
    number, address = ctypes.c_uint64, ctypes.c_void_p
    library.assay_tier_open.restype = address
    library.assay_tier_open.argtypes = [ctypes.c_char_p, number, number, ctypes.c_char_p, number]
    library.assay_tier_close.argtypes = [address]
    library.assay_tier_allocate.restype = address
    library.assay_tier_allocate.argtypes = [address, number]
    library.assay_tier_free.argtypes = [address, address]
    library.assay_tier_expect.argtypes = [address, address, number]
    library.assay_tier_expect_rows.argtypes = [address, address, number, number, number]
    library.assay_tier_order.argtypes = [address, address, number, ctypes.c_int]
    library.assay_tier_done.argtypes = [address, address, number]
    library.assay_tier_discard.argtypes = [address, address, number]
    library.assay_tier_count.argtypes = [address, address]
    return library
