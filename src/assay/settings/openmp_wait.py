"""``omp.wait`` and ``omp.blocktime``: whether idle OpenMP threads spin or sleep, and for how long.

``OMP_WAIT_POLICY`` (OpenMP 5.2, section 21.1.9) is a wish that a runtime's own variable overrules:
``GOMP_SPINCOUNT`` in GNU's (libgomp manual, "GOMP_SPINCOUNT"), ``KMP_BLOCKTIME`` in LLVM's and
Intel's (LLVM/OpenMP runtimes, "KMP_BLOCKTIME"). So both are set beside it, whatever was inherited.
Evidence: *set*; no runtime shows from outside how long it spun.
"""

from __future__ import annotations

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    AnyText,
    Choices,
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
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import (
    degraded,
    judge_environment,
    mapped_files,
    without_user_variables,
)
from assay.settings.openmp import linked_openmp_runtimes
from assay.settings.pools import NO_OPENMP_REASON
from assay.settings.refusals import out_of_domain

BLOCKTIME = "KMP_BLOCKTIME"
SPINS = "GOMP_SPINCOUNT"
POLICY = "OMP_WAIT_POLICY"

_POLICIES = Choices(("active", "passive"))
_WITHOUT_END = {BLOCKTIME: "infinite", SPINS: "INFINITE"}
_OWN: dict[str, dict[str, str]] = {
    "active": _WITHOUT_END,
    "passive": {BLOCKTIME: "0", SPINS: "0"},
}
_SPINS_IN_MS = 100_000
"""libgomp's own estimate (``env.c``), which it calls wrong by up to five times either way."""
_MOST_MS = 2**31 - 1
"""``KMP_MAX_BLOCKTIME``; LLVM takes it as without end."""
_TIMES = AnyText("milliseconds from 0 on, or infinite")
_COUNTS_SPINS = "libgomp counts spins, not time: about so long"


class OpenMPWaitPolicy(msgspec.Struct, frozen=True):
    """``omp.wait``: spin, or sleep at once."""

    name: str = "omp.wait"
    summary: str = "whether idle OpenMP threads spin (active) or sleep at once (passive)"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """The two that OpenMP knows."""
        return _POLICIES

    def default(self, machine: Machine) -> Value | None:
        """Neither: runtimes spin for a while (libgomp about 3 ms, LLVM and Intel 200 ms)."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Where threads spin for long by default, on CPUs that others could use."""
        runtimes = linked_openmp_runtimes(program)
        if not runtimes:
            return NO_OPENMP_REASON
        if len(machine.usable) < 2:
            return "only one CPU is usable"
        if not program.runtimes & {"iomp", "llvm-omp"}:
            return "GNU OpenMP spins for a few milliseconds only; name it to vary it"
        return Suggestion(
            Choices(("passive",)), f"idle threads of {' and '.join(runtimes)} spin for 200 ms"
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The policy, and each runtime's own variable unless ``omp.blocktime`` holds those."""
        value = config[self.name]
        if value not in _POLICIES:
            return out_of_domain(self.name, value, _POLICIES)
        note = "omp.blocktime says for how long" if "omp.blocktime" in config else None
        return Resolved(_set(_of_wait(config)), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether the variables are in the environment."""
        return judge_environment(
            config[self.name], without_user_variables(_of_wait(config), config), facts
        )


class OpenMPBlocktime(msgspec.Struct, frozen=True):
    """``omp.blocktime``: how long an idle thread spins before it sleeps."""

    name: str = "omp.blocktime"
    summary: str = "milliseconds that idle OpenMP threads spin before they sleep, or infinite"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Whole milliseconds, or ``infinite``."""
        return _TIMES

    def default(self, machine: Machine) -> Value | None:
        """The runtime's own; see ``omp.wait``."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """``omp.wait`` tries the ends; what lies between is for those who ask."""
        if not linked_openmp_runtimes(program):
            return NO_OPENMP_REASON
        return "omp.wait has its two ends; name it to try times between them"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """``KMP_BLOCKTIME``, and as many spins for libgomp as it takes for about that time."""
        variables = _of_time(config[self.name])
        if variables is None:
            return out_of_domain(self.name, config[self.name], _TIMES)
        note = None if variables == _WITHOUT_END else f"for libgomp {variables[SPINS]} spins"
        return Resolved(_set(variables), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether the variables are there; *degraded* where libgomp alone is at work."""
        value = config[self.name]
        variables = _of_time(value) or {}
        held = judge_environment(value, without_user_variables(variables, config), facts)
        exact = variables == _WITHOUT_END or variables.get(SPINS) == "0"
        if held.grant is not GrantStatus.GRANTED or exact or not _only_gnu(facts):
            return held
        return degraded(value, held.level, _COUNTS_SPINS, held.observed)


def _of_wait(config: Configuration) -> dict[str, str]:
    value = str(config["omp.wait"])
    own = {} if "omp.blocktime" in config else _OWN.get(value, {})
    return {POLICY: value, **own}


def _of_time(value: Value) -> dict[str, str] | None:
    if value == "infinite":
        return _WITHOUT_END
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_MS:
        return None
    return {BLOCKTIME: str(value), SPINS: str(value * _SPINS_IN_MS)}


def _set(variables: dict[str, str]) -> tuple[EnvSet, ...]:
    return tuple(EnvSet(name=name, value=text) for name, text in variables.items())


def _only_gnu(facts: RunFacts) -> bool:
    return bool(mapped_files(facts, ("libgomp",))) and not mapped_files(
        facts, ("libomp", "libiomp")
    )
