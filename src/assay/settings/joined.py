"""Environment variables that hold a list of assignments, and so are shared between settings.

``GLIBC_TUNABLES`` (glibc manual, "Tunables"), ``MALLOC_CONF`` (jemalloc(3), "TUNING") and
``XZ_DEFAULTS`` (xz(1)). All take the last of two assignments to one name, seen on glibc 2.36,
jemalloc 5.3 and xz 5.4.
"""

from __future__ import annotations

from assay.records.codec import Record


class Joined(Record, frozen=True, kw_only=True):
    """How such a variable is written: what stands between assignments, and within one."""

    between: str
    within: str


JOINED: dict[str, Joined] = {
    "GLIBC_TUNABLES": Joined(between=":", within="="),
    "MALLOC_CONF": Joined(between=",", within=":"),
    "XZ_DEFAULTS": Joined(between=" ", within="="),
}


def merge(name: str, base: str, over: str) -> str:
    """The assignments of ``base`` and ``over``; where both name one thing, ``over`` holds."""
    style = JOINED[name]
    merged = {**_assignments(base, style), **_assignments(over, style)}
    return style.between.join(
        key if value is None else f"{key}{style.within}{value}" for key, value in merged.items()
    )


def contains(name: str, text: str, part: str) -> bool:
    """Whether every assignment of ``part`` holds in ``text``."""
    style = JOINED[name]
    have = _assignments(text, style)
    return all(
        key in have and have[key] == value for key, value in _assignments(part, style).items()
    )


def _assignments(text: str, style: Joined) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for part in text.split(style.between):
        key, mark, value = part.partition(style.within)
        if key:
            found.pop(key, None)
            found[key] = value if mark else None
    return found
