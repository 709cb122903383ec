"""The product of two logarithms by Python, NumPy, numexpr and Cython beside the kernel's variants.

    python -m benchmarks.kernels.peers.log_product build/native/assay-kernel-log-product

One line for each: the best and the median time of an element. A loop of Python processes a sample.
Includes numexpr, and Cython if setuptools and a compiler are installed. Cython's loops are built in
a temporary folder: an ordinary loop, a parallel one (prange), and both with -ffast-math, for which
the compiler calls the vector logarithm of libmvec.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

from .rounds import Native, Step, arguments, clocked, race, tell, timed

Reals = npt.NDArray[np.float64]
SAMPLE = 1000
"""The loop of Python processes one of this many elements."""
CYTHON = """\
# cython: language_level=3, boundscheck=False, wraparound=False
# distutils: extra_compile_args = {flags}
# distutils: extra_link_args = -fopenmp -lm
from cython.parallel cimport prange
from libc.math cimport log

def serial(const double[::1] a, const double[::1] b, double[::1] c):
    cdef Py_ssize_t i
    with nogil:
        for i in range(a.shape[0]):
            c[i] = log(a[i]) * log(b[i])

def parallel(const double[::1] a, const double[::1] b, double[::1] c, int threads):
    cdef Py_ssize_t i
    for i in prange(a.shape[0], nogil=True, schedule="static", num_threads=threads):
        c[i] = log(a[i]) * log(b[i])
"""
FLAGS = {"": "-O3 -march=native -fopenmp", ", fast": "-O3 -march=native -ffast-math -fopenmp"}
"""Only for compilation: a library linked with -ffast-math changes rounding of the process."""


def built(name: str, flags: str, folder: Path) -> ModuleType | None:
    """Return a module of Cython, or nothing if it cannot be built."""
    (folder / f"{name}.pyx").write_text(CYTHON.format(flags=flags))
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", f"{name}.pyx"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    libraries = list(folder.glob(f"{name}.*.so"))
    if done.returncode != 0 or not libraries:
        print(f"no Cython: {(done.stderr.splitlines() or ['nothing was built'])[-1]}")
        return None
    spec = importlib.util.spec_from_file_location(name, libraries[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cython(a: Reals, b: Reals, c: Reals, threads: int, folder: Path) -> dict[str, Step]:
    """Return loops of Cython: one thread, several, and both with fast arithmetic."""
    found: dict[str, Step] = {}
    for number, (name, flags) in enumerate(FLAGS.items()):
        module = built(f"loops_{number}", flags, folder)
        if module is None:
            return {}
        found[f"Cython{name}"] = partial(module.serial, a, b, c)
        found[f"Cython, prange{name}"] = partial(module.parallel, a, b, c, threads)
    return found


def numexpr(a: Reals, b: Reals, c: Reals, threads: int) -> dict[str, Step]:
    """Return numexpr's way, which compiles the expression for pieces that stay in a cache."""
    try:
        import numexpr as library
    except ImportError:
        return {}
    library.set_num_threads(threads)
    names = {"a": a, "b": b}
    return {"numexpr": lambda: library.evaluate("log(a) * log(b)", local_dict=names, out=c)}


def by_numpy(a: Reals, b: Reals, c: Reals, beside: Reals) -> None:
    """Compute array by array, into preallocated arrays."""
    np.log(a, out=c)
    np.log(b, out=beside)
    np.multiply(c, beside, out=c)


def by_python(a: list[float], b: list[float], c: list[float]) -> None:
    """Compute element by element."""
    for i in range(len(a)):
        c[i] = math.log(a[i]) * math.log(b[i])


def checked(steps: dict[str, Step], c: Reals, wanted: Reals) -> None:
    """Check that every step writes the same result."""
    for name, step in steps.items():
        c.fill(np.nan)
        step()
        apart = float(np.max(np.abs(c - wanted)))
        assert apart < 1e-15, f"{name} is wrong by {apart:.1e}"


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__.splitlines()[0], ["scalar-o3", "threads-avx2", "threads-avx512"])
    parser.add_argument("--n", type=int, default=10_000_000, help="elements")
    asked = parser.parse_args()

    rng = np.random.default_rng(1)
    a, b = 1.0 + rng.random(asked.n), 1.0 + rng.random(asked.n)
    c, beside = np.empty(asked.n), np.empty(asked.n)
    lists = [part[: max(asked.n // SAMPLE, 1)].tolist() for part in (a, b, c)]
    first = f"NumPy {np.__version__}"
    with tempfile.TemporaryDirectory() as folder:
        steps: dict[str, Step] = {
            first: lambda: by_numpy(a, b, c, beside),
            **numexpr(a, b, c, asked.threads),
            **cython(a, b, c, asked.threads, Path(folder)),
        }
        checked(steps, c, np.log(a) * np.log(b))
        native = Native(asked.program, asked.variants, ["--n", asked.n, "--threads", asked.threads])
        times = race(clocked(steps), native, asked.rounds)
        part = asked.n / len(lists[0])
        times["a loop of Python"] = [
            part * timed(lambda: by_python(*lists)) for _ in range(asked.rounds)
        ]
        tell(times, first, lambda taken: f"{1e9 * taken / asked.n:9.3f} ns", asked.json)


if __name__ == "__main__":
    main()
