"""Thread pools: environment variables that size them, and their readers.

A variable belongs in ``POOLS`` if it limits or sets the number of threads that share the same work,
is read by common programs, and does not change results. Excluded: ``UV_THREADPOOL_SIZE`` (threads
that wait for I/O, not CPU work), ``OMP_THREAD_LIMIT`` (breaks nested teams), ``JAVA_TOOL_OPTIONS``
(makes Java print a line), ``MAKEFLAGS`` and ``CMAKE_BUILD_PARALLEL_LEVEL`` (number of programs,
chosen by the user). oneTBB reads no variable: it uses all usable CPUs. oneDNN has no separate pool:
it works in the pool of OpenMP, oneTBB or its framework. ``MKL_DOMAIN_NUM_THREADS`` and
``OMP_DYNAMIC`` would contradict a count; ``threads.mkl.dynamic`` is a separate setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.machine.document import Program

OPENMP = "OMP_NUM_THREADS"

BLAS: tuple[str, ...] = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")

MKL: tuple[str, ...] = ("MKL_NUM_THREADS",)

NUMEXPR: tuple[str, ...] = ("NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS")

POOLS: dict[str, str] = {
    OPENMP: "OpenMP runtimes (libgomp, libomp, libiomp5), Arrow",
    "OPENBLAS_NUM_THREADS": "OpenBLAS",
    "MKL_NUM_THREADS": "oneMKL",
    "BLIS_NUM_THREADS": "BLIS, AOCL",
    "NUMEXPR_NUM_THREADS": "numexpr",
    "NUMEXPR_MAX_THREADS": "numexpr: size of its pool, the upper bound of NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS": "Numba",
    "RAYON_NUM_THREADS": "Rust programs with Rayon",
    "TOKIO_WORKER_THREADS": "Rust programs with Tokio",
    "POLARS_MAX_THREADS": "Polars",
    "GOMAXPROCS": "Go programs",
    "JULIA_NUM_THREADS": "Julia",
    "LOKY_MAX_CPU_COUNT": "joblib, scikit-learn: upper bound of worker processes and threads",
    "PYTHON_CPU_COUNT": "Python 3.13 and later: os.cpu_count, and pools sized by it",
    "DOTNET_PROCESSOR_COUNT": ".NET: thread pool and garbage collector",
    "TF_NUM_INTRAOP_THREADS": "TensorFlow: threads within one operation",
    "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "ITK, ANTs",
    "ZSTD_NBTHREADS": "zstd without -T: compressed bytes differ, their content does not",
    "XZ_DEFAULTS": "xz without -T: compressed bytes differ, and memory grows with the threads",
}
"""Variable -> reader, in the order in which they are set."""

_FORMS: dict[str, str] = {"XZ_DEFAULTS": "--threads={}"}
"""Formats of counts with additional text."""


def pool_size_text(variable: str, count: str) -> str:
    """Return the value that makes ``variable`` request ``count`` threads."""
    return _FORMS.get(variable, "{}").format(count)


NO_OPENMP_REASON = "the program links no OpenMP runtime"
"""Reason for not suggesting a setting of OpenMP."""

OPENMP_RUNTIMES: dict[str, str] = {
    "gomp": "GNU OpenMP",
    "iomp": "Intel OpenMP",
    "llvm-omp": "LLVM OpenMP",
}
BLAS_RUNTIMES: dict[str, str] = {"openblas": "OpenBLAS", "mkl": "oneMKL", "blis": "BLIS"}
OTHER_RUNTIMES: dict[str, str] = {
    "onednn": "oneDNN",
    "rayon": "Rayon",
    "go": "the Go runtime",
    "zstd": "zstd's workers",
    "xz": "xz's workers",
}

PACKAGES: dict[str, str] = {
    "numexpr": "numexpr",
    "numba": "Numba",
    "polars": "Polars",
    "joblib": "joblib",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "sklearn": "scikit-learn",
    "pyarrow": "Arrow",
}
"""Python packages with a pool that one of ``POOLS`` sizes."""

COMMANDS: dict[str, str] = {
    "julia": "Julia reads JULIA_NUM_THREADS",
    "dotnet": ".NET reads DOTNET_PROCESSOR_COUNT",
}
"""Programs that read one of ``POOLS``, by name."""


def linked_runtimes(
    program: Program, known: Mapping[str, str] = MappingProxyType(OPENMP_RUNTIMES)
) -> list[str]:
    """Return the common names of the known runtimes that a program links.

    Args:
        program: the program.
        known: common names by identifier; by default those of OpenMP.
    """
    return [text for name, text in known.items() if name in program.runtimes]
