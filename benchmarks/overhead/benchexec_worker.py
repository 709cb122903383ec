"""Worker with BenchExec's RunExecutor, for the interpreter that has BenchExec."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .serve import serve


class Worker:
    """Worker that does the jobs.

    Args:
        folder: folder for outputs; the only one to which a container may write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        runexecutor = importlib.import_module("benchexec.runexecutor")
        container = importlib.import_module("benchexec.container")
        modes = {"/": container.DIR_READ_ONLY, str(folder): container.DIR_FULL_ACCESS}
        self._bare = runexecutor.RunExecutor(use_namespaces=False)
        # Some hosts refuse overlays, the default, since their root is an overlay itself.
        self._contained = runexecutor.RunExecutor(use_namespaces=True, dir_modes=modes)

    def runs(self, argv: Sequence[str], launches: int, container: bool) -> dict[str, Any]:
        """Make some runs; return the results, and the total duration of each run."""
        executor = self._contained if container else self._bare
        output = str(self._folder / "benchexec.log")
        took_s, found = [], []
        for _ in range(launches):
            began = time.perf_counter()
            result = executor.execute_run(list(argv), output)
            took_s.append(time.perf_counter() - began)
            if "walltime" not in result or result.get("terminationreason"):
                raise RuntimeError(f"the run ended with {result}")
            found.append(result)
        return {
            "took_s": took_s,
            "wall_s": [float(result["walltime"]) for result in found],
            "memory_bytes": [result.get("memory") for result in found],
        }


if __name__ == "__main__":
    serve({"runs": Worker(Path(sys.argv[1])).runs})
