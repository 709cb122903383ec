"""Installed: the folder of this installation's native parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

LAUNCHER = "ASSAY_EXEC"
"""Variable that names another launcher."""


def native_folder(env: Mapping[str, str]) -> Path:
    """Where the launcher is, and beside it all that is not Python."""
    launcher = env.get(LAUNCHER)
    return Path(launcher).parent if launcher else Path(__file__).parent / "_native"
