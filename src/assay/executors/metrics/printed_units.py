"""Units as programs print them after a figure, with their conversion factors."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

_TIMES = {
    "s": ("s", "sec", "secs", "second", "seconds"),
    "ms": ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    "µs": ("µs", "μs", "us", "usec", "usecs", "microsecond", "microseconds"),  # U+00B5, U+03BC
    "ns": ("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
}
_SECONDS = {
    "s": 1.0,
    "ms": 1e-3,
    "µs": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"ki": 2.0**10, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_COUNTED = {
    "B": ("B", "Byte", "Bytes", "byte", "bytes"),
    "bit": ("b", "bit", "bits", "Bit", "Bits"),
    "op": ("op", "ops", "Op", "Ops"),
    "FLOP": ("FLOP", "FLOPs", "Flop", "Flops", "flop", "flops"),
    "Hz": ("Hz", "hz"),
}
_LONG = {
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
}
"""Prefixes written in full, as in ``megabytes``."""
_SCALES = {"thousand": "k", "million": "M", "billion": "G", "trillion": "T"}
_PER_S = ("/s", "/sec", "/second", "ps")
"""Suffixes of a rate: ``MB/s``, ``Mbits/sec``, ``kbps``."""
_BARE = re.compile("[kKMGT]i?(?![A-Za-z0-9_/])")
_RATIO = re.compile("[ \t\u00a0\u202f]?[(\\[]?([A-Za-z]+/[A-Za-z]+)(?![A-Za-z0-9_/])")
_ENCLOSED = re.compile(r"[(\[]([A-Za-zµμ/]+)[)\]]")
_WORD = re.compile(
    r"[ \t\u00a0\u202f]?(?:([A-Za-zµμ]+(?:/[A-Za-z]+)?)(?![A-Za-z0-9_/])"
    r"|[(\[]([A-Za-zµμ]+(?:/[A-Za-z]+)?)[)\]])"
)
_PER_SECOND = re.compile("[ \t]per[ \t]s(?:ec|econd)?(?![A-Za-z0-9_/])")
_AROUND = " \t\r\n\"'()[]{}.,;:"
"""Characters that may surround a captured unit."""


@dataclass(frozen=True)
class PrintedUnit:
    """Unit, with one name for all spellings.

    Attributes:
        name: name, such as ``ms`` or ``MB/s``.
        base: base unit: ``s``, ``bytes``, ``bytes/s``.
        factor: conversion factor to ``base``. ``MB`` is 10^6 bytes and ``MiB`` 2^20 (IEC 80000-13).
    """

    name: str
    base: str
    factor: float


def following_unit(text: str, end: int) -> PrintedUnit | None:
    """Return the known unit directly after ``end``, or after one blank.

    A prefix directly after a figure counts as well, as in ``1397.4k``. So does an unknown ratio
    such as ``it/s``, which is distinguished from others but not converted.

    Args:
        text: printed text.
        end: end of a figure in it.
    """
    found = _WORD.match(text, end)
    word = found and (found[1] or found[2])
    if found and word in UNITS:
        rate = UNITS.get(f"{word}/s") if _PER_SECOND.match(text, found.end()) else None
        return rate or UNITS[word]
    if word in PREFIX_WORDS:
        return PREFIX_WORDS[word]
    bare = _BARE.match(text, end)
    if bare and bare[0] in PREFIXES:
        return PREFIXES[bare[0]]
    ratio = _RATIO.match(text, end)
    return PrintedUnit(ratio[1], "", 1.0) if ratio else None


def captured_unit(text: str) -> PrintedUnit | None:
    """Return the unit that the text of a group is or begins with; ``None`` without one.

    A prefix counts as well: ``M`` of ``2 M rows``.

    Args:
        text: text that a pattern captured as the unit of a figure.
    """
    whole = text.strip(_AROUND)
    known = UNITS.get(whole) or PREFIX_WORDS.get(whole) or PREFIXES.get(whole)
    return known or following_unit(whole, 0) if whole else None


def preceding_unit(text: str) -> PrintedUnit | None:
    """Return the last known unit in brackets: ``clat (usec): min=3, avg=``.

    Args:
        text: text before a figure.
    """
    units = (UNITS.get(found[1]) for found in _ENCLOSED.finditer(text))
    return next(filter(None, reversed(list(units))), None)


def _units() -> dict[str, PrintedUnit]:
    found: dict[str, PrintedUnit] = {}
    for name, words in _TIMES.items():
        found |= {word: PrintedUnit(name, "s", _SECONDS[name]) for word in words}
    for base, words in _COUNTED.items():
        whole = {"B": "bytes", "bit": "bits", "op": "ops"}.get(base, base)
        prefixes = _DECIMAL | (_BINARY if base in ("B", "bit") else {})
        for prefix, factor in prefixes.items():
            shown = {"K": "k", "ki": "Ki"}.get(prefix, prefix)
            for word in words:
                found.setdefault(prefix + word, PrintedUnit(shown + base, whole, factor))
                rate = PrintedUnit(f"{shown}{base}/s", f"{whole}/s", factor)
                for ending in _PER_S:
                    found.setdefault(prefix + word + ending, rate)
    for long, prefix in _LONG.items():
        for base, words in (("B", ("byte", "bytes")), ("b", ("bit", "bits"))):
            for word, ending in itertools.product(words, ("", *_PER_S[:3])):
                found[long + word + ending] = found[prefix + base + ending[:2]]
    # FLOPS is a rate by itself.
    for prefix, factor in _DECIMAL.items():
        shown = "k" if prefix == "K" else prefix
        found[f"{prefix}FLOPS"] = PrintedUnit(f"{shown}FLOP/s", "FLOP/s", factor)
    return found


UNITS = _units()
"""Known units by spelling."""
PREFIXES = {
    word: PrintedUnit("k" if word == "K" else word, "", factor)
    for word, factor in (_DECIMAL | _BINARY).items()
    if word
}
"""Prefixes without a unit, such as ``k``."""
PREFIX_WORDS = {word: PREFIXES[letter] for word, letter in _SCALES.items()}
"""Words for prefixes, such as ``million``."""
