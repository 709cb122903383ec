"""Requests of ``assay tier``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.codec import Record
from assay.requests.checks import demand_positive
from assay.requests.run import RunRequest


class TierDoctorRequest(Record, frozen=True, kw_only=True):
    """Check whether storage can extend memory on this machine.

    Attributes:
        path: directories of the backing store, separated by commas (default: none).
    """

    path: str = ""


class TierRunRequest(Record, frozen=True, kw_only=True):
    """Launch of a command whose large allocations exceed its DRAM.

    Attributes:
        run: launch of the command, without the settings of the tier.
        dram: size of the DRAM for large allocations, as a value of ``mem.dram``.
        path: directories of the backing store, separated by commas (default: ``None``, which
            requires the advisor).
        how: ``pager``, ``advisor``, or ``auto`` for the pager if it is available (default:
            ``auto``).
        numa: NUMA nodes of the DRAM: ``follow``, ``local`` or ``interleave`` (default: ``follow``).
        keep_free: space to keep free on each file system of ``path``, as text (default: 5 %, at
            most 1G).
        trace: directory that memory accesses are recorded to (default: none).
        replay: directory of a recorded trace that guides prefetching (default: none).
    """

    run: RunRequest
    dram: str
    path: str | None = None
    how: str = "auto"
    numa: str | None = None
    keep_free: str | None = None
    trace: str | None = None
    replay: str | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the size of the DRAM is missing.
        """
        if not self.dram:
            raise InvalidInputError("dram is empty.", "Give the size of the DRAM, as in 8G.")


class TierTopRequest(Record, frozen=True, kw_only=True):
    """Display of the memory traffic of programs that run with a tier.

    Attributes:
        interval_s: refresh interval, in seconds (default: 1).
    """

    interval_s: float = 1.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the interval is not above zero.
        """
        demand_positive("interval_s", self.interval_s)


class TierPredictRequest(Record, frozen=True, kw_only=True):
    """Prediction of the efficiency of a command from a short sample.

    Attributes:
        argv: words of the command.
        path: directories of the backing store, separated by commas.
        dram_bytes: size of the DRAM for large allocations, in bytes.
        numa: NUMA nodes of the DRAM: ``follow``, ``local`` or ``interleave`` (default: ``follow``).
        duration_s: length of the sample, in seconds (default: 30).
    """

    argv: tuple[str, ...]
    path: str
    dram_bytes: int
    numa: str | None = None
    duration_s: float = 30.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the command is missing, or a number is not above zero.
        """
        if not self.argv:
            raise InvalidInputError("argv is empty.", "Give the words of the command.")
        demand_positive("dram_bytes", self.dram_bytes)
        demand_positive("duration_s", self.duration_s)


class TierBenchRequest(Record, frozen=True, kw_only=True):
    """Benchmark of the efficiency of a tier against memory alone.

    Attributes:
        path: directories of the backing store, separated by commas.
        dram_bytes: size of the DRAM for large allocations, in bytes.
        works: parts of the names of the programs to run (default: all programs).
        data: sizes of the data, as multiples of the DRAM (default: those that fit into memory).
        threads: numbers of threads (default: one for each CPU).
        budget_s: time to spend, in seconds (default: 600).
    """

    path: str
    dram_bytes: int
    works: tuple[str, ...] = ()
    data: tuple[float, ...] = ()
    threads: tuple[int, ...] = ()
    budget_s: float = 600.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a number is not above zero.
        """
        demand_positive("dram_bytes", self.dram_bytes)
        demand_positive("budget_s", self.budget_s)
