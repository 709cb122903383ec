"""``omp.bind`` and ``omp.places``: binding of OpenMP threads.

OpenMP 5.2, sections 21.1.6 (``OMP_PLACES``) and 21.1.7 (``OMP_PROC_BIND``). Evidence: *seen*: a
bound thread has an affinity mask narrower than the CPUs of the program.
"""

from __future__ import annotations

from assay.machine.cpulist import format_list
from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    GrantStatus,
    Level,
    Plan,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import (
    granted,
    judge_environment,
    readback_of,
    unread_reason,
    unverified,
    without_user_variables,
)
from assay.settings.pools import NO_OPENMP_REASON, linked_runtimes
from assay.settings.refusals import out_of_domain

_BIND = Choices(("false", "close", "spread", "primary"))
_PLACES = Choices(("threads", "cores", "sockets"))


class OpenMPBinding(BaseSetting, frozen=True):
    """``omp.bind``: binding of the threads of a team."""

    name: str = "omp.bind"
    summary: str = "binding of OpenMP threads to places: false, close, spread, primary"

    def domain(self, machine: Machine) -> Domain:
        """Return the policies of OpenMP, with the names of version 5.1 and later."""
        return _BIND

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest binding with an OpenMP runtime and more than one CPU."""
        runtimes = linked_runtimes(program)
        if not runtimes:
            return NO_OPENMP_REASON
        if len(machine.usable) < 2:
            return "only one CPU is usable"
        flat = _is_flat(machine)
        return Suggestion(
            Choices(("close",) if flat else ("close", "spread")),
            f"{' and '.join(runtimes)} may migrate threads between CPUs unless they are bound"
            + ("; close and spread are equivalent on this machine" if flat else ""),
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return ``OMP_PROC_BIND``; ``primary`` is written ``master`` for older runtimes."""
        value = config[self.name]
        if value not in _BIND:
            return out_of_domain(self.name, value, _BIND)
        return Resolved((EnvSet(name="OMP_PROC_BIND", value=_written(value)),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that threads had their own masks."""
        value = config[self.name]
        expected = {"OMP_PROC_BIND": _written(value)}
        held = judge_environment(value, without_user_variables(expected, config), facts)
        if held.status is not GrantStatus.GRANTED or value == "false":
            return held
        return _judge_masks(value, facts, plan)


class OpenMPPlaces(BaseSetting, frozen=True):
    """``omp.places``: places to which OpenMP threads are bound."""

    name: str = "omp.places"
    summary: str = "places that omp.bind uses: hardware threads, cores, sockets"

    def domain(self, machine: Machine) -> Domain:
        """Return the abstract names that every runtime supports."""
        return _PLACES

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest places if cores have several threads and the program uses OpenMP."""
        if not linked_runtimes(program):
            return NO_OPENMP_REASON
        if len(machine.cores) == len(machine.usable):
            return "every core has one usable thread, so threads and cores are the same places"
        return Suggestion(Choices(("threads", "cores")), "cores have several hardware threads")

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return ``OMP_PLACES``."""
        value = config[self.name]
        if value not in _PLACES:
            return out_of_domain(self.name, value, _PLACES)
        action = EnvSet(name="OMP_PLACES", value=str(value))
        bind = config.get("omp.bind")
        if bind == "false":
            return Resolved((action,), degraded="no effect with omp.bind=false")
        note = None if bind else "places alone imply binding: OMP_PROC_BIND is then true"
        return Resolved((action,), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that threads had their own masks."""
        value = config[self.name]
        held = judge_environment(
            value, without_user_variables({"OMP_PLACES": str(value)}, config), facts
        )
        if held.status is not GrantStatus.GRANTED or config.get("omp.bind") == "false":
            return held
        return _judge_masks(value, facts, plan)


def _written(value: Value) -> str:
    # libgomp supports `primary` since GCC 11.3; `master` is deprecated, but all runtimes read it.
    return "master" if value == "primary" else str(value)


def _is_flat(machine: Machine) -> bool:
    usable = machine.usable
    shared = {(cpu.package, cpu.node, cpu.l3) for cpu in usable}
    return len(shared) == 1 and len(machine.cores) == len(usable)


def _judge_masks(value: Value, facts: RunFacts, plan: Plan) -> Grant:
    masks = readback_of(facts).thread_cpus
    if not masks:
        return unverified(value, unread_reason(facts, "thread_cpus"))
    reaches = [set(cpus) for _, cpus in plan.instances]
    reaches = reaches or [set().union(*masks) | set(plan.cpus)]
    narrow = [mask for mask in masks if any(set(mask) < reach for reach in reaches)]
    observed = f"threads on {' | '.join(sorted({format_list(mask) for mask in masks})[:4])}"
    if narrow:
        return granted(value, Level.SEEN, observed)
    return unverified(
        value,
        "no thread had its own mask when read: no parallel region so far, or a single place",
        observed,
    )
