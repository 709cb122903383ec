"""An option of allocators: how each is told, and whether the one that serves was.

Evidence: *set*: the variable stands in the environment of the program, and the allocator that
reads it is the one in its maps. jemalloc says on the error output what it does not understand
(``malloc_conf_error``, src/jemalloc.c); that is *seen*. Nothing outside shows more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Configuration,
    Domain,
    EnvSet,
    Grant,
    GrantStatus,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
)
from assay.records.configuration import show_value
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import (
    judge_environment,
    mapped_files,
    refused,
    unread_reason,
    unverified,
)
from assay.settings.malloc import PREFIXES
from assay.settings.refusals import out_of_domain

_ALL_PREFIXES = tuple(PREFIXES.values())
_COMPLAINT = re.compile(r"^<jemalloc>: ([A-Z][\w -]* conf (?:pair|value)): (\w+):", re.MULTILINE)


class OptionEncoding(msgspec.Struct, frozen=True):
    """How one allocator is told: variables, with ``{}`` where the value belongs.

    With a ``spelling`` it has these values only, and spells them so.
    """

    variables: tuple[tuple[str, str], ...]
    spelling: Mapping[str, str] = msgspec.field(default_factory=dict)

    def texts(self, value: Value) -> dict[str, str] | None:
        """What the variables hold for ``value``; ``None`` where it has no such value."""
        spelled = self.spelling.get(str(value)) if self.spelling else show_value(value)
        if spelled is None:
            return None
        return {name: text.format(spelled) for name, text in self.variables}


class AllocatorOption(msgspec.Struct, frozen=True):
    """One option of one or more allocators.

    Where ``malloc`` is left alone all of them are told, since the program may bring any.
    """

    name: str
    summary: str
    values: Domain
    told: Mapping[str, OptionEncoding]
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """The same on every machine."""
        return self.values

    def default(self, machine: Machine) -> Value | None:
        """That of the allocator, whichever serves."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return f"an option of {_listed(self.told)}: name it to vary it"

    def owners(self, domain: Domain) -> tuple[str, ...]:
        """The allocators that have it, with one of these values at least."""
        values = domain.values()
        if values is None:
            return tuple(self.told)
        return tuple(
            name
            for name, told in self.told.items()
            if any(told.texts(value) is not None for value in values)
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The variables of the allocator in use, or of all that have the option."""
        value = config[self.name]
        if value not in self.values:
            return out_of_domain(self.name, value, self.values)
        known = self._known(value)
        malloc = config.get("malloc")
        if malloc is None:
            texts = {name: text for of in known.values() for name, text in of.items()}
            return Resolved(_actions(texts), note=f"where {_listed(known)} serves the program")
        if malloc not in known:
            what = self.name if malloc not in self.told else f"{self.name}={show_value(value)}"
            return Refused(f"{malloc} has no {what}", f"Use malloc={_listed(known)}.")
        return Resolved(_actions(known[str(malloc)]))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By the allocator that is mapped, what it was told, and what it says to that."""
        value = config[self.name]
        found = mapped_files(facts, _ALL_PREFIXES)
        if found is None:
            return unverified(value, unread_reason(facts, "maps"))
        serving = _serving(config, found)
        if serving is None:
            return unverified(value, "more than one allocator is mapped", ", ".join(found))
        asked = config.get("malloc", serving)
        if serving != asked:
            return refused(value, Level.SEEN, f"{asked} was told, but {serving} allocates")
        expected = self._known(value).get(serving)
        if expected is None:
            known = _listed(self._known(value))
            return refused(
                value, Level.SEEN, f"{serving} allocates, and has no such option; {known} would"
            )
        held = judge_environment(value, expected, facts)
        if held.grant is not GrantStatus.GRANTED or serving != "jemalloc":
            return held
        complaint = _complaint(expected, facts.stderr_head or "")
        return held if complaint is None else refused(value, Level.SEEN, complaint)

    def _known(self, value: Value) -> dict[str, dict[str, str]]:
        """Allocator -> variables, of those that have this value."""
        texts = {name: told.texts(value) for name, told in self.told.items()}
        return {name: found for name, found in texts.items() if found is not None}


def _actions(texts: Mapping[str, str]) -> tuple[EnvSet, ...]:
    return tuple(EnvSet(name=name, value=text) for name, text in texts.items())


def _serving(config: Configuration, found: tuple[str, ...]) -> str | None:
    """The allocator that serves; ``None`` where the maps leave it open."""
    names = [
        name
        for name, prefix in PREFIXES.items()
        if any(path.rsplit("/", 1)[-1].startswith(prefix) for path in found)
    ]
    asked = config.get("malloc")
    if asked in names:
        return str(asked)
    if len(names) > 1:
        return None
    return names[0] if names else "glibc"


def _complaint(expected: Mapping[str, str], told: str) -> str | None:
    ours = {part.partition(":")[0] for part in expected.get("MALLOC_CONF", "").split(",")}
    for what, key in _COMPLAINT.findall(told):
        if key in ours:
            return f"jemalloc says: {what}: {key}"
    return None


def _listed(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
