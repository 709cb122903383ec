"""Redactor: takes what names a host and its user out of documents.

The same thing gets the same token everywhere, so that a document still agrees with the others:
arms keep their names apart, and a plan is still the one of its configuration.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from assay.bundle.identity import Identity
from assay.bundle.names import ADDRESS, USER, NamePattern, is_identifying, name_patterns
from assay.machine.document import machine_in
from assay.machine.launch_environment import VARIABLE_PREFIX
from assay.records import Configuration, Stratum, encode

T = TypeVar("T")

# fmt: off
RESERVED_WORDS = frozenset((
    "again", "alone", "always", "anon", "arg", "args", "blas", "build", "bytes", "check", "clock",
    "command", "commands", "compare", "confirm", "containment", "cores", "counter", "counters",
    "cpu", "cpus", "default", "effective", "energy", "env", "environment", "evidence", "failed",
    "faults", "foreign", "frequency", "full", "gauge", "glibc", "granted", "high", "higher",
    "host", "huge", "instance", "instances", "involuntary", "io", "isa", "jemalloc", "launch",
    "launches", "left",
    "libraries", "limit", "load", "local", "low", "lower", "machine", "major", "malloc", "mean",
    "measure", "median", "memory", "metric", "migrations", "mimalloc", "minor", "mode", "never",
    "nice", "omp", "over", "pad", "peak", "placement", "places", "plan", "policy", "pressure",
    "program", "queue", "rate", "ratio", "reduce", "run", "sample", "samples", "sched",
    "search", "second", "seconds", "set", "setting", "settings", "some", "spec", "speed",
    "spread", "stage", "stderr", "stdout", "steal", "stop", "study", "survey", "swap", "sweep",
    "switches", "sys", "tcmalloc", "thp", "threads", "throttled", "time", "tune", "under",
    "unit", "value", "voluntary", "wait", "wall", "wide", "width",
))
# fmt: on
"""Words by which documents are read: a user of that name keeps it where it stands alone."""

_NAMING_KEY = re.compile(
    r"serial|uuid|guid|wwid|asset|mac$|mac_|address$|addresses$|^host_?name|^fqdn|^domain"
    r"|machine_id|boot_id|^user(_?name)?s?$|^login|^ip(v[46])?$",
    re.IGNORECASE,
)
"""Keys of a machine document that no bundle holds, whatever a later version puts there."""
_NOBODY = 65534

_MOST_REMEMBERED = 100_000
_LONGEST_REMEMBERED = 400
"""Texts whose answer is kept, and their letters: names of arms and paths come in every sample."""


class Redactor:
    """Replaces what names a host or its users by tokens, the same each time.

    Args:
        identity: of the host.
        own: further words by which documents are read (names of settings).
    """

    def __init__(self, identity: Identity, own: Iterable[str] = ()) -> None:
        words = {
            part.lower()
            for word in own
            for part in (*word.split("."), *re.split(r"[^A-Za-z]+", word))
        }
        self._names = name_patterns(identity, RESERVED_WORDS | words)
        self._numbers: dict[tuple[str, str], str] = {}
        self._known: dict[str, tuple[str, Counter[str]]] = {}
        self.replaced: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """The text with tokens in place of names."""
        known = self._known.get(text)
        if known is None:
            known = self._looked_through(text)
            if len(text) <= _LONGEST_REMEMBERED and len(self._known) < _MOST_REMEMBERED:
                self._known[text] = known
        bare, counts = known
        if counts:
            self.replaced.update(counts)
        return bare

    def _looked_through(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()
        lower = text.lower()
        for names in self._names:
            if names.may_be_in(lower):
                text = names.pattern.sub(lambda m, n=names: self._token(m, n, counts), text)  # type: ignore[misc]
        return text, counts

    def _token(self, match: re.Match[str], names: NamePattern, counts: Counter[str]) -> str:
        found = match[0]
        if names.token is ADDRESS and not is_identifying(found):
            return found
        counts[names.token] += 1
        if not names.numbered:
            return names.token
        if match.lastindex and names.token is USER:  # within the path of somebody's home
            before = found[: match.start(1) - match.start()]
            return before + self._numbered(USER, match[1], first=2)
        return self._numbered(names.token, found)

    def _numbered(self, token: str, found: str, first: int = 1) -> str:
        """The token with the number of what it stands for, from the second on."""
        key = token, found.lower()
        if key not in self._numbers:
            count = first + sum(kind == token for kind, _ in self._numbers)
            self._numbers[key] = token if count == 1 else f"{token}{count}"
        return self._numbers[key]

    def _may_hold(self, text: str) -> bool:
        lower = text.lower()
        return any(names.may_be_in(lower) for names in self._names)

    def bytes(self, content: bytes) -> bytes:
        """The same for bytes, which need not be text."""
        text = content.decode("utf-8", "surrogateescape")
        if not self._may_hold(text):
            return content
        return self.text(text).encode("utf-8", "surrogateescape")

    def record(self, record: T) -> T:
        """A document with tokens in place of names, in its keys as well as its values."""
        if not self._may_hold(encode(record).decode()):
            return record
        redacted: T = self._walked(record)
        return redacted

    def stratum(self, stratum: Stratum) -> Stratum:
        """A machine snapshot without what names the machine.

        Of variables only the names are kept: even a short digest can be tried out. Of the machine
        document only what this version knows is kept.
        """
        surroundings = {
            name: "" if name.startswith(VARIABLE_PREFIX) else value
            for name, value in stratum.surroundings.items()
        }
        bare = msgspec.structs.replace(stratum, surroundings=surroundings, host=_host(stratum.host))
        return self.record(bare)

    def _walked(self, value: Any) -> Any:
        match value:
            case enum.Enum():
                return value
            case str():
                return self.text(value)
            case bytes():
                return self.bytes(value)
            case Configuration():
                return Configuration({self.text(k): self._walked(v) for k, v in value.items()})
            case msgspec.Struct():
                fields = value.__struct_fields__
                changed = {name: self._walked(getattr(value, name)) for name in fields}
                return msgspec.structs.replace(value, **changed)
            case dict():
                return {self._walked(k): self._walked(v) for k, v in value.items()}
            case list() | tuple() | frozenset():
                return type(value)(self._walked(item) for item in value)
            case _:
                return value


def _host(document: Mapping[str, Any]) -> dict[str, Any]:
    """A machine document without keys that name it; empty where this version cannot read it."""
    machine = machine_in(document)
    if machine is None:
        return {}
    if machine.rights.uid:
        rights = msgspec.structs.replace(machine.rights, uid=_NOBODY)
        machine = msgspec.structs.replace(machine, rights=rights)
    # Sets have no order of their own, and a bundle always has the same bytes.
    bare: dict[str, Any] = _without_names(msgspec.to_builtins(machine, order="deterministic"))
    return bare


def _without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_names(v) for k, v in value.items() if not _NAMING_KEY.search(k)}
    if isinstance(value, list | tuple):
        return [_without_names(item) for item in value]
    return value
