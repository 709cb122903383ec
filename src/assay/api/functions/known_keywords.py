"""Check of the keywords of a public function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_type_hints

from assay.api.functions.argument_types import demand_type
from assay.api.functions.keywords import (
    CalibrateKeywords,
    CompareKeywords,
    ConfirmKeywords,
    MeasureKeywords,
    ResumeKeywords,
    RunKeywords,
    SweepKeywords,
    TuneKeywords,
)
from assay.errors import InvalidInputError, nearest

FUNCTIONS: Mapping[str, type] = {
    "tune": TuneKeywords,
    "compare": CompareKeywords,
    "measure": MeasureKeywords,
    "sweep": SweepKeywords,
    "calibrate": CalibrateKeywords,
    "run": RunKeywords,
    "resume": ResumeKeywords,
    "confirm": ConfirmKeywords,
}
"""Keywords of the public functions, by name."""


def demand_known(given: Mapping[str, object], keywords: type, function: str) -> None:
    """Raise on an unknown keyword, or on a value of the wrong type.

    Args:
        given: keywords of the function.
        keywords: typed dictionary of the known ones.
        function: name of the function, for the message.

    Raises:
        InvalidInputError: names the first one.
    """
    hints = get_type_hints(keywords)
    for name, value in given.items():
        if name not in hints:
            raise InvalidInputError(
                f"{function}: unknown keyword {name!r}.", _remedy(name, tuple(hints))
            )
        if name == "until" and isinstance(value, int):
            raise InvalidInputError(
                f"until: invalid value {value}.", f'Write until="steady:{int(value) or 50}".'
            )
        if value is not None:
            demand_type(value, hints[name], name)


def _remedy(name: str, known: tuple[str, ...]) -> str:
    """Return the next step after an unknown keyword."""
    functions = [f"assay.{one}" for one, kind in FUNCTIONS.items() if name in get_type_hints(kind)]
    if functions:
        return f"{name} belongs to {', '.join(functions)}."
    near = nearest(name, known)
    return f"Did you mean {near}?" if near else f"Keywords are {', '.join(sorted(known))}."
