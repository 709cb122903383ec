"""Options of allocators: encoding for each allocator, and evidence.

Evidence: *set*: the variable is in the environment of the program, and the allocator that reads it
is mapped. jemalloc reports options that it does not understand on standard error
(``malloc_conf_error``, src/jemalloc.c); that is *seen*. No other effect is visible from outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Configuration,
    Domain,
    Grant,
    GrantStatus,
    Level,
    Plan,
    RunFacts,
    Value,
)
from assay.records.configuration import show_value
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion, set_variables
from assay.settings.evidence import (
    file_name,
    judge_environment,
    mapped_files,
    refused,
    unread_reason,
    unverified,
)
from assay.settings.malloc.library import PREFIXES
from assay.settings.refusals import out_of_domain

_ALL_PREFIXES = tuple(PREFIXES.values())
_COMPLAINT = re.compile(r"^<jemalloc>: ([A-Z][\w -]* conf (?:pair|value)): (\w+):", re.MULTILINE)


class OptionEncoding(msgspec.Struct, frozen=True):
    """Encoding of an option for one allocator: variables, with ``{}`` in place of the value.

    With a ``spelling``, only its values are supported, and are written as it states.
    """

    variables: tuple[tuple[str, str], ...]
    spelling: Mapping[str, str] = msgspec.field(default_factory=dict)

    def texts(self, value: Value) -> dict[str, str] | None:
        """Return the variables for ``value``; ``None`` if the allocator does not support it."""
        spelled = self.spelling.get(str(value)) if self.spelling else show_value(value)
        if spelled is None:
            return None
        return {name: text.format(spelled) for name, text in self.variables}


class AllocatorOption(BaseSetting, frozen=True):
    """An option of one or more allocators.

    Without ``malloc`` the variables of all allocators are set, since the program may use any.
    """

    name: str
    summary: str
    values: Domain
    encodings: Mapping[str, OptionEncoding]
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return the values, which are the same on every machine."""
        return self.values

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason for not suggesting the setting."""
        return f"an option of {_listed(self.encodings)}; name it to vary it"

    def owners(self, domain: Domain) -> tuple[str, ...]:
        """Return the allocators that support at least one value of a domain."""
        values = domain.values()
        if values is None:
            return tuple(self.encodings)
        return tuple(
            name
            for name, encoding in self.encodings.items()
            if any(encoding.texts(value) is not None for value in values)
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the variables of the allocator in use, or of all that have the option."""
        value = config[self.name]
        if value not in self.values:
            return out_of_domain(self.name, value, self.values)
        known = self._known(value)
        malloc = config.get("malloc")
        if malloc is None:
            texts = {name: text for of in known.values() for name, text in of.items()}
            return Resolved(set_variables(texts), note=f"only if the program uses {_listed(known)}")
        if malloc not in known:
            named = (
                self.name if malloc not in self.encodings else f"{self.name}={show_value(value)}"
            )
            return Refused(f"{malloc} does not support {named}", f"Use malloc={_listed(known)}.")
        return Resolved(set_variables(known[str(malloc)]))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mapped allocator, the environment and the messages of the allocator."""
        value = config[self.name]
        found = mapped_files(facts, _ALL_PREFIXES)
        if found is None:
            return unverified(value, unread_reason(facts, "maps"))
        serving = _serving(config, found)
        if serving is None:
            return unverified(value, "more than one allocator is mapped", ", ".join(found))
        requested = config.get("malloc", serving)
        if serving != requested:
            return refused(
                value,
                Level.SEEN,
                f"the option was set for {requested}, but the program uses {serving}",
            )
        expected = self._known(value).get(serving)
        if expected is None:
            known = _listed(self._known(value))
            return refused(
                value,
                Level.SEEN,
                f"the program uses {serving}, which has no such option; {known} has it",
            )
        held = judge_environment(value, expected, facts)
        if held.status is not GrantStatus.GRANTED or serving != "jemalloc":
            return held
        complaint = _complaint(expected, facts.stderr_head or "")
        return held if complaint is None else refused(value, Level.SEEN, complaint)

    def _known(self, value: Value) -> dict[str, dict[str, str]]:
        """Return the variables by allocator, for allocators that support the value."""
        texts = {name: encoding.texts(value) for name, encoding in self.encodings.items()}
        return {name: found for name, found in texts.items() if found is not None}


def _serving(config: Configuration, found: tuple[str, ...]) -> str | None:
    """Return the allocator in use; ``None`` if the mapped files are ambiguous."""
    names = [
        name
        for name, prefix in PREFIXES.items()
        if any(file_name(path).startswith(prefix) for path in found)
    ]
    requested = config.get("malloc")
    if requested in names:
        return str(requested)
    if len(names) > 1:
        return None
    return names[0] if names else "glibc"


def _complaint(expected: Mapping[str, str], errors: str) -> str | None:
    ours = {part.partition(":")[0] for part in expected.get("MALLOC_CONF", "").split(",")}
    for kind, key in _COMPLAINT.findall(errors):
        if key in ours:
            return f"jemalloc reports: {kind}: {key}"
    return None


def _listed(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
