"""Native programs: the files of this installation that are not Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.errors import NotPossibleError

LAUNCHER_VARIABLE = "ASSAY_EXEC"
"""Environment variable that names another launcher."""


def native_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the launcher and of all other native programs and libraries."""
    launcher = env.get(LAUNCHER_VARIABLE)
    return Path(launcher).parent if launcher else Path(__file__).parent / "_native"


def find_native(env: Mapping[str, str], name: str, variable: str) -> Path:
    """Return the path of a native program.

    Args:
        env: environment in which ``variable`` may name another build.
        name: file name below the native folder.
        variable: environment variable that overrides the path.

    Raises:
        NotPossibleError: the file is missing or not executable.
    """
    path = Path(env.get(variable) or native_folder(env) / name)
    if not os.access(path, os.X_OK):
        raise NotPossibleError(
            f"The native program {path} is missing or cannot be executed.",
            f"Install assay with `pip install .`, or point {variable} at a built {name}.",
        )
    return path
