"""Differences between two machines, or of one machine at two times, without noise.

Two sources are compared: the documents (Machine and Inventory) with the hardware, and the files
with the configuration (:mod:`assay.machine.snapshot.file_groups`). Counters, free memory and
derived values are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.machine.snapshot.scrub import scrub_text

_KEYS = ("id", "name", "address", "slot", "level", "size_bytes", "version", "node", "cpus")
"""Keys that distinguish the members of a list; the first present one counts."""

_ALSO = {"pools": "node", "caches": "kind", "hierarchies": "controllers"}
"""Additional keys of some lists."""

_NOISE = frozenset(
    {
        # The inventory contains the command line too, without digests of hidden values.
        *("machine/allowed_cpus", "machine/rights", "machine/huge_pages", "machine/boot"),
        *("inventory/topology", "inventory/topology_source", "inventory/unavailable"),
    }
)
_IN_FILES = frozenset(
    {
        *("machine/default_state", "machine/system_files"),
        *("inventory/frequencies", "inventory/idle_states"),
        "inventory/mthp",
        *("inventory/pools", "inventory/kernel/mitigations", "inventory/kernel/command_line"),
        *("inventory/smt/control", "inventory/model/clock_source", "inventory/model/clock_sources"),
    }
)
"""Values that the files contain too, with more detail."""

_PRESENT = "present"
"""Replacement of a whole record that the other machine lacks."""

_COUNTERS = frozenset({"free", "mhz"})
_SLACK = 0.02
"""Share by which the memory size of one machine may differ between two boots."""

SUBJECTS = {
    "machine/cpus": "CPUs",
    "machine/flags": "CPUs",
    "machine/model": "CPUs",
    "machine/nodes": "memory",
    "machine/memory_bytes": "memory",
    "machine/libraries": "libraries",
    "machine/kernel": "kernel",
    "machine/kernel_version": "kernel",
    "inventory/caches": "CPUs",
    "inventory/smt": "CPUs",
    "inventory/model": "CPUs",
    "inventory/microcode": "firmware",
    "inventory/firmware": "firmware",
    "inventory/dimms": "memory",
    "inventory/speeds": "memory",
    "inventory/pools": "huge pages",
    "inventory/mthp": "huge pages",
    "inventory/frequencies": "clock",
    "inventory/idle_states": "idle states",
    "inventory/idle_driver": "idle states",
    "inventory/pci": "devices",
    "inventory/devices": "devices",
    "inventory/kernel": "kernel",
    "inventory/control_groups": "control groups",
    "inventory/libraries": "libraries",
    "inventory/limits": "this process",
    "machine/default_state": "settings",
    "machine/cpu_limit": "this process",
    "machine/memory_limit_bytes": "this process",
}
"""Subject of each field of the documents; of all others: ``system``."""

_NUMBERED = re.compile(r"(?<=/)((?:cpu|policy|node|machinecheck)?)(\d+)(?=/|$)")
"""Parts of a path that are the same for many CPUs, nodes or interrupts."""


@dataclass(frozen=True)
class ComparedMachine:
    """A machine at one point in time; a study stores only the Machine.

    ``configuration`` holds files by subject, as :class:`.Recording` does.
    """

    machine: Machine
    inventory: Inventory | None = None
    configuration: Mapping[str, Mapping[str, str]] | None = None


@dataclass(frozen=True)
class Difference:
    """A difference.

    Attributes:
        subject: subject in a word or two.
        path: path of a file, or in the documents; a star stands for the ``numbers``.
        a, b: values of both machines; ``None`` for a missing one.
        numbers: CPUs, nodes or interrupts with this difference.
    """

    subject: str
    path: str
    a: str | None
    b: str | None
    numbers: tuple[int, ...] = ()


def differences(a: ComparedMachine, b: ComparedMachine) -> tuple[Difference, ...]:
    """Return the differences by subject, without data that only one of them has (as in a study)."""
    with_files = a.configuration is not None and b.configuration is not None
    pairs = [("machine", _to_dictionaries(a.machine), _to_dictionaries(b.machine))]
    if a.inventory is not None and b.inventory is not None:
        pairs.append(("inventory", _to_dictionaries(a.inventory), _to_dictionaries(b.inventory)))
    found = [
        Difference(_subject(place), place.partition("/")[2], one, other)
        for name, left, right in pairs
        for place, one, other in _unlike(name, left, right)
        if not _left_out(place, with_files)
    ]
    if len(pairs) == 1 and not with_files:
        found += _options(a.machine.boot.config, b.machine.boot.config)
    if a.configuration is not None and b.configuration is not None:
        for subject in sorted(a.configuration.keys() | b.configuration.keys()):
            left, right = a.configuration.get(subject, {}), b.configuration.get(subject, {})
            found += [
                Difference(subject, path, left.get(path), right.get(path))
                for path in sorted(left.keys() | right.keys())
                if left.get(path) != right.get(path)
            ]
    return tuple(
        sorted(
            _folded(found),
            key=lambda difference: (difference.subject, difference.path, difference.numbers),
        )
    )


def _options(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    """Yield kernel options of machines from studies; an inventory contains them too."""
    for name in sorted(a.keys() | b.keys()) if a and b else ():
        one, other = a.get(name), b.get(name)
        if (one or "n") != (other or "n"):
            yield Difference("kernel", f"boot/config/{name}", one, other)


def _to_dictionaries(value: Any) -> Any:
    """Return a record as dictionaries, with default values but without ``None``."""
    if isinstance(value, msgspec.Struct):
        fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
        return {name: _to_dictionaries(inner) for name, inner in fields if inner is not None}
    if isinstance(value, tuple):
        return tuple(map(_to_dictionaries, value))
    return value


def _subject(place: str) -> str:
    return SUBJECTS.get("/".join(place.split("/")[:2]), "system")


def _left_out(place: str, with_files: bool) -> bool:
    words = place.split("/")
    starts = {"/".join(words[: count + 1]) for count in range(len(words))}
    return bool(starts & _NOISE or (with_files and starts & _IN_FILES) or words[-1] in _COUNTERS)


def _unlike(place: str, a: Any, b: Any) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the paths at which two documents differ, with both values."""
    if _is_record(a, b):
        for key in sorted((a or {}).keys() | (b or {}).keys()):
            yield from _unlike(f"{place}/{key}", (a or {}).get(key), (b or {}).get(key))
    elif _are_records(a, b):
        left, right = (_keyed(value, place) for value in (a, b))
        for key in sorted(left.keys() | right.keys()):
            if key in left and key in right:
                yield from _unlike(f"{place}/{key}", left[key], right[key])
            else:
                here, other_side = (_PRESENT if key in record else None for record in (left, right))
                yield f"{place}/{key}", here, other_side
    elif place == "machine/flags":
        if set(a or ()) != set(b or ()):
            yield (
                place,
                _text(sorted(set(a or ()) - set(b or ()))),
                _text(sorted(set(b or ()) - set(a or ()))),
            )
    elif _text(a) != _text(b) and not (place.endswith("memory_bytes") and _near(a, b)):
        yield place, _text(a), _text(b)


