"""Tables from the test data of a package, and from a formula."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
import tarfile
from pathlib import Path

from .recording import Parameters, Row, grid

CONVOLUTION = "tests/autotuning_methodology/integration/mockfiles/mock_gpu.json"
"""File in the source package of autotuning_methodology: a kernel on an NVIDIA RTX 2080 Ti."""
REPEATS = 5

SPARSE: Parameters = {
    "threads": (1, 2, 4, 8),
    "huge_pages": ("never", "madvise", "always"),
    "malloc": ("libc", "jemalloc", "tcmalloc", "mimalloc"),
    "governor": ("powersave", "performance"),
    "bind": ("none", "close", "spread"),
    "prefetch": (0, 1),
    "priority": (0, 1),
    "io_scheduler": ("none", "mq-deadline", "bfq"),
    "numa_balancing": (0, 1),
}


def convolution(package: Path, path: Path) -> None:
    """Write the recorded space of a convolution, five repeats each, from the source package."""
    with tarfile.open(package) as archive:
        name = next(n for n in archive.getnames() if n.endswith(CONVOLUTION))
        file = archive.extractfile(name)
        assert file is not None
        document = json.load(file)
    columns = [c for c in document["tune_params_keys"] if len(document["tune_params"][c]) > 1]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "status", *(f"t{i}" for i in range(REPEATS))])
    for one in document["cache"].values():
        works = isinstance(one["time"], float)
        times = [f"{t:.4g}" for t in one["times"][:REPEATS]] if works else [""] * REPEATS
        writer.writerow([*(one[c] for c in columns), "ok" if works else "failed", *times])
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def sparse() -> tuple[list[Row], list[float]]:
    """Return a space with two effective settings, one of which interacts with a third.

    All other settings change the time by less than half a percent.
    """
    rng = random.Random("sparse")
    small = {(name, v): rng.gauss(0.0, 0.002) for name, values in SPARSE.items() for v in values}
    rows = grid(SPARSE)
    return rows, [_sparse_s(dict(zip(SPARSE, row, strict=True)), small) for row in rows]


def _sparse_s(of: dict[str, int | str], small: dict[tuple[str, int | str], float]) -> float:
    log = math.fsum(small[name, value] for name, value in of.items())
    log -= 0.12 * math.log2(int(of["threads"]))
    log -= {"libc": 0.0, "jemalloc": 0.05, "tcmalloc": 0.09, "mimalloc": 0.03}[str(of["malloc"])]
    if of["huge_pages"] == "always":
        log += 0.1 if of["malloc"] == "libc" else -0.06
    return 10.0 * math.exp(log)
