"""``sched`` and ``nice``: scheduling class and nice value of the program.

Interfaces: ``sched_setscheduler(2)``, ``sched_setattr(2)``, ``setpriority(2)``, ``sched(7)``;
inherited by children, except ``deadline``.

Evidence: *seen* in ``/proc/PID/stat``. Nice values are relative to programs of the same autogroup
(sched(7), "The autogroup feature").
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list
from assay.machine.document import Machine, Program
from assay.records import (
    AnyText,
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Range,
    RunFacts,
    Sched,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.cpus import remaining_cpus
from assay.settings.evidence import (
    granted,
    readback_of,
    refused,
    step_accepted,
    unread_reason,
    unverified,
)
from assay.settings.refusals import out_of_domain
from assay.units import parse_duration_s, show_count

_POLICIES = AnyText(
    "other, batch, idle, fifo:PRIORITY or rr:PRIORITY (1 to 99), or deadline:RUNTIME/PERIOD"
)
_MIN_RUNTIME_NS = 1024
_MAX_PRIORITY = 99
_DEFAULT_RT_SHARE = 0.95
"""Default of ``sched_rt_runtime_us`` as a share of ``sched_rt_period_us``."""
_RESERVE_REMEDY = "as root: sysctl kernel.sched_rt_runtime_us=950000"


class SchedulingClass(BaseSetting, frozen=True):
    """``sched``: the scheduling class.

    A program of a real-time class preempts all others, assay included. It is refused if it could
    take all CPU time from them.
    """

    name: str = "sched"
    summary: str = "scheduling class: other, batch, idle; real-time: fifo, rr, deadline"

    def domain(self, machine: Machine) -> Domain:
        """Return all classes; the real-time ones with their parameters."""
        return _POLICIES

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest ``batch`` if the program has more threads than CPUs."""
        usable = len(machine.usable)
        if (program.threads_peak or 1) <= usable:
            return "the program has one CPU per thread"
        return Suggestion(
            Choices(("batch",)),
            f"{program.threads_peak} threads share {show_count(usable, 'CPU')}; batch switches"
            " between them less often",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the scheduling class."""
        value = config[self.name]
        match value:
            case "other" | "batch" | "idle":
                return Resolved((Sched(policy=value),))
            case _:
                wanted = _real_time(str(value))
        match wanted:
            case Sched(policy="deadline"):
                return _deadline(wanted, config, machine)
            case Sched():
                return _with_priority(wanted, config, machine)
            case _:
                return out_of_domain(self.name, value, _POLICIES)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Compare the class and the priority that were read back."""
        value = config[self.name]
        seen = readback_of(facts)
        shown = seen.policy if seen.priority is None else f"{seen.policy}:{seen.priority}"
        wanted = "deadline" if str(value).startswith("deadline:") else value
        grant = _compare(wanted, shown, "policy", facts)
        return msgspec.structs.replace(grant, value=value)


class NiceValue(BaseSetting, frozen=True):
    """``nice``: weight relative to other programs."""

    name: str = "nice"
    summary: str = "nice value: weight relative to other programs on the same CPUs"
    not_suggested: ClassVar[str] = (
        "it changes the weight relative to other programs, without effect on an idle machine"
    )

    def domain(self, machine: Machine) -> Domain:
        """Return the range of the kernel; ``resolve`` refuses values without permission."""
        return Range(-20, 19, step=1)

    def default(self, machine: Machine) -> Value | None:
        """Return the nice value of assay."""
        return machine.rights.nice

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the nice value, if it is permitted."""
        value = config[self.name]
        domain = self.domain(machine)
        if value not in domain or not isinstance(value, int):
            return out_of_domain(self.name, value, domain)
        floor = machine.rights.min_nice
        if value < floor:
            return Refused(
                f"the lowest permitted value here is {floor}",
                "Run as root, or raise the limit: `prlimit --nice`, or `nice` in limits.conf(5).",
            )
        return Resolved((Sched(nice=value),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Compare the nice value that was read back."""
        value = config[self.name]
        return _compare(value, readback_of(facts).nice, "nice", facts)


def _real_time(text: str) -> Sched | None:
    """Return the parameters of a real-time class; ``None`` for other texts."""
    policy, _, rest = text.partition(":")
    if policy == "deadline":
        return _parse_deadline(rest)
    if not rest.isascii() or not rest.isdigit() or not 1 <= int(rest) <= _MAX_PRIORITY:
        return None
    match policy:
        case "fifo" | "rr":
            return Sched(policy=policy, priority=int(rest))
        case _:
            return None


def _parse_deadline(text: str) -> Sched | None:
    try:
        runtime_ns, period_ns = (round(parse_duration_s(t) * 1e9) for t in text.split("/"))
    except (InvalidInputError, ValueError):
        return None
    if not _MIN_RUNTIME_NS <= runtime_ns <= period_ns:
        return None
    return Sched(policy="deadline", runtime_ns=runtime_ns, period_ns=period_ns)


def _with_priority(wanted: Sched, config: Configuration, machine: Machine) -> Resolved | Refused:
    highest = machine.rights.max_rt_priority
    if (wanted.priority or 0) > highest:
        return Refused(
            f"the highest permitted real-time priority here is {highest}"
            if highest
            else "no real-time priority is permitted here",
            "Run as root, or raise the limit: `prlimit --rtprio`, or `rtprio` in limits.conf(5).",
        )
    if _reserves_time(machine) or remaining_cpus(config, machine):
        return Resolved((wanted,))
    return Refused(
        f"a program of class {wanted.policy} on every CPU would stop all other programs, assay"
        f" included: {_no_reserve_reason(machine)}",
        f"Use fewer CPUs, with cpus=COUNT; or {_RESERVE_REMEDY}.",
    )


def _deadline(wanted: Sched, config: Configuration, machine: Machine) -> Resolved | Refused:
    rights = machine.rights
    # Unlike fifo and rr, no resource limit permits it (sched(7)), and it needs the initial
    # namespace.
    if "CAP_SYS_NICE" not in rights.capabilities or rights.user_namespace:
        return Refused("the deadline class needs CAP_SYS_NICE", "Run as root.")
    if {"cpus", "placement", "threads.per_core"} & config.keys():
        return Refused(
            "the deadline class does not support affinity masks: the kernel places such programs"
            " itself",
            "Remove cpus, placement and threads.per_core, or use sched=fifo:PRIORITY.",
        )
    if set(machine.allowed_cpus) != {cpu.id for cpu in machine.cpus}:
        return Refused(
            "the deadline class needs all CPUs, but assay may use only"
            f" {format_list(machine.allowed_cpus)}",
            "See taskset -p $$ and the cpuset, or use sched=fifo:PRIORITY.",
        )
    if "nice" in config:
        return Refused("the deadline class has no nice value", "Remove nice.")
    share = (wanted.runtime_ns or 0) / (wanted.period_ns or 1)
    limit = _DEFAULT_RT_SHARE if machine.rt_share in (None, 1.0) else machine.rt_share or 0.0
    # One task on one CPU: other CPUs remain for other programs.
    if share > limit and (_reserves_time(machine) or len(machine.allowed_cpus) == 1):
        return Refused(
            f"real-time programs may use {limit:.0%} of a CPU, but this requests {share:.0%}",
            "Request less, or raise kernel.sched_rt_runtime_us.",
        )
    return Resolved((wanted,), note="threads and processes that it starts are of class other")


def _reserves_time(machine: Machine) -> bool:
    return machine.rt_share is not None and machine.rt_share < 1


def _no_reserve_reason(machine: Machine) -> str:
    if machine.rt_share is None:
        return "sched_rt_runtime_us cannot be read"
    return "sched_rt_runtime_us reserves no time for other programs"


def _compare(value: Value, seen: Value | None, field: str, facts: RunFacts) -> Grant:
    if step_accepted(facts, f"sched.{field}") is False:
        return refused(value, Level.SET, "the kernel rejected it")
    if seen is None:
        return unverified(value, unread_reason(facts, field))
    if seen != value:
        return refused(value, Level.SEEN, f"{field} was {seen} when read", f"{field} {seen}")
    return granted(value, Level.SEEN, f"{field} {seen}")
