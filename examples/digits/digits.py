#!/usr/bin/env python3
"""How many kinds of handwriting do scikit-learn's digits hold?

Reduces the 1,797 images with PCA, groups them with k-means for every number of clusters in a
range, scores each grouping by its silhouette over all pairwise distances, and compares the best
one with the digits that people really wrote. The same flags give the same result on every run.
"""

from __future__ import annotations

import argparse
import sys
import time

try:
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.metrics import adjusted_rand_score, pairwise_distances, silhouette_score
except ImportError as error:
    print(
        f"digits: {error}; install it with: pip install -r examples/requirements.txt",
        file=sys.stderr,
    )
    raise SystemExit(2) from None

PIXELS = 64  # a digit is 8 x 8 pixels
LEAST_AGREEMENT = 0.5  # a random grouping scores 0, a sound k-means on these digits 0.6 to 0.8


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="digits", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--components", type=int, default=30, help="of PCA, 1..64 (%(default)s)")
    parser.add_argument("--fewest", type=int, default=8, help="clusters tried (%(default)s)")
    parser.add_argument("--most", type=int, default=12, help="clusters tried (%(default)s)")
    parser.add_argument("--restarts", type=int, default=32, help="of k-means (%(default)s)")
    args = parser.parse_args(argv)
    if not 1 <= args.components <= PIXELS:
        parser.error(f"--components {args.components}: must be 1 to {PIXELS}")
    if not 2 <= args.fewest <= args.most <= 100:
        parser.error("--fewest and --most: must be 2 to 100, the fewest not above the most")
    if args.restarts < 1:
        parser.error(f"--restarts {args.restarts}: must be at least 1")
    return args


def main() -> int:
    args = parse()
    start = time.perf_counter()
    digits = load_digits()
    # The exact solver: the randomised one would tie the result to its random start.
    points = PCA(args.components, svd_solver="full").fit_transform(digits.data)
    distances = pairwise_distances(points)

    best, silhouette = None, -1.0
    for clusters in range(args.fewest, args.most + 1):
        fit = KMeans(clusters, n_init=args.restarts, random_state=0).fit(points)
        score = silhouette_score(distances, fit.labels_, metric="precomputed")
        if best is None or score > silhouette:
            best, silhouette = fit, score
    assert best is not None  # the range is never empty

    agreement = adjusted_rand_score(digits.target, best.labels_)
    # Counted again in plain NumPy, from the labels and not from k-means' own books.
    inertia = float(np.sum((points - best.cluster_centers_[best.labels_]) ** 2))
    work_s = time.perf_counter() - start

    # No more digits than a summation order, which threads may change, leaves alone.
    print(f"clusters={best.n_clusters}")
    print(f"inertia={inertia:.1f}")
    print(f"silhouette={silhouette:.4f}")
    print(f"agreement={agreement:.3f}")
    print(f"work_s={work_s:.4f}")
    if not np.isclose(inertia, best.inertia_, rtol=1e-6):
        print(f"digits: k-means reports inertia {best.inertia_}, not {inertia}", file=sys.stderr)
        return 1
    if agreement < LEAST_AGREEMENT:
        print(
            f"digits: agreement {agreement:.3f} with the written digits is below "
            f"{LEAST_AGREEMENT}: too few components or clusters",
            file=sys.stderr,
        )
        return 1
    print("check=ok")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
