"""Worker process that takes jobs as lines of JSON, so that launches exclude its start."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from .schedule import Unusable

ROOT = Path(__file__).parents[2]
JOB_TIMEOUT_S = 300.0
END_TIMEOUT_S = 10.0


class Server:
    """Worker process.

    Args:
        python: interpreter of the worker.
        module: module of this package.
        words: arguments of the module.
    """

    def __init__(self, python: str, module: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.overhead.{module}", *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, **job: Any) -> dict[str, Any]:
        """Send a job and return its answer.

        Raises:
            Unusable: it could not be done.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise Unusable("its worker has ended") from error
        if not select.select([self._process.stdout], [], [], JOB_TIMEOUT_S)[0]:
            raise Unusable(f"its worker did not answer within {JOB_TIMEOUT_S:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise Unusable("its worker ended without an answer")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Unusable(answer["error"])
        return answer

    def close(self) -> None:
        """End the worker."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # the worker has already ended
                self._process.stdin.close()
        try:
            self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def assay_server(ballast_mib: int = 0) -> Server:
    """Return the worker with assay, with additional memory on request."""
    return Server(sys.executable, "assay_worker", str(ballast_mib))


def benchexec_server(python: str, folder: Path) -> Server:
    """Return the worker with BenchExec, which may write to ``folder``."""
    return Server(python, "benchexec_worker", str(folder))
