"""Output files and a progress channel of one launch, written by the test."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from assay.executors.progress.channel import CHANNEL_NAME, create_channel
from assay.executors.progress.notices import Notice
from assay.executors.progress.watch import ProgressWatch
from assay.records import Metric, Workload


class LaunchFiles:
    """Files of a launch that a test writes, with the watch that reads them."""

    def __init__(self, folder: Path, metrics: Sequence[Metric], *, channel: bool = False) -> None:
        self.folder = folder
        self.stdout, self.stderr = folder / "stdout", folder / "stderr"
        path = None
        if channel:
            path = folder / CHANNEL_NAME
            create_channel(path)
        self.watch = ProgressWatch(
            Workload(argv=("true",), metrics=tuple(metrics)),
            [[self.stdout, self.stderr]],
            path,
            folder,
        )
        self.start = time.monotonic()
        self.watch.begin(self.start)

    def write(self, data: str | bytes, path: Path | None = None) -> None:
        raw = data.encode() if isinstance(data, str) else data
        with (path or self.stdout).open("ab") as file:
            file.write(raw)

    def drain(self, after_s: float | None = None) -> list[Notice]:
        now = time.monotonic() if after_s is None else self.start + after_s
        return self.watch.drain(now)

    def finish(self, after_s: float | None = None) -> list[Notice]:
        now = time.monotonic() if after_s is None else self.start + after_s
        found = self.watch.finish(now)
        self.watch.close()
        return found
