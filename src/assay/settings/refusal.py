"""Refusals that several settings share, and what they rest on."""

from __future__ import annotations

from assay.records import Domain, Value
from assay.settings.base import Refused

STATIC = "is linked statically: nothing can be preloaded"
"""What is said of a program that has no loader (ld.so(8))."""


def is_preloadable(path: str) -> bool:
    """Whether ld.so(8), which splits ``LD_PRELOAD`` and knows no escape, can read it there."""
    return not set(path) & set(" :\t\n")


def outside(name: str, value: Value, domain: Domain) -> Refused:
    """The value is none that the setting has here."""
    return Refused(f"{name} cannot be {value!r} here", f"It takes {domain}.")
