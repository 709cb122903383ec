"""Conditions of a study that have changed: the error and its next steps."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence


def changed_conditions(changed: Sequence[str]) -> str:
    """Return the cause of the error.

    Args:
        changed: differences, one line each.
    """
    lines = "\n    ".join(changed)
    return f"Samples from before and after cannot be pooled:\n    {lines}"


def restore_conditions(unset: Sequence[str]) -> str:
    """Return the next step on the command line.

    Args:
        unset: variables that were not set then.
    """
    options = " ".join(f"-u {shlex.quote(name)}" for name in unset)
    command = f"env {options} assay study resume ..." if unset else ""
    return _restore(command, "--new-stratum")


def restore_conditions_in_python(unset: Sequence[str]) -> str:
    """Return the next step in Python.

    Args:
        unset: variables that were not set then.
    """
    variables = ", ".join(f"os.environ[{json.dumps(name)}]" for name in unset)
    return _restore(f"del {variables}" if unset else "", "new_stratum=True")


def _restore(unsetting: str, option: str) -> str:
    example = f" (`{unsetting}` unsets variables that were not set then)" if unsetting else ""
    return f"Restore them{example}, or measure separately with {option}."
