"""Worker process with assay as a library: its executor, store and loop."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.executors.local import LocalExecutor
from assay.executors.progress.live import LatestReport
from assay.launch.driver import Driver, find_launcher
from assay.machine.programs.program import inspect
from assay.machine.reader import read_machine
from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Kind,
    Launch,
    Metric,
    Outcome,
    Sample,
    Stage,
    StudySpec,
    Workload,
)
from assay.search.races.race import Race
from assay.settings.registry import builtin
from assay.store import Store, open_store
from assay.study.laboratory import Laboratory
from assay.study.session import begin

from .ballast import held
from .serve import serve

ARM = Arm(name="default", configuration=DEFAULT)
NEVER = 1e-9
"""Unreachable precision, so that the budget decides the number of launches."""
LOOK_S = 0.05
"""Interval between two readings of the launcher's memory, in seconds."""


class Clock:
    """Listener that records the start of each launch, and all samples."""

    def __init__(self) -> None:
        self.turned_s: list[float] = []
        self.samples: list[Sample] = []

    def started(self, study_id: str) -> None:
        """See ``Listener``."""

    def warned(self, error: AssayError) -> None:
        """See ``Listener``."""

    def noticed(self, text: str) -> None:
        """See ``Listener``."""

    def watching(self, latest: Callable[[], LatestReport | None]) -> None:
        """See ``Listener``."""

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener``."""
        self.turned_s.append(time.perf_counter())

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """See ``Listener``."""
        return nullcontext()

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener``."""
        self.samples.append(sample)

    def ending(self, grace_s: float) -> None:
        """See ``Listener``."""

    def ended(self, launches: int) -> None:
        """See ``Listener``."""

    @property
    def between_s(self) -> list[float]:
        """Return the times from the start of each launch to the next one, which are full costs."""
        return [later - sooner for sooner, later in pairwise(self.turned_s)]


class Worker:
    """Worker that does the jobs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._machine = read_machine()
        self._registry = builtin()
        self._driver = Driver(find_launcher(os.environ), os.environ)

    def measure(self, argv: Sequence[str], launches: int) -> dict[str, Any]:
        """Run a study of one arm, as ``assay measure`` does."""
        clock = Clock()
        spec = StudySpec(
            kind=Kind.MEASURE,
            workload=Workload(argv=tuple(argv)),
            arms=(ARM,),
            budget=Budget(launches=launches),
            precision=NEVER,
        )
        begin(self._laboratory(argv), self._store, spec, clock)
        return {
            "between_s": clock.between_s,
            "wall_s": [sample.wall_s for sample in clock.samples],
        }

    def launch(self, argv: Sequence[str], pattern: str | None = None) -> dict[str, Any]:
        """Return one launch, with the memory of the program and of its measurement."""
        metrics = (Metric(name="score", pattern=pattern),) if pattern else ()
        workload = Workload(argv=tuple(argv), metrics=(*metrics, *Workload(argv=()).metrics))
        launch = Launch(
            configuration=DEFAULT, arm=ARM.name, stage=Stage.CONFIRM, block=0, position=0
        )
        plan = self._laboratory(argv).plan(DEFAULT)
        with LocalExecutor(workload, self._driver, self._registry, speed=False) as executor:
            _forget_peak()
            before_bytes = _peak_bytes("self")
            began = time.perf_counter()
            executor.submit(launch, plan)
            sample, launcher_bytes = _watched(executor)
            took_s = time.perf_counter() - began
        if sample.outcome is not Outcome.OK:
            raise RuntimeError(f"the launch ended as {sample.outcome}: {sample.message}")
        return {
            "took_s": took_s,
            "wall_s": sample.wall_s,
            "peak_bytes": sample.peak_bytes,
            "peak_anon_bytes": sample.peak_anon_bytes,
            "own_bytes": _peak_bytes("self"),
            "grown_bytes": _peak_bytes("self") - before_bytes,
            "launcher_bytes": launcher_bytes,
            "score": sample.metrics.get("score"),
        }

    def _laboratory(self, argv: Sequence[str]) -> Laboratory:
        program = inspect(tuple(argv), env=os.environ, cwd=None)
        return Laboratory(self._machine, self._registry, self._driver, program)


def _watched(executor: LocalExecutor) -> tuple[Sample, int]:
    """Return the sample of a running launch, and the largest memory of its launcher."""
    launcher = _child()
    highest = 0
    while True:
        if launcher is not None:
            with contextlib.suppress(OSError, ValueError):
                highest = max(highest, _peak_bytes(launcher))
        found = executor.poll(LOOK_S)
        if found:
            return found[0], highest


def _child() -> str | None:
    """Return the process id of the launcher, which is the only child of this process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # After the name in brackets: state, parent (proc(5)).
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                return folder.name
    return None


def _forget_peak() -> None:
    """Reset the kernel's peak of this process (proc(5), clear_refs)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes(process: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise ValueError(f"process {process} has no memory")


def main() -> None:
    """Serve jobs, with a store in a temporary folder."""
    ballast = held(int(sys.argv[1]))
    with (
        tempfile.TemporaryDirectory(prefix="bench-store-") as folder,
        open_store(Path(folder) / "bench.db") as store,
    ):
        worker = Worker(store)
        serve({"measure": worker.measure, "launch": worker.launch})
    del ballast


if __name__ == "__main__":
    main()
