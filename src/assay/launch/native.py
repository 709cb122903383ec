"""Native: where the programs of this installation are that are not Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.errors import NotPossible
from assay.installed import native_folder


def find_native(env: Mapping[str, str], name: str, variable: str) -> Path:
    """A native program: the one that ``variable`` names, else that beside the launcher.

    Raises:
        NotPossible: there is none.
    """
    path = Path(env.get(variable) or native_folder(env) / name)
    if not os.access(path, os.X_OK):
        raise NotPossible(
            f"The native program {path} is missing or cannot be executed.",
            f"Install assay with `pip install .`, or point {variable} at a built {name}.",
        )
    return path
