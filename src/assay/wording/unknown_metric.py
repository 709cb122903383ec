"""Next step after a metric that is not defined."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.errors import nearest

_SOURCE = re.compile(r"(?:time_to|final)\(\s*(\w+)[^()]*\)|at\([^()]*\)\.(\w+)")
"""Metric that is derived from reported values, with the name of its source."""
_SUFFIXED = re.compile(r"((?:time_to|final)\([^()]*\))\.\w+")
"""Metric whose name is within its parentheses, with a further name behind them."""
_UNNAMED = re.compile(r"at\([^()]*\)")
"""Metric at a step, without its name."""
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
    suffixed = _SUFFIXED.fullmatch(name)
    if suffixed is not None:
        return f"Write {suffixed[1]}: only at(step=N) is followed by a name."
    if _UNNAMED.fullmatch(name):
        return f"Write {name}.NAME, with the name of a metric of --progress."
    if name == "step_s":
        return "Add --metric step_s, which needs the steps of --progress NAME=REGEX."
    near = nearest(name, tuple(known))
    return f"Did you mean {near}?" if near else _DEFINE
