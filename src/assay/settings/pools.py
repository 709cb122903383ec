"""Thread pools: the environment variables that size them, and who reads them.

A variable belongs in ``POOLS`` if it caps or sets how many threads share the same work, is read by
programs that people run, and leaves the meaning of the result alone. Left out on purpose:
``UV_THREADPOOL_SIZE`` (threads that wait for I/O, not CPU work), ``OMP_THREAD_LIMIT`` (breaks
nested teams), ``JAVA_TOOL_OPTIONS`` (makes Java print a line), ``MAKEFLAGS`` and
``CMAKE_BUILD_PARALLEL_LEVEL`` (how many programs run, which the user chose). oneTBB reads no
variable: its threads follow the CPUs that it may use. oneDNN has no pool of its own: it works in
that of OpenMP, oneTBB or the framework that it is built into. ``MKL_DOMAIN_NUM_THREADS`` and
``OMP_DYNAMIC`` would say otherwise than a count does; ``threads.mkl.dynamic`` is by itself.
"""

from __future__ import annotations

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
    "NUMEXPR_MAX_THREADS": "numexpr: the size of its pool, which bounds the former",
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
    "XZ_DEFAULTS": "xz without -T: likewise, and memory grows with the threads",
}
"""Variable -> who reads it, in the order in which they are set."""

_FORMS: dict[str, str] = {"XZ_DEFAULTS": "--threads={}"}
"""How a count is written where it does not stand alone."""


def pool_size_text(variable: str, count: str) -> str:
    """The text that makes ``variable`` ask for ``count`` threads."""
    return _FORMS.get(variable, "{}").format(count)


NO_OPENMP_REASON = "the program links no OpenMP runtime"
"""Why a setting of OpenMP does not matter."""

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
"""Programs that are known by their name to read one of ``POOLS``."""
