"""``glibc.NAME``: tunables of the C library beyond its allocator.

Interface: ``GLIBC_TUNABLES`` (glibc manual, "Tunables": "Elision Tunables", "POSIX Thread
Tunables", "Hardware Capability Tunables"); bounds as printed by ``ld.so --list-tunables`` (2.36).
Versions without a tunable ignore it silently, as do programs with another C library and programs
with raised privileges. Evidence: *set*.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine
from assay.records import (
    Choices,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    Level,
    Plan,
    Range,
    RunFacts,
    Value,
)
from assay.records.configuration import show_value
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import judge_environment
from assay.settings.refusals import out_of_domain

VARIABLE = "GLIBC_TUNABLES"
_MAX_BYTES = 2**40
_SWITCHED = Choices(("on", "off"))
_SPELLED: dict[Value, str] = {"on": "1", "off": "0"}


class GlibcTunable(BaseSetting, frozen=True):
    """One tunable of glibc.

    Attributes:
        tunable: its name in ``GLIBC_TUNABLES``.
        arch: the only architecture that has it; ``None`` for all.
        flag: required processor feature, as the kernel names it.
    """

    name: str
    summary: str
    values: Domain
    tunable: str
    arch: str | None = None
    flag: str | None = None
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "a tunable of glibc; name it to vary it"

    def domain(self, machine: Machine) -> Domain:
        """Return the values of the library; ``resolve`` refuses unsupported ones."""
        return self.values

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one assignment in the list of tunables."""
        value = config[self.name]
        if value not in self.values:
            return out_of_domain(self.name, value, self.values)
        if self.arch is not None and machine.arch != self.arch:
            return Refused(f"{self.tunable} needs {self.arch}, but this machine is {machine.arch}")
        if self.flag is not None and self.flag not in machine.flags and value != "off":
            return Refused(
                f"the processor lacks {self.flag.upper()}, or the kernel disabled it",
                f"If present, /proc/cpuinfo lists `{self.flag}` among its flags; see `tsx=` in"
                " kernel-parameters.txt.",
            )
        return Resolved((EnvSet(name=VARIABLE, value=self._assignment(value)),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the environment; the effect in the library is not visible from outside."""
        value = config[self.name]
        return judge_environment(value, {VARIABLE: self._assignment(value)}, facts)

    def _assignment(self, value: Value) -> str:
        return f"{self.tunable}={_SPELLED.get(value, show_value(value))}"


TUNABLES: tuple[GlibcTunable, ...] = (
    GlibcTunable(
        "glibc.elision",
        "lock elision: mutexes as hardware transactions (Intel TSX)",
        _SWITCHED,
        "glibc.elision.enable",
        arch="x86_64",
        flag="rtm",
    ),
    GlibcTunable(
        "glibc.mutex_spin_count",
        "number of attempts of an adaptive mutex before its thread sleeps",
        Range(0, 32767),
        "glibc.pthread.mutex_spin_count",
    ),
    GlibcTunable(
        "glibc.stack_cache_size",
        "size in bytes of the cache of unused thread stacks (glibc 2.34)",
        Range(0, _MAX_BYTES),
        "glibc.pthread.stack_cache_size",
    ),
    GlibcTunable(
        "glibc.rseq",
        "restartable sequences registered by glibc (2.35)",
        _SWITCHED,
        "glibc.pthread.rseq",
    ),
    GlibcTunable(
        "glibc.x86_non_temporal_threshold",
        "size in bytes above which memcpy uses non-temporal stores",
        Range(0x4040, _MAX_BYTES),
        "glibc.cpu.x86_non_temporal_threshold",
        arch="x86_64",
    ),
    GlibcTunable(
        "glibc.x86_rep_movsb_threshold",
        "size in bytes above which memcpy uses REP MOVSB (glibc 2.32)",
        Range(0x200, _MAX_BYTES),
        "glibc.cpu.x86_rep_movsb_threshold",
        arch="x86_64",
    ),
    GlibcTunable(
        "glibc.x86_rep_stosb_threshold",
        "size in bytes above which memset uses REP STOSB (glibc 2.32)",
        Range(1, _MAX_BYTES),
        "glibc.cpu.x86_rep_stosb_threshold",
        arch="x86_64",
    ),
)
"""All tunables, in the order in which they are listed."""
