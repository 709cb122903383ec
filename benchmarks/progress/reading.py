"""CPU time of assay for each reported value: ``python -m benchmarks.progress.reading``.

The lines of 50 ms are written, then read at once, as the executor does. Only reading is timed.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from assay.executors.progress.channel import CHANNEL_NAME, create_channel
from assay.executors.progress.watch import DRAIN_INTERVAL_S, ProgressWatch
from assay.records import Metric, Progress, Workload

LINES_PER_S = 1000
DRAINS = 200
ROUNDS = 5

PATTERN = Progress(pattern=r"step (?P<step>\d+) .*samples/s: ([0-9.]+)")
SOURCES: dict[str, tuple[Progress, str, Callable[[int], str]]] = {
    "pattern, printed lines": (
        PATTERN,
        "stdout",
        lambda n: f"step {n} loss 0.{n % 1000:03} samples/s: {300 + n % 17}.25\n",
    ),
    "pattern, other lines": (PATTERN, "stdout", lambda n: f"epoch {n} of training goes on, ok\n"),
    "tqdm": (
        Progress(preset="tqdm"),
        "stderr",
        lambda n: f"\rtrain:  33%|###   | {n}/999999 [00:00<00:00,  6.19it/s, loss=0.1]",
    ),
    "progress channel": (
        Progress(key="sps"),
        CHANNEL_NAME,
        lambda n: json.dumps({"step": n, "sps": 310.25, "time_s": time.monotonic()}) + "\n",
    ),
    "CSV": (Progress(file="m.csv"), "m.csv", lambda n: f"{n},0.5,310.25\n" if n else HEADER),
}
HEADER = "step,loss,sps\n"


def cost_us(progress: Progress, file: str, line: Callable[[int], str], drains: int) -> float:
    """Return the CPU time of reading one line, in microseconds.

    Args:
        progress: source of the metric.
        file: name of the file that the lines are written to.
        line: returns the line of a number.
        drains: number of readings.
    """
    per_drain = round(LINES_PER_S * DRAIN_INTERVAL_S)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        create_channel(folder / CHANNEL_NAME)
        metric = Metric(name="sps", progress=progress)
        watch = ProgressWatch(
            Workload(argv=("true",), metrics=(metric,)),
            [[folder / "stdout", folder / "stderr"]],
            folder / CHANNEL_NAME,
            folder,
        )
        flags = os.O_WRONLY | os.O_APPEND
        fd = os.open(folder / file, flags if file == CHANNEL_NAME else flags | os.O_CREAT)
        watch.begin(time.monotonic())
        spent = 0.0
        for number in range(drains):
            lines = (line(number * per_drain + each) for each in range(per_drain))
            os.write(fd, "".join(lines).encode())
            begin = time.process_time()
            watch.drain(time.monotonic())
            spent += time.process_time() - begin
        os.close(fd)
        watch.close()
    return spent / (drains * per_drain) * 1e6


def main() -> None:
    """Print the median cost of each source over all rounds."""
    print(f"{LINES_PER_S} lines/s, read each {DRAIN_INTERVAL_S * 1e3:.0f} ms; target: 5 us a line")
    for name, (progress, file, line) in SOURCES.items():
        found = median(cost_us(progress, file, line, DRAINS) for _ in range(ROUNDS))
        share = found * LINES_PER_S * 1e-6
        print(f"{name:26} {found:5.2f} us a line, {share:.2%} of a core")


if __name__ == "__main__":
    main()
