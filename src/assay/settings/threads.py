"""``threads`` and ``threads.omp|blas|mkl|numexpr``: number of threads in the pools of a program.

Evidence: *set*. It is not visible from outside whether a runtime obeys its variable; a program may
also size its pools itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from assay.machine.cpulist import show_numbers
from assay.machine.document import Machine, Program
from assay.machine.quota import cpus_within, describe_quota
from assay.records import (
    Choices,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    GrantStatus,
    Level,
    Plan,
    Range,
    RunFacts,
)
from assay.settings import pools
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import (
    degraded,
    file_name,
    judge_environment,
    observed_mask,
    readback_of,
    without_user_variables,
)
from assay.settings.value_text import format_value
from assay.units import show_count

_NARROWER: dict[str, tuple[str, ...]] = {
    "threads.omp": (pools.OPENMP,),
    "threads.blas": pools.BLAS,
    "threads.mkl": pools.MKL,
    "threads.numexpr": pools.NUMEXPR,
}
"""Settings that override variables of broader settings."""


class ThreadCount(BaseSetting, frozen=True):
    """The size of one family of thread pools, or of all."""

    name: str
    summary: str
    variables: tuple[str, ...]
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return any count; more threads than CPUs are allowed, for programs that wait."""
        return Range(1, max(256, 4 * len(machine.cpus)), step=1)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest counts if a pool is known or several threads were seen."""
        usable = len(machine.usable)
        if usable < 2:
            return "only one CPU is usable"
        within = cpus_within(machine.cpu_limit, usable)
        if within < 2:
            return f"a control group limits CPU time to one CPU: {_quota_of(machine)}"
        found = self._pools_of(program)
        if isinstance(found, str):
            return found
        options = candidate_counts(machine)
        reason = ", ".join(found)
        if within < usable:
            reason += f"; {_quota_of(machine)}"
        elif program.threads_peak is not None and program.threads_peak >= usable:
            # The default uses all CPUs already, and runs in any case.
            options = options[:-1]
            reason += f"; by default it ran with {show_count(program.threads_peak, 'thread')}"
        return Suggestion(Choices(options, ordered=True), reason)

    def _pools_of(self, program: Program) -> list[str] | str:
        openmp = pools.linked_runtimes(program)
        blas = pools.linked_runtimes(program, pools.BLAS_RUNTIMES)
        others = _other_pools(program)
        if self.name == "threads.omp":
            return (
                "threads sizes this pool too; name it to vary OpenMP alone"
                if openmp
                else pools.NO_OPENMP_REASON
            )
        if self.name == "threads.mkl":
            if "mkl" not in program.runtimes:
                return "the program does not link oneMKL"
            return "threads sizes this pool too; name it to vary oneMKL alone"
        if self.name == "threads.numexpr":
            if "numexpr" not in program.packages:
                return "no import of numexpr was found in the program"
            return "threads sizes this pool too; name it to vary numexpr alone"
        if self.name == "threads.blas":
            if not blas:
                return "the program links no BLAS library"
            if not (openmp or others):
                return "threads sizes this pool too; the program has no other"
            return [f"{' and '.join(blas)} within {' and '.join(openmp + others)}"]
        found = [f"the program uses {' and '.join(openmp + blas + others)}"] * bool(
            openmp or blas or others
        )
        found += [text for word, text in pools.COMMANDS.items() if file_name(program.argv0) == word]
        if not found and (program.threads_peak or 1) > 1:
            found = ["the program is multithreaded"]
        return found or "no thread pool was found in the program"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return all variables, except those of narrower settings."""
        value = config[self.name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            return Refused(f"invalid value: {self.name}={value!r}", "Use a count of at least 1.")
        variables = self._own_variables(config)
        taken = self._narrower_settings(config)
        crowded = machine.cpu_restriction is not None and value > len(machine.allowed_cpus)
        return Resolved(
            degraded=_mask_reason(machine.allowed_cpus) if crowded else None,
            actions=tuple(
                EnvSet(name=name, value=pools.pool_size_text(name, format_value(value)))
                for name in variables
            ),
            note=f"{' and '.join(taken)} overrides it for some pools" if taken else None,
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variables are in the environment."""
        value = config[self.name]
        sizes = {
            name: pools.pool_size_text(name, format_value(value))
            for name in self._own_variables(config)
        }
        # A run may omit variables that the program was not seen to read.
        planned = {a.name for a in plan.actions if isinstance(a, EnvSet)}
        expected = without_user_variables({n: s for n, s in sizes.items() if n in planned}, config)
        peak = readback_of(facts).threads_peak
        shown = f"{next(iter(expected), 'nothing')}={format_value(value)}"
        threads = f"; {show_count(peak, 'thread')} seen" if peak else ""
        seen = f"{shown} in the environment{threads}"
        held = judge_environment(value, expected, facts, seen)
        mask = observed_mask(facts)
        # More threads than CPUs of the launch are intended; a narrower mask is not.
        if held.status is not GrantStatus.GRANTED or mask is None or not isinstance(value, int):
            return held
        if len(mask) >= min(value, _cpus_had(facts, plan)):
            return held
        return degraded(value, held.level, _mask_reason(mask), seen)

    def _own_variables(self, config: Configuration) -> tuple[str, ...]:
        taken = {
            variable for name in self._narrower_settings(config) for variable in _NARROWER[name]
        }
        return tuple(name for name in self.variables if name not in taken)

    def _narrower_settings(self, config: Configuration) -> list[str]:
        """Return the settings of ``config`` that set a part of these variables, and no others."""
        own = set(self.variables)
        return [name for name, held in _NARROWER.items() if name in config and set(held) < own]


def candidate_counts(machine: Machine) -> tuple[int, ...]:
    """Return powers of two up to the usable CPUs, the number of cores, and all CPUs.

    A lower quota of CPU time, rounded up, replaces the number of CPUs.
    """
    most = cpus_within(machine.cpu_limit, len(machine.usable))
    powers = {2**n for n in range(most.bit_length())}
    return tuple(sorted(n for n in powers | {most, len(machine.cores)} if 1 <= n <= most))


def _quota_of(machine: Machine) -> str:
    return "" if machine.cpu_limit is None else describe_quota(machine.cpu_limit, None)


ALL = ThreadCount(
    name="threads", summary="threads of all known pools", variables=tuple(pools.POOLS)
)
OPENMP = ThreadCount(
    name="threads.omp", summary="threads of OpenMP regions", variables=(pools.OPENMP,)
)
BLAS = ThreadCount(
    name="threads.blas", summary="threads of OpenBLAS, oneMKL, BLIS", variables=pools.BLAS
)
MKL = ThreadCount(name="threads.mkl", summary="threads of oneMKL alone", variables=pools.MKL)
NUMEXPR = ThreadCount(name="threads.numexpr", summary="threads of numexpr", variables=pools.NUMEXPR)


def _mask_reason(mask: Collection[int]) -> str:
    return f"the threads are limited to {show_numbers('CPU', mask)} by a mask"


def _cpus_had(facts: RunFacts, plan: Plan) -> int:
    """Return the number of CPUs of the launch; 0 if unknown."""
    if plan.cpus:
        return len(plan.cpus)
    return (facts.host.cpus if facts.host is not None else None) or 0


def _other_pools(program: Program) -> list[str]:
    found = [text for name, text in pools.PACKAGES.items() if name in program.packages]
    return found + pools.linked_runtimes(program, pools.OTHER_RUNTIMES)
