"""Profile files: requirements on a host (``[checks]``) and settings (``[set]``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

import assay.machine
from assay.api.files.toml_file import TomlFile, dotted, read_toml
from assay.api.files.toml_positions import Path as Key
from assay.api.files.toml_schema import read_part, read_table
from assay.errors import InvalidInputError, nearest
from assay.machine.checks import BY_ID, Demand, Profile, Status, WordCheck

FOLDER = Path(assay.machine.__file__).parent / "profiles"
"""Folder of the built-in profiles."""

Text = Annotated[str, Meta(min_length=1)]
Words = Annotated[list[Text], Meta(examples=[["performance"]])]
Bound = Annotated[float, Meta(examples=[10])]
Otherwise = Annotated[Literal["warn", "fail", "nothing"], Meta(examples=["warn"])]


class ProfileTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Contents of a profile file."""

    summary: Annotated[Text, Meta(examples=["Times that repeat."])] = ""
    checks: dict[str, Any] = {}
    set: dict[str, Any] = {}


class DemandTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Requirement of one check."""

    otherwise: Otherwise
    accept: Words = []
    at_most: Bound | None = None
    at_least: Bound | None = None
    reason: Annotated[str, Meta(examples=["It moves interrupts."])] = ""
    source: Annotated[str, Meta(examples=["proc_stat(5)"])] = ""


_KEYS = tuple(field.encode_name for field in msgspec.structs.fields(DemandTable))
_VALUE_KEYS = frozenset({"accept", "at_most", "at_least"})


def read_profile(name: str) -> Profile:
    """Read a built-in profile or one of a file.

    Raises:
        InvalidInputError: the profile is unknown or invalid; the error names the position.
    """
    file = read_toml(str(profile_path(name)))
    table = read_table(file, ProfileTable)
    demands: dict[str, Demand] = {}
    for check, key, entry in _entries(file, table.checks, "", ("checks",)):
        if check in demands:
            raise file.error(key, f"{dotted(key)} is defined twice.", "Write it once.")
        demands[check] = _demand(file, check, key, entry)
    if not demands:
        example = '[checks."cpu.governor"]'
        raise file.error(("checks",), "The profile has no checks.", f"Write a table {example}.")
    return Profile(name, table.summary, demands)


def profile_names() -> tuple[str, ...]:
    """Return the names of the built-in profiles."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def profile_path(name: str) -> Path:
    """Return the path of a profile.

    Raises:
        InvalidInputError: neither a built-in profile nor a file.
    """
    own = profile_names()
    if name in own:
        return FOLDER / f"{name}.toml"
    if "/" in name or name.endswith(".toml") or Path(name).is_file():
        return Path(name)
    near = nearest(name, own)
    raise InvalidInputError(
        f"Unknown profile {name!r}.",
        f"Did you mean {near}?" if near else f"Known are {', '.join(own)}; or name a file.",
    )


def _entries(
    file: TomlFile, table: dict[str, Any], prefix: str, key: Key
) -> Iterator[tuple[str, Key, dict[str, Any]]]:
    """Yield check, key and entry: TOML parses ``[checks.cpu.governor]`` as nested tables."""
    for part, value in table.items():
        check, path = f"{prefix}{part}", (*key, part)
        if not isinstance(value, dict):
            raise file.error(
                path, f"{dotted(path)} must be a table.", 'Write otherwise = "warn" in it.'
            )
        deeper = {k: v for k, v in value.items() if isinstance(v, dict) and k not in _KEYS}
        own = {k: v for k, v in value.items() if k not in deeper}
        if own or not deeper:
            yield check, path, own
        yield from _entries(file, deeper, f"{check}.", path)


def _demand(file: TomlFile, check: str, key: Key, entry: dict[str, Any]) -> Demand:
    """Return the requirement of one entry, validated against its check."""
    if check not in BY_ID:
        near = nearest(check, tuple(BY_ID))
        raise file.error(
            key,
            f"Unknown check {check!r}.",
            f"Did you mean {near}?" if near else "docs/reference/machine-checks.md lists all.",
        )
    table = read_part(file, key, entry, DemandTable)
    status = Status.OK if table.otherwise == "nothing" else Status(table.otherwise)
    _demand_fitting(file, check, key, entry, asks=status is not Status.OK)
    return Demand(
        otherwise=status,
        accept=tuple(table.accept),
        at_most=table.at_most,
        at_least=table.at_least,
        reason=table.reason,
        source=table.source,
    )


def _demand_fitting(
    file: TomlFile, name: str, key: Key, entry: dict[str, Any], *, asks: bool
) -> None:
    """Raise an error on values that the check does not use, and on a requirement without values.

    Raises:
        InvalidInputError: an invalid entry; the error names the position.
    """
    check = BY_ID[name]
    takes = sorted(check.demand_keys)
    for given in sorted(entry.keys() & (_VALUE_KEYS - check.demand_keys)):
        remedy = (
            f"Write {' or '.join(takes)}." if takes else "Leave it out: the check has its own rule."
        )
        raise file.error((*key, given), f"{name} takes no {given}.", remedy)
    if asks and takes and not entry.keys() & check.demand_keys:
        remedy = f'Write {" or ".join(takes)}, or otherwise = "nothing".'
        raise file.error(key, f"{name} has no accepted value.", remedy)
    if "accept" in entry and not entry["accept"]:
        raise file.error((*key, "accept"), f"{name} accepts no value.", "Write at least one.")
    if isinstance(check, WordCheck) and check.choices:
        for number, word in enumerate(entry.get("accept", [])):
            if word not in check.choices:
                near = nearest(word, check.choices)
                raise file.error(
                    (*key, "accept", number),
                    f"{name} has no value {word!r}.",
                    f"Did you mean {near}?" if near else f"It has {', '.join(check.choices)}.",
                )
