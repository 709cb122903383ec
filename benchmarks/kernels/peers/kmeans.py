"""Lloyd's assignment step of scikit-learn, compared with the kernel's variants in rounds.

    python -m benchmarks.kernels.peers.kmeans build/native/assay-kernel-kmeans --points 100000

It prints one line for each: the best and the median rate, in 10^9 distances per second. The
assignments of oneDAL and Faiss are included if scikit-learn-intelex and faiss-cpu are installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.cluster import _k_means_lloyd
from threadpoolctl import threadpool_limits

from .rounds import Native, arguments, clocked, race, report

Reals = npt.NDArray[np.float32]
Assign = Callable[[], npt.NDArray[np.signedinteger[Any]]]


def lloyd_step(points: Reals, centres: Reals, threads: int) -> Assign:
    """Return the step of scikit-learn, without the update of centres."""
    labels = np.empty(len(points), dtype=np.int32)
    weights = np.ones(len(points), dtype=np.float32)
    updated = np.zeros_like(centres)
    sums = np.zeros(len(centres), dtype=np.float32)
    shift = np.zeros(len(centres), dtype=np.float32)

    def step() -> npt.NDArray[np.signedinteger[Any]]:
        # scikit-learn limits BLAS to one thread here, since the step is parallel over the points.
        with threadpool_limits(limits=1, user_api="blas"):
            _k_means_lloyd.lloyd_iter_chunked_dense(
                points, weights, centres, updated, sums, labels, shift, threads, False
            )
        return labels

    return step


def onedal(points: Reals, centres: Reals, threads: int) -> Assign | None:
    """Return oneDAL's assignment, which yields the nearest centres without an iteration."""
    try:
        import daal4py
    except ImportError:
        return None
    daal4py.daalinit(threads)
    task = daal4py.kmeans(len(centres), 0, assignFlag=True, fptype="float", method="lloydDense")
    return lambda: task.compute(points, centres).assignments.ravel()


def faiss(points: Reals, centres: Reals, threads: int) -> Assign | None:
    """Return the exhaustive search of Faiss, which has a fused kernel for the nearest centre."""
    try:
        import faiss as library
    except ImportError:
        return None
    library.omp_set_num_threads(threads)
    index = library.IndexFlatL2(3)
    index.add(centres)
    return lambda: index.search(points, 1)[1].ravel()


def main() -> None:
    """Measure and print the result."""
    parser = arguments(
        __doc__.splitlines()[0], ["later-avx2", "later-avx512", "threads-avx2", "threads-avx512"]
    )
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--centres", type=int, default=1000)
    asked = parser.parse_args()

    rng = np.random.default_rng(1)
    points = (256 * rng.random((asked.points, 3))).astype(np.float32)
    centres = (256 * rng.random((asked.centres, 3))).astype(np.float32)
    first = f"scikit-learn {sklearn.__version__}"
    steps = {first: lloyd_step(points, centres, asked.threads)}
    for name, make in {"oneDAL": onedal, "Faiss": faiss}.items():
        if (other := make(points, centres, asked.threads)) is not None:
            steps[name] = other
    wanted = None
    for name, step in steps.items():
        found = step()
        wanted = found if wanted is None else wanted
        same = float((found == wanted).mean())
        assert same > 0.999, f"{name}: only a share of {same:.4f} of the centres is the same"

    options = ["--points", asked.points, "--centres", asked.centres, "--threads", asked.threads]
    times = race(clocked(steps), Native(asked.program, asked.variants, options), asked.rounds)
    distances = asked.points * asked.centres / 1e9
    report(times, first, lambda taken: f"{distances / taken:8.3f} 10^9 distances/s", asked.json)


if __name__ == "__main__":
    main()
