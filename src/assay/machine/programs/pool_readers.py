"""Environment variables of thread pools that a program reads.

A runtime is identified by the mapped files of a process; a tool, and a statically linked runtime,
by the executable. A variable also counts as read if the executable, or a shared object outside the
system's directories, such as an extension module of Python, contains its name.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.machine.programs.command import base_name
from assay.machine.programs.python import is_python
from assay.machine.programs.runtimes import embedded_runtimes, runtime_of_tool, runtimes_of_files

_OPENMP = "OMP_NUM_THREADS"
_BY_RUNTIME: dict[str, tuple[str, ...]] = {
    "gomp": (_OPENMP,),
    "iomp": (_OPENMP,),
    "llvm-omp": (_OPENMP,),
    # Each reads that of OpenMP if its own is not set.
    "openblas": ("OPENBLAS_NUM_THREADS", _OPENMP),
    "mkl": ("MKL_NUM_THREADS", _OPENMP),
    "blis": ("BLIS_NUM_THREADS", _OPENMP),
    "onednn": (_OPENMP, "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"),
    "rayon": ("RAYON_NUM_THREADS",),
    "go": ("GOMAXPROCS",),
    "zstd": ("ZSTD_NBTHREADS",),
    "xz": ("XZ_DEFAULTS",),
}
_BY_FILE: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), variables)
    for pattern, variables in (
        (r"/lib(?:arrow|parquet)[-.\w]*\.so", (_OPENMP,)),
        (r"/libtorch[-.\w]*\.so", (_OPENMP, "MKL_NUM_THREADS")),
        (r"-packages/numexpr/", ("NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", _OPENMP)),
        (r"-packages/numba/", ("NUMBA_NUM_THREADS", _OPENMP)),
        (r"-packages/_?polars", ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS")),
        (r"-packages/tensorflow/", ("TF_NUM_INTRAOP_THREADS", _OPENMP)),
        (r"/libjulia[-.\w]*\.so", ("JULIA_NUM_THREADS",)),
        (r"/libcoreclr\.so", ("DOTNET_PROCESSOR_COUNT",)),
        (r"/libITK[-.\w]*\.so", ("ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS",)),
        (r"/libpython[-.\w]*\.so", ("PYTHON_CPU_COUNT", "LOKY_MAX_CPU_COUNT")),
    )
)
_PYTHON = ("PYTHON_CPU_COUNT", "LOKY_MAX_CPU_COUNT")
"""Read by the interpreter, and by joblib, which has no library."""
_SHELL = re.compile(r"(?:ba|da|z|k|c|tc|fi|a)?sh|busybox|make|ninja|xargs|parallel|perl|env")
"""Programs that start others, which may end before they are observed."""
_SHARED = re.compile(r"\.so(?:\.|$)")
_SYSTEM = ("/lib", "/usr/lib")
"""Directory prefixes of distributions' shared objects; Python packages are there too."""
_MAX_FILE_BYTES = 512 << 20


def read_variables(maps: Iterable[str], variables: Iterable[str]) -> frozenset[str] | None:
    """Return the variables of thread pools that a process tree reads.

    Args:
        maps: mapped files of its processes, executables included.
        variables: candidate variables.

    Returns:
        ``None`` if unknown: no executable was observed, one that starts others, or several.
    """
    paths = [path.removesuffix(" (deleted)") for path in maps if path.startswith("/")]
    programs = [path for path in paths if not _SHARED.search(path) and _is_elf(path)]
    names = [base_name(path) for path in programs]
    if len(set(programs)) != 1 or any(_SHELL.fullmatch(name) for name in names):
        return None
    requested = frozenset(variables)
    found = set(_of_runtimes(paths, programs))
    for pattern, read in _BY_FILE:
        if any(pattern.search(path) for path in paths):
            found.update(read)
    if any(is_python(name) for name in names):
        found.update(_PYTHON)
    for path in {*programs, *(path for path in paths if _is_user_library(path))}:
        found.update(_named_in(Path(path), requested - found))
    return requested & found


def _of_runtimes(paths: list[str], programs: list[str]) -> Iterator[str]:
    runtimes = set(runtimes_of_files(paths))
    for path in programs:
        runtimes.update(embedded_runtimes(Path(path)))
        tool = runtime_of_tool(base_name(path))
        runtimes.update([tool] if tool else [])
    for name in runtimes:
        yield from _BY_RUNTIME.get(name, ())


def _is_user_library(path: str) -> bool:
    """Return whether a shared object is outside the system's: it may contain a separate runtime."""
    own = not path.startswith(_SYSTEM) or "-packages/" in path
    return own and _SHARED.search(path) is not None and _is_elf(path)


def _is_elf(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _named_in(path: Path, variables: Iterable[str]) -> list[str]:
    """Return the variables whose names an executable contains."""
    try:
        with path.open("rb") as file:
            if not 0 < file.seek(0, 2) <= _MAX_FILE_BYTES:
                return []
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return [name for name in variables if content.find(name.encode()) >= 0]
    except (OSError, ValueError):
        return []
