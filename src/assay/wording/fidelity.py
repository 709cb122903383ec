"""Sentences on the fidelities of a search."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import FidelityLevel, FidelityResult, Value
from assay.records.configuration import show_value
from assay.units import show_count


def not_used(name: str, low: Sequence[FidelityLevel]) -> str:
    """Return a note on a search whose low fidelities selected nothing.

    Args:
        name: name of the setting.
        low: low fidelities at which the default was launched.
    """
    values = ", ".join(show_value(level.value) for level in low)
    return (
        f"the search did not use low values of {name}: with {values} the default takes more than "
        "half the time of a whole launch, or gives no value; give lower values, or leave "
        "--fidelity out"
    )


def not_compared(name: str) -> str:
    """Return a note on a search without two configurations at both fidelities.

    Args:
        name: name of the setting.
    """
    return (
        f"how well low values of {name} predict the order of the configurations is not known: too "
        "few were launched at both fidelities"
    )


def agreement(result: FidelityResult, full: Value, *, misled: bool) -> str:
    """Return a note on the agreement of the order at low and at full fidelity.

    Args:
        result: result with a tau.
        full: full fidelity.
        misled: whether the low fidelity is shown not to predict the order.
    """
    assert result.tau is not None
    used = next(level for level in result.levels if level.configurations > 1)
    lowest = f"{result.name}={show_value(used.value)}"
    interval = "too few for an interval"
    if result.ci is not None:
        interval = f"95 % interval {result.ci[0]:.2f} to {result.ci[1]:.2f}"
    note = (
        f"{lowest} predicted the order of {show_count(result.configurations, 'configuration')} at "
        f"{show_value(full)} with Kendall's tau {result.tau:.2f} ({interval})"
    )
    if result.ceiling is not None:
        note += f"; two halves of the launches at one fidelity agree with {result.ceiling:.2f}"
    note += f"; {result.top_found} of the best {result.top} were in its best quarter"
    if misled:
        note += (
            "; it misleads, so that the search continued over all configurations with whole "
            "launches: begin with a higher value, or leave --fidelity out"
        )
    return note
