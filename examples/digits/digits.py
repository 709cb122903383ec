#!/usr/bin/env python3
"""Measure the stability of groups among scikit-learn's handwritten digits.

PCA reduces the 1,797 images and k-means groups them. The same is done for many resamples of the
images, drawn with replacement; how far each of those groupings agrees with the first one is the
stability. The grouping is judged by its silhouette over all pairwise distances, and by its
agreement with the digits that people wrote. The same flags give the same result on every run.
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
    parser.add_argument("--components", type=int, default=40, help="of PCA, 1..64 (%(default)s)")
    parser.add_argument("--clusters", type=int, default=10, help="of k-means (%(default)s)")
    parser.add_argument("--restarts", type=int, default=4, help="of k-means (%(default)s)")
    parser.add_argument("--resamples", type=int, default=3, help="(%(default)s)")
    args = parser.parse_args(argv)
    if not 1 <= args.components <= PIXELS:
        parser.error(f"--components {args.components}: must be 1 to {PIXELS}")
    if not 2 <= args.clusters <= 100:
        parser.error(f"--clusters {args.clusters}: must be 2 to 100")
    for flag in ("restarts", "resamples"):
        if getattr(args, flag) < 1:
            parser.error(f"--{flag} {getattr(args, flag)}: must be at least 1")
    return args


def main() -> int:
    args = parse()
    start = time.perf_counter()
    digits = load_digits()

    def group(images: np.ndarray) -> tuple[PCA, KMeans]:
        # The exact solver: the randomised one would tie the result to its random start.
        pca = PCA(args.components, svd_solver="full").fit(images)
        means = KMeans(args.clusters, n_init=args.restarts, random_state=0)
        return pca, means.fit(pca.transform(images))

    pca, means = group(digits.data)
    points = pca.transform(digits.data)
    silhouette = silhouette_score(pairwise_distances(points), means.labels_, metric="precomputed")
    agreement = adjusted_rand_score(digits.target, means.labels_)
    # Counted again in plain NumPy, from the labels and not from k-means' own books.
    inertia = float(np.sum((points - means.cluster_centers_[means.labels_]) ** 2))

    random = np.random.default_rng(0)
    alike = []
    for _ in range(args.resamples):
        drawn = random.integers(len(digits.data), size=len(digits.data))
        other_pca, other_means = group(digits.data[drawn])
        labels = other_means.predict(other_pca.transform(digits.data))
        alike.append(adjusted_rand_score(means.labels_, labels))
    work_s = time.perf_counter() - start

    # No more digits than a summation order, which threads may change, leaves alone.
    print(f"inertia={inertia:.1f}")
    print(f"silhouette={silhouette:.4f}")
    print(f"agreement={agreement:.3f}")
    print(f"stability={np.mean(alike):.3f}")
    print(f"work_s={work_s:.4f}")
    if not np.isclose(inertia, means.inertia_, rtol=1e-6):
        print(f"digits: k-means reports inertia {means.inertia_}, not {inertia}", file=sys.stderr)
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
