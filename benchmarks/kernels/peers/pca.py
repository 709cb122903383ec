"""Principal components by scikit-learn and oneDAL, compared with the kernel's variants.

    python -m benchmarks.kernels.peers.pca build/native/assay-kernel-pca --n 200000 --p 100

It prints one line for each: the best and the median time. All begin with raw data, which they
standardise. "On scores" is only the step of scikit-learn or oneDAL with standardised data. oneDAL
is included if scikit-learn-intelex is installed. `--svd` adds singular values.

Eigenvalues have different scales: those of NumPy and scikit-learn differ by n / (n - 1), and those
of oneDAL's svdDense are singular values. So the check compares shares of the sum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from .rounds import Native, arguments, clocked, race, report

Reals = npt.NDArray[np.float64]
Values = Callable[[], Reals]


def features(n: int, p: int) -> Reals:
    """Return data with a few strong components, and means that are large relative to spreads."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((n, 5)) @ rng.standard_normal((5, p))
    spread = 2.0 ** rng.integers(-10, 11, p)
    means = 10.0 ** rng.integers(0, 4, p)
    return np.asarray(spread * (factors + rng.standard_normal((n, p)) + means), dtype=np.float64)


def numpy_values(x: Reals) -> Reals:
    """Return eigenvalues of the correlation matrix, with the shortest code."""
    return np.linalg.eigh(np.corrcoef(x, rowvar=False))[0][::-1]


def standardised(x: Reals) -> Reals:
    """Return data with means of 0 and variances of 1."""
    found: Reals = StandardScaler().fit_transform(x)
    return found


def by_scikit(scores: Reals, solver: str) -> Reals:
    """Return the variances of all components."""
    values: Reals = PCA(svd_solver=solver).fit(scores).explained_variance_
    return values


def onedal(x: Reals, scores: Reals, threads: int, svd: bool) -> dict[str, Values]:
    """Return the steps of oneDAL: those of the patched scikit-learn and those of daal4py."""
    try:
        import daal4py
        from sklearnex.decomposition import PCA as Patched
    except ImportError:
        return {}
    daal4py.daalinit(threads)
    found: dict[str, Values] = {
        "scikit-learn-intelex on scores": lambda: (
            Patched(svd_solver="covariance_eigh").fit(scores).explained_variance_
        ),
        "daal4py, correlationDense": lambda: (
            daal4py.pca(method="correlationDense").compute(x).eigenvalues.ravel()
        ),
    }
    if svd:
        found["daal4py, svdDense"] = lambda: (
            daal4py.pca(method="svdDense").compute(x).eigenvalues.ravel() ** 2
        )
    return found


def main() -> None:
    """Measure and print the result."""
    parser = arguments(__doc__.splitlines()[0], ["threads-avx2", "threads-avx512", "lib-openblas"])
    parser.add_argument("--n", type=int, default=200_000, help="observations")
    parser.add_argument("--p", type=int, default=100, help="features")
    parser.add_argument("--svd", action="store_true", help="add singular values, which take long")
    asked = parser.parse_args()

    x = features(asked.n, asked.p)
    scores = standardised(x)
    first = f"scikit-learn {sklearn.__version__}"
    steps: dict[str, Values] = {
        first: lambda: by_scikit(standardised(x), "covariance_eigh"),
        "scikit-learn on scores": lambda: by_scikit(scores, "covariance_eigh"),
        "NumPy": lambda: numpy_values(x),
        **onedal(x, scores, asked.threads, asked.svd),
    }
    if asked.svd:
        steps["scikit-learn, svd_solver=full"] = lambda: by_scikit(standardised(x), "full")
    with threadpool_limits(asked.threads):
        wanted = numpy_values(x)
        for name, step in steps.items():
            found = step()
            apart = float(np.max(np.abs(found / found.sum() - wanted / wanted.sum())))
            assert apart < 1e-9, f"{name}: values differ by {apart:.1e}"
        options = ["--n", asked.n, "--p", asked.p, "--threads", asked.threads]
        native = Native(asked.program, asked.variants, options)
        times = race(clocked(steps), native, asked.rounds)
        report(times, first, lambda taken: f"{1e3 * taken:9.2f} ms", asked.json)


if __name__ == "__main__":
    main()
