"""Next step after a metric that is not defined."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.errors import nearest

_SOURCE = re.compile(r"(?:time_to|final)\(\s*(\w+)[^()]*\)|at\([^()]*\)\.(\w+)")
"""Metric that is derived from reported values, with the name of its source."""
_DEFINE = "Name it with --metric NAME=REGEX first."


def unknown_metric_remedy(name: str, known: Collection[str]) -> str:
    """Return the next step after an unknown metric.

    Args:
        name: unknown name.
        known: names of the metrics of the workload, and of built-in ones.
    """
    derived = _SOURCE.fullmatch(name)
    if derived is not None:
        source = derived[1] or derived[2]
        also = "" if source in known else f"--progress '{source}=REGEX' and "
        return f"Add {also}--metric '{name}'."
    if name == "step_s":
        return "Add --metric step_s, which needs the steps of --progress NAME=REGEX."
    near = nearest(name, tuple(known))
    return f"Did you mean {near}?" if near else _DEFINE
