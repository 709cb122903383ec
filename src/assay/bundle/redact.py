"""Redactor: replaces identifying names of a host and its user in documents.

Equal names get equal tokens, so that documents remain consistent: arms keep distinct names, and
plans match their configurations.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
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
"""Reserved words of documents: a user of that name is not replaced if it stands alone."""

_NAMING_KEY = re.compile(
    r"serial|uuid|guid|wwid|asset|mac$|mac_|address$|addresses$|^host_?name|^fqdn|^domain"
    r"|machine_id|boot_id|^user(_?name)?s?$|^login|^ip(v[46])?$",
    re.IGNORECASE,
)
"""Keys of machine documents that bundles never contain, even in later versions."""
_NOBODY_UID = 65534

_WITHOUT_TEXT = frozenset((float, int, bool, type(None)))
_MAX_UNCHANGED = 4096
_MAX_CACHED_TEXTS = 100_000
_MAX_CACHED_CHARACTERS = 400
"""Maximum number and length of cached texts: names of arms and paths occur in every sample."""


class Redactor:
    """Replaces identifying names by tokens consistently.

    Args:
        identity: identity of the host.
        own: additional reserved words of documents (names of settings).
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
        self._unchanged: dict[int, Any] = {}
        """Values without names by identity: samples share most of their parts."""

    def text(self, text: str) -> str:
        """Return a text with tokens instead of names."""
        known = self._known.get(text)
        if known is None:
            known = self._redacted(text)
            if len(text) <= _MAX_CACHED_CHARACTERS and len(self._known) < _MAX_CACHED_TEXTS:
                self._known[text] = known
        bare, counts = known
        if not counts:
            return text
        self.replaced.update(counts)
        return bare

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Redact documents again without counting their replacements again."""
        counted = self.replaced.copy()
        try:
            yield
        finally:
            self.replaced = counted

    def _redacted(self, text: str) -> tuple[str, Counter[str]]:
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
        if match.lastindex and names.token is USER:  # within the path of another home directory
            before = found[: match.start(1) - match.start()]
            return before + self._numbered(USER, match[1], first=2)
        return self._numbered(names.token, found)

    def _numbered(self, token: str, found: str, first: int = 1) -> str:
        """Return the token of a name, numbered from the second one on."""
        key = token, found.lower()
        if key not in self._numbers:
            count = first + sum(kind == token for kind, _ in self._numbers)
            self._numbers[key] = token if count == 1 else f"{token}{count}"
        return self._numbers[key]

    def _may_hold(self, text: str) -> bool:
        lower = text.lower()
        return any(names.may_be_in(lower) for names in self._names)

    def bytes(self, content: bytes) -> bytes:
        """Return bytes, not necessarily text, with tokens instead of names."""
        text = content.decode("utf-8", "surrogateescape")
        if not self._may_hold(text):
            return content
        return self.text(text).encode("utf-8", "surrogateescape")

    def record(self, record: T) -> T:
        """Return a record with tokens instead of names, in keys and values."""
        if not self._may_hold(encode(record).decode()):
            return record
        redacted: T = self.value(record)
        return redacted

    def stratum(self, stratum: Stratum) -> Stratum:
        """Return a stratum without identifying properties of the machine.

        Values of variables are removed, because even a short digest can be reversed by trial. Of
        the machine document, only keys known to this version are kept.
        """
        surroundings = {
            name: "" if name.startswith(VARIABLE_PREFIX) else value
            for name, value in stratum.launch_environment.items()
        }
        bare = msgspec.structs.replace(
            stratum, launch_environment=surroundings, host=_host(stratum.host)
        )
        return self.record(bare)

    def value(self, value: Any) -> Any:
        """Return a record or plain value with tokens; one without names is returned itself.

        ``record`` is faster for a large record without names.
        """
        kind = type(value)
        if kind in _WITHOUT_TEXT:
            return value
        if kind is str:
            return self.text(value)
        if id(value) in self._unchanged:
            return value
        walked = self._walked_parts(value)
        if walked is value:
            if len(self._unchanged) >= _MAX_UNCHANGED:
                self._unchanged.clear()
            self._unchanged[id(value)] = value
        return walked

    def _walked_parts(self, value: Any) -> Any:
        match value:
            case enum.Enum():
                return value
            case str():
                return self.text(value)
            case bytes():
                return self.bytes(value)
            case msgspec.Struct():
                fields = {name: getattr(value, name) for name in value.__struct_fields__}
                changed = self._changed(fields)
                return msgspec.structs.replace(value, **changed) if changed else value
            case Configuration():
                bare = {self.text(k): self.value(v) for k, v in value.items()}
                return value if bare == dict(value) else Configuration(bare)
            case dict():
                bare = {self.value(k): self.value(v) for k, v in value.items()}
                same = all(k in bare and bare[k] is v for k, v in value.items())
                return value if same and len(bare) == len(value) else bare
            case list() | tuple() | frozenset():
                items = [self.value(item) for item in value]
                same = all(new is old for new, old in zip(items, value, strict=True))
                return value if same else type(value)(items)
            case _:
                return value

    def _changed(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that differ with tokens."""
        walked = ((name, value, self.value(value)) for name, value in fields.items())
        return {name: bare for name, value, bare in walked if bare is not value}


def _host(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a machine document without identifying keys; empty if this version cannot read it."""
    machine = machine_in(document)
    if machine is None:
        return {}
    if machine.rights.uid:
        rights = msgspec.structs.replace(machine.rights, uid=_NOBODY_UID)
        machine = msgspec.structs.replace(machine, rights=rights)
    # Bundles must be reproducible, and sets have no order.
    bare: dict[str, Any] = _without_names(msgspec.to_builtins(machine, order="deterministic"))
    return bare


def _without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_names(v) for k, v in value.items() if not _NAMING_KEY.search(k)}
    if isinstance(value, list | tuple):
        return [_without_names(item) for item in value]
    return value
