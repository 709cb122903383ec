"""Environment variables that contain a list, so that several settings share them.

``GLIBC_TUNABLES`` (glibc manual, "Tunables"), ``MALLOC_CONF`` (jemalloc(3), "TUNING") and
``XZ_DEFAULTS`` (xz(1)) contain assignments. The last of two assignments to one name counts, as
tested with glibc 2.36, jemalloc 5.3 and xz 5.4. ``PYTHONPATH`` (python(1)) contains directories, of
which the first match counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.records.codec import Record


class ListFormat(Record, frozen=True, kw_only=True):
    """Format of a list variable.

    Attributes:
        separator: text between two assignments.
        within: text between name and value.
        folders: True for directories instead of assignments; new ones are prepended.
    """

    separator: str
    within: str = "="
    folders: bool = False


TUNABLES = "GLIBC_TUNABLES"
_TUNABLE_PREFIX = "glibc."

LIST_VARIABLES: dict[str, ListFormat] = {
    TUNABLES: ListFormat(separator=":", within="="),
    "MALLOC_CONF": ListFormat(separator=",", within=":"),
    "XZ_DEFAULTS": ListFormat(separator=" ", within="="),
    "PYTHONPATH": ListFormat(separator=":", folders=True),
}


def merge(name: str, base: str, over: str) -> str:
    """Return the assignments of both texts; ``over`` takes precedence."""
    style = LIST_VARIABLES[name]
    if style.folders:
        first = _folders(over, style)
        left = (folder for folder in _folders(base, style) if folder not in first)
        return style.separator.join((*first, *left))
    merged = {**_assignments(base, style), **_assignments(over, style)}
    return style.separator.join(
        key if value is None else f"{key}{style.within}{value}" for key, value in merged.items()
    )


def contains(name: str, text: str, part: str) -> bool:
    """Return whether ``text`` contains every assignment of ``part``."""
    style = LIST_VARIABLES[name]
    if style.folders:
        return set(_folders(part, style)) <= set(_folders(text, style))
    have = _assignments(text, style)
    return all(
        key in have and have[key] == value for key, value in _assignments(part, style).items()
    )


def _folders(text: str, style: ListFormat) -> list[str]:
    """Return the directories; an empty one is the working directory, so none is dropped."""
    return text.split(style.separator) if text else []


def names_in(name: str, text: str) -> tuple[str, ...]:
    """Return the names that ``text`` assigns."""
    return tuple(_assignments(text, LIST_VARIABLES[name]))


def restore_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment as it was passed to its program.

    Up to version 2.38 glibc splits ``GLIBC_TUNABLES`` at its colons in place (``parse_tunables`` in
    elf/dl-tunables.c), so that ``/proc/PID/environ`` shows every assignment but the first as a
    separate variable.
    """
    found = {name: text for name, text in environ.items() if not name.startswith(_TUNABLE_PREFIX)}
    cut = [f"{name}={text}" for name, text in environ.items() if name.startswith(_TUNABLE_PREFIX)]
    if cut and TUNABLES in found:
        found[TUNABLES] = LIST_VARIABLES[TUNABLES].separator.join((found[TUNABLES], *cut))
    return found


def _assignments(text: str, style: ListFormat) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for part in text.split(style.separator):
        key, mark, value = part.partition(style.within)
        if key:
            found.pop(key, None)
            found[key] = value if mark else None
    return found
