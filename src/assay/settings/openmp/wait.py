"""``omp.wait`` and ``omp.blocktime``: spinning or sleeping of idle OpenMP threads.

``OMP_WAIT_POLICY`` (OpenMP 5.2, section 21.1.9) is a hint that a runtime's own variable overrides:
``GOMP_SPINCOUNT`` in GNU's (libgomp manual, "GOMP_SPINCOUNT"), ``KMP_BLOCKTIME`` in LLVM's and
Intel's (LLVM/OpenMP runtimes, "KMP_BLOCKTIME"). So both are set too, regardless of inherited
values. Evidence: *set*; the spinning time is not visible from outside.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine, Program
from assay.records import (
    AnyText,
    Choices,
    Configuration,
    Domain,
    Grant,
    GrantStatus,
    Level,
    Plan,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion, set_variables
from assay.settings.evidence import (
    degraded,
    judge_environment,
    mapped_files,
    without_user_variables,
)
from assay.settings.pools import NO_OPENMP_REASON, linked_runtimes
from assay.settings.refusals import out_of_domain

BLOCKTIME = "KMP_BLOCKTIME"
SPINS = "GOMP_SPINCOUNT"
POLICY = "OMP_WAIT_POLICY"

_POLICIES = Choices(("active", "passive"))
_WITHOUT_END = {BLOCKTIME: "infinite", SPINS: "INFINITE"}
_RUNTIME_VALUES: dict[str, dict[str, str]] = {
    "active": _WITHOUT_END,
    "passive": {BLOCKTIME: "0", SPINS: "0"},
}
_SPINS_IN_MS = 100_000
"""Estimate of libgomp (``env.c``), which its authors call wrong by up to a factor of five."""
_MAX_MS = 2**31 - 1
"""``KMP_MAX_BLOCKTIME``; LLVM treats it as infinite."""
_TIMES = AnyText("milliseconds from 0, or infinite")
_SPIN_NOTE = "libgomp counts spins instead of time: an approximation"


class OpenMPWaitPolicy(BaseSetting, frozen=True):
    """``omp.wait``: spin or sleep.

    By default, libgomp spins for about 3 ms, LLVM and Intel for 200 ms.
    """

    name: str = "omp.wait"
    summary: str = "idle OpenMP threads spin (active) or sleep at once (passive)"
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return the two policies of OpenMP."""
        return _POLICIES

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest ``passive`` if threads spin for long by default on CPUs of other processes."""
        runtimes = linked_runtimes(program)
        if not runtimes:
            return NO_OPENMP_REASON
        if len(machine.usable) < 2:
            return "only one CPU is usable"
        if not program.runtimes & {"iomp", "llvm-omp"}:
            return "GNU OpenMP spins only for a few milliseconds; name it to vary it"
        return Suggestion(
            Choices(("passive",)), f"idle threads of {' and '.join(runtimes)} spin for 200 ms"
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the policy, and each runtime's own variable without ``omp.blocktime``."""
        value = config[self.name]
        if value not in _POLICIES:
            return out_of_domain(self.name, value, _POLICIES)
        note = "omp.blocktime sets the time" if "omp.blocktime" in config else None
        return Resolved(set_variables(_of_wait(config)), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variables are in the environment."""
        return judge_environment(
            config[self.name], without_user_variables(_of_wait(config), config), facts
        )


class OpenMPBlocktime(BaseSetting, frozen=True):
    """``omp.blocktime``: spinning time of an idle thread before it sleeps."""

    name: str = "omp.blocktime"
    summary: str = "spinning time of idle OpenMP threads in milliseconds, or infinite"
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return integers in milliseconds, and ``infinite``."""
        return _TIMES

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason: ``omp.wait`` tries both extremes already."""
        if not linked_runtimes(program):
            return NO_OPENMP_REASON
        return "omp.wait covers both extremes; name it to try times between them"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return ``KMP_BLOCKTIME``, and the number of spins of libgomp for about that time."""
        variables = _of_time(config[self.name])
        if variables is None:
            return out_of_domain(self.name, config[self.name], _TIMES)
        note = None if variables == _WITHOUT_END else f"{variables[SPINS]} spins in libgomp"
        return Resolved(set_variables(variables), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check the variables; *degraded* if the program uses only libgomp."""
        value = config[self.name]
        variables = _of_time(value) or {}
        held = judge_environment(value, without_user_variables(variables, config), facts)
        exact = variables == _WITHOUT_END or variables.get(SPINS) == "0"
        if held.status is not GrantStatus.GRANTED or exact or not _only_gnu(facts):
            return held
        return degraded(value, held.level, _SPIN_NOTE, held.observed)


def _of_wait(config: Configuration) -> dict[str, str]:
    value = str(config["omp.wait"])
    own = {} if "omp.blocktime" in config else _RUNTIME_VALUES.get(value, {})
    return {POLICY: value, **own}


def _of_time(value: Value) -> dict[str, str] | None:
    if value == "infinite":
        return _WITHOUT_END
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MAX_MS:
        return None
    return {BLOCKTIME: str(value), SPINS: str(value * _SPINS_IN_MS)}


def _only_gnu(facts: RunFacts) -> bool:
    return bool(mapped_files(facts, ("libgomp",))) and not mapped_files(
        facts, ("libomp", "libiomp")
    )
