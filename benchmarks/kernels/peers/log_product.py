"""Product of two logarithms by Python, NumPy, numexpr and Cython, and by the kernel's variants.

    python -m benchmarks.kernels.peers.log_product build/native/assay-kernel-log-product

It prints one line for each: the best and the median time of an element. The loop of Python
processes a sample. numexpr is included if it is installed, and Cython if setuptools and a compiler
are. Cython's loops are built in a temporary folder: an ordinary loop, a parallel one (prange), and
both with -ffast-math, with which the compiler calls the vector logarithm of libmvec.
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

from .rounds import Native, Step, arguments, clocked, race, report, timed

Reals = npt.NDArray[np.float64]
SAMPLE = 1000
"""Inverse of the share of elements that the loop of Python processes."""
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
"""Flags of the compiler only, since linking with -ffast-math changes the rounding of a process."""


def built(name: str, flags: str, folder: Path) -> ModuleType | None:
    """Return a module of Cython; ``None`` if the build fails."""
    (folder / f"{name}.pyx").write_text(CYTHON.format(flags=flags))
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", f"{name}.pyx"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    libraries = list(folder.glob(f"{name}.*.so"))
    if done.returncode != 0 or not libraries:
        print(f"Cython is not available: {(done.stderr.splitlines() or ['nothing was built'])[-1]}")
        return None
    spec = importlib.util.spec_from_file_location(name, libraries[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cython(a: Reals, b: Reals, c: Reals, threads: int, folder: Path) -> dict[str, Step]:
    """Return loops of Cython with one and with several threads, each also with fast arithmetic."""
    found: dict[str, Step] = {}
    for number, (name, flags) in enumerate(FLAGS.items()):
        module = built(f"loops_{number}", flags, folder)
        if module is None:
            return {}
        found[f"Cython{name}"] = partial(module.serial, a, b, c)
        found[f"Cython, prange{name}"] = partial(module.parallel, a, b, c, threads)
    return found


def numexpr(a: Reals, b: Reals, c: Reals, threads: int) -> dict[str, Step]:
    """Return the step of numexpr, which processes pieces that fit into a cache."""
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
        assert apart < 1e-15, f"{name}: error of {apart:.1e}"


def main() -> None:
    """Measure and print the result."""
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
        report(times, first, lambda taken: f"{1e9 * taken / asked.n:9.3f} ns", asked.json)


if __name__ == "__main__":
    main()
