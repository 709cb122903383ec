"""Hooking: the commands around the launches of a sitting."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping

from assay.errors import WorkloadFailed
from assay.measure.last_words import last_words
from assay.records import Workload


class Hooking:
    """Runs the hooks of a workload, each in its folder and in the environment of its launches.

    What they start stays: a server that ``setup`` begins is there until ``cleanup`` ends it. Their
    settings are those of assay itself, not those of an arm.

    Args:
        workload: names them.
        env: what launches start from.
    """

    def __init__(self, workload: Workload, env: Mapping[str, str]) -> None:
        self._hooks = workload.hooks
        self._cwd = workload.cwd
        self._env = dict(env)
        self._set_up = False

    def before_launch(self) -> None:
        """``setup`` before the first launch, ``prepare`` before each.

        Raises:
            WorkloadFailed: one cannot be run, or does not end with status 0.
        """
        if not self._set_up:
            self._set_up = True
            self._run("--setup", self._hooks.setup)
        self._run("--prepare", self._hooks.prepare)

    def after_last(self) -> None:
        """``cleanup``, where anything was begun.

        Raises:
            WorkloadFailed: it cannot be run, or does not end with status 0.
        """
        if self._set_up:
            self._set_up = False
            self._run("--cleanup", self._hooks.cleanup)

    def _run(self, option: str, argv: tuple[str, ...]) -> None:
        if not argv:
            return
        with tempfile.TemporaryFile() as output:
            try:
                status = subprocess.run(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self._cwd,
                    env=self._env,
                    check=False,
                ).returncode
            except OSError as error:
                raise WorkloadFailed(
                    f"The command of {option} cannot be run: {error.strerror}: {argv[0]}.",
                    "Give its path, or see that it lies in PATH and may be executed.",
                ) from error
            if status != 0:
                raise WorkloadFailed(
                    f"The command of {option} ended with status {status}.{last_words(output)}",
                    "Run it by hand first; it must end with status 0.",
                )
