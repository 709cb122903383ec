"""Lloyd's assignment step of scikit-learn beside the kernel's variants, a round of each in turn.

    python native/kernels/kmeans/compare.py build/native/assay-kernel-kmeans --points 100000

One line for each: the best and the middle time, in milliards of distances a second. With
scikit-learn-intelex or faiss-cpu installed, oneDAL's and Faiss' assignments are told as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cluster import _k_means_lloyd
from threadpoolctl import threadpool_limits


def lloyd_step(points: np.ndarray, centres: np.ndarray, threads: int) -> Callable[[], np.ndarray]:
    """Give scikit-learn's own step, without the update of centres."""
    labels = np.empty(len(points), dtype=np.int32)
    weights = np.ones(len(points), dtype=np.float32)
    updated = np.zeros_like(centres)
    sums = np.zeros(len(centres), dtype=np.float32)
    shift = np.zeros(len(centres), dtype=np.float32)

    def step() -> np.ndarray:
        # Its own caller keeps BLAS to one thread: the step is parallel over pieces of the points.
        with threadpool_limits(limits=1, user_api="blas"):
            _k_means_lloyd.lloyd_iter_chunked_dense(
                points, weights, centres, updated, sums, labels, shift, threads, False
            )
        return labels

    return step


def onedal(
    points: np.ndarray, centres: np.ndarray, threads: int
) -> Callable[[], np.ndarray] | None:
    """Give oneDAL's assignment: no iteration, and the index of the nearest centre."""
    try:
        import daal4py
    except ImportError:
        return None
    daal4py.daalinit(threads)
    task = daal4py.kmeans(len(centres), 0, assignFlag=True, fptype="float", method="lloydDense")
    return lambda: task.compute(points, centres).assignments.ravel()


def faiss(points: np.ndarray, centres: np.ndarray, threads: int) -> Callable[[], np.ndarray] | None:
    """Give the exhaustive search of Faiss, which has a fused kernel for the nearest alone."""
    try:
        import faiss as library
    except ImportError:
        return None
    library.omp_set_num_threads(threads)
    index = library.IndexFlatL2(3)
    index.add(centres)
    return lambda: index.search(points, 1)[1].ravel()


def timed(step: Callable[[], np.ndarray]) -> float:
    """Seconds of one step."""
    begun = time.perf_counter()
    step()
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--centres", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--variants", nargs="*", default=["later-v3", "later-v4"])
    asked = parser.parse_args()

    rng = np.random.default_rng(1)
    points = (256 * rng.random((asked.points, 3))).astype(np.float32)
    centres = (256 * rng.random((asked.centres, 3))).astype(np.float32)
    steps = {f"scikit-learn {sklearn.__version__}": lloyd_step(points, centres, asked.threads)}
    for name, make in {"oneDAL": onedal, "Faiss": faiss}.items():
        if (other := make(points, centres, asked.threads)) is not None:
            steps[name] = other
    wanted = None
    for name, step in steps.items():
        found = step()
        wanted = found if wanted is None else wanted
        same = float((found == wanted).mean())
        assert same > 0.999, f"{name} finds other centres: {same:.4f} are the same"

    times: dict[str, list[float]] = {name: [] for name in [*steps, *asked.variants]}
    for _ in range(asked.rounds):
        for name, step in steps.items():
            times[name].append(timed(step))
        for name in asked.variants:
            words = ["--points", asked.points, "--centres", asked.centres]
            words += ["--threads", asked.threads, "--seconds", 0, "--variant", name]
            done = subprocess.run(
                [asked.program, *map(str, words)], capture_output=True, text=True, check=True
            )
            times[name].append(json.loads(done.stdout)["median_s"])
    for name, taken in times.items():
        rates = [
            asked.points * asked.centres / 1e9 / one
            for one in (min(taken), statistics.median(taken))
        ]
        print(f"{name:28} best {rates[0]:8.3f}  middle {rates[1]:8.3f}  10^9 distances/s")


if __name__ == "__main__":
    main()
