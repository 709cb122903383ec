"""Runtimes inside a program, identified by file names and content.

The names are those that settings use. Thread pools: ``gomp``, ``iomp``, ``llvm-omp``, ``tbb``,
``rayon``, ``go``; linear algebra: ``openblas``, ``mkl``, ``blis``, ``onednn``; allocators:
``jemalloc``, ``tcmalloc``, ``tbbmalloc``, ``mimalloc``; compressors whose command-line tools read
options from the environment: ``xz`` (XZ_DEFAULTS), ``zstd`` (ZSTD_NBTHREADS), ``pigz`` (PIGZ).
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from pathlib import Path

_FILES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("gomp", r"/libgomp[-.\w]*\.so"),
        ("iomp", r"/libiomp5[-.\w]*\.so"),
        ("llvm-omp", r"/libk?omp\d*(?:-[0-9a-f]+)?\.so"),
        ("tbb", r"/libtbb(?:12)?(?:-[0-9a-f]+)?\.so"),
        # Debian's alternatives put a file named libblas.so.3 into a directory with the real name.
        ("openblas", r"/lib(?:scipy_)?openblas[-\w]*(?:\.[-.\w]*)?\.so|/openblas-[^/]*/lib"),
        ("mkl", r"/libmkl_[-.\w]*\.so"),
        ("blis", r"/libblis[-.\w]*\.so|/blis-[^/]*/lib"),
        # PyTorch and TensorFlow contain it in libraries of their own.
        ("onednn", r"/lib(?:dnnl|mkldnn|torch_cpu|tensorflow_cc|tensorflow_framework)[-.\w]*\.so"),
        ("jemalloc", r"/libjemalloc[-.\w]*\.so"),
        ("tcmalloc", r"/libtcmalloc[-.\w]*\.so"),
        ("tbbmalloc", r"/libtbbmalloc_proxy[-.\w]*\.so"),
        ("mimalloc", r"/libmimalloc[-.\w]*\.so"),
    )
)

_MARKS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("gomp", (b"GOMP_SPINCOUNT", b"libgomp: ")),
    ("llvm-omp", (b"KMP_BLOCKTIME", b"KMP_AFFINITY", b"OMP_WAIT_POLICY")),
    ("openblas", (b"OPENBLAS_CORETYPE", b"OPENBLAS_VERBOSE")),
    ("mkl", (b"MKL_DYNAMIC", b"MKL_ENABLE_INSTRUCTIONS")),
    ("blis", (b"BLIS_NUM_THREADS", b"BLIS_JC_NT")),
    ("onednn", (b"ONEDNN_MAX_CPU_ISA", b"ONEDNN_VERBOSE")),
    ("rayon", (b"RAYON_NUM_THREADS", b"RAYON_RS_NUM_CPUS")),
    ("go", (b"\xff Go buildinf:",)),
    ("jemalloc", (b"MALLOC_CONF", b"<jemalloc>")),
    ("tcmalloc", (b"TCMALLOC_SAMPLE_PARAMETER",)),
    ("mimalloc", (b"mimalloc: error: ", b"mimalloc_%s")),
)
"""Texts in the runtime itself. All must be present: a program that merely sets a variable for its
children contains one of them, rarely all.
"""

_TOOLS = {
    "pigz": "pigz",
    "unpigz": "pigz",
    "lzma": "xz",
    "unlzma": "xz",
    "unxz": "xz",
    "xz": "xz",
    "xzcat": "xz",
    "unzstd": "zstd",
    "zstd": "zstd",
    "zstdcat": "zstd",
    "zstdmt": "zstd",
}

_MAX_FILE_BYTES = 512 * 2**20


def runtimes_of_file(path: str) -> tuple[str, ...]:
    """Return the runtimes of a shared object, by its path."""
    return tuple(name for name, pattern in _FILES if pattern.search(path))


def runtimes_of_files(paths: Iterable[str]) -> dict[str, str]:
    """Return the runtimes of shared objects, each with the first path."""
    found: dict[str, str] = {}
    for path in paths:
        for name in runtimes_of_file(path):
            found.setdefault(name, path)
    return found


def runtime_of_tool(name: str) -> str | None:
    """Return the runtime of a program, by its name."""
    return _TOOLS.get(name)


def embedded_runtimes(path: Path) -> dict[str, str]:
    """Return the statically linked runtimes of a program, each with the text that shows it.

    Files above half a GiB are not searched.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not 0 < size <= _MAX_FILE_BYTES:
                return {}
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return {
                    name: marks[0].decode("ascii", "ignore").strip()
                    for name, marks in _MARKS
                    if all(content.find(mark) >= 0 for mark in marks)
                }
    except (OSError, ValueError):
        return {}
