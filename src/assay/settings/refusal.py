"""Refusals that several settings share."""

from __future__ import annotations

from assay.records import Domain, Value
from assay.settings.base import Refused


def outside(name: str, value: Value, domain: Domain) -> Refused:
    """The value is none that the setting has here."""
    return Refused(f"{name} cannot be {value!r} here", f"It takes {domain}.")