def _is_record(a: Any, b: Any) -> bool:
    return any(isinstance(value, dict) for value in (a, b)) and all(
        value is None or isinstance(value, dict) for value in (a, b)
    )


def _are_records(a: Any, b: Any) -> bool:
    """Return whether both are lists of records, of which one may be empty."""
    found = [value for value in (a, b) if value]
    return bool(found) and all(
        isinstance(value, (list, tuple)) and isinstance(value[0], dict) for value in found
    )


def _keyed(value: Sequence[dict[str, Any]] | None, place: str) -> dict[str, Any]:
    """Return the members of a list by their distinguishing keys."""
    found: dict[str, Any] = {}
    for record in value or []:
        names = [next((key for key in _KEYS if key in record), ""), _ALSO.get(place.split("/")[-1])]
        key = " ".join(str(_text(record[name])) for name in names if name and name in record)
        while key in found:  # caches of the same level and kind, but of different sizes
            key += "'"
        found[key] = record
    return found


def _near(a: Any, b: Any) -> bool:
    return isinstance(a, int) and isinstance(b, int) and abs(a - b) <= _SLACK * max(abs(a), abs(b))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        if not value:
            return ""
        if all(type(part) is int for part in value):
            return format_list(value)
        return (" | " if isinstance(value[0], tuple) else " ").join(map(str, map(_text, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    return scrub_text(str(value))


def _folded(found: list[Difference]) -> Iterator[Difference]:
    """Yield differences that are the same for several CPUs, nodes or interrupts once."""
    alike: dict[tuple[str, str, str | None, str | None], list[int]] = {}
    for difference in found:
        # Paths in documents begin without a slash.
        path = f"/{difference.path}".replace("//", "/")
        match = _NUMBERED.search(path)
        shared = path[: match.start(2)] + "*" + path[match.end(2) :] if match else path
        shared = shared if difference.path.startswith("/") else shared[1:]
        numbers = alike.setdefault((difference.subject, shared, difference.a, difference.b), [])
        if match:
            numbers.append(int(match[2]))
    for (subject, shared, a, b), numbers in alike.items():
        if len(numbers) == 1:
            yield Difference(subject, shared.replace("*", str(numbers[0]), 1), a, b)
        else:
            yield Difference(subject, shared, a, b, tuple(sorted(numbers)))
