"""Report of import hooks: a file to which the hooks of a program append their readings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HOOK_PREFIX = "ASSAY_HOOK_"
"""Prefix of the variables that import hooks of the program read."""
HOOK_REPORT_VARIABLE = f"{HOOK_PREFIX}REPORT"
"""Variable that names the file to which import hooks append their readings."""
MAX_HOOK_REPORT_BYTES = 65536
"""Length of the kept part of that file."""


class HookReport:
    """File to which import hooks of a program append their readings.

    Args:
        named: whether the file has a name while it is open. A file without a name is reached
            through this process (``proc_pid_fd(5)``), and disappears with it.
    """

    def __init__(self, *, named: bool) -> None:
        if named:
            import tempfile

            self._fd, name = tempfile.mkstemp(prefix="assay-hook-")
            self.path = Path(name)
        else:
            self._fd = os.memfd_create("assay-hook-report")
            self.path = Path(f"/proc/{os.getpid()}/fd/{self._fd}")
        self._named = named

    def read(self) -> str:
        """Return the report so far."""
        return os.pread(self._fd, MAX_HOOK_REPORT_BYTES, 0).decode(errors="replace")

    def close(self) -> None:
        """Remove the file."""
        if self._named:
            self.path.unlink(missing_ok=True)
        os.close(self._fd)


def has_hooks(document: Mapping[str, Any]) -> bool:
    """Return whether the program of a document has import hooks."""
    return any(name.startswith(HOOK_PREFIX) for name in document.get("env_set", {}))


def report_to(report: HookReport, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document whose program appends the readings of its hooks to a report."""
    # Leading slashes keep the size of the environment constant for all process ids.
    path = str(report.path).rjust(32, "/")
    return {**document, "env_set": {**document["env_set"], HOOK_REPORT_VARIABLE: path}}
