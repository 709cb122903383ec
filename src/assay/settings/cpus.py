"""``cpus`` and ``placement``: CPUs that the program may use.

Interface: ``sched_setaffinity(2)``, inherited by every thread and child. Evidence: *seen* in
``/proc/PID/status``. All CPUs are among those that assay itself may use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Cpu, Machine, Program
from assay.machine.root import LIVE, Root
from assay.records import (
    Affinity,
    AnyText,
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Value,
)
from assay.settings import cpu_selection
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.device_locality import is_near, nearest_usable
from assay.settings.evidence import (
    granted,
    observed_cpus,
    refused,
    step_accepted,
    unread_reason,
    unverified,
)
from assay.settings.refusals import out_of_domain
from assay.settings.smt import cpus_for_placement
from assay.settings.threads import candidate_counts
from assay.units import show_count

_PLACEMENT_FUNCTIONS: dict[str, Callable[[Sequence[Cpu], int], tuple[int, ...]]] = {
    "compact": cpu_selection.compact,
    "scatter": cpu_selection.scatter,
    "one-per-core": cpu_selection.one_per_core,
}
_PLACEMENTS = AnyText(f"{', '.join(_PLACEMENT_FUNCTIONS)}, or near:DEVICE-OR-FILE")
_DEFAULT_PLACEMENT = "compact"


class Cpus(BaseSetting, frozen=True):
    """``cpus``: number or list of CPUs."""

    name: str = "cpus"
    summary: str = "CPUs that the program may use: a count, or a list such as 0-3,8"
    root: Root = LIVE
    """Root of the files that ``placement=near:`` reads."""

    def domain(self, machine: Machine) -> Domain:
        """Return counts and lists; ``resolve`` reports invalid ones."""
        return AnyText(f"{_count_range(len(machine.usable))}, or a list such as 0-3,8")

    def default(self, machine: Machine) -> Value | None:
        """Return the number of CPUs that assay may use."""
        return len(machine.usable)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest counts for several threads if CPUs have different caches or nodes."""
        usable = machine.usable
        if len(usable) < 2:
            return "only one CPU is usable"
        if "tbb" in program.runtimes:
            return Suggestion(
                Choices(candidate_counts(machine), ordered=True),
                "oneTBB starts one thread per usable CPU",
            )
        sizes = _natural_sizes(machine)
        if not sizes:
            return (
                "all CPUs share one cache and one node, and no core has two threads: vary"
                " threads instead"
            )
        if program.threads_peak == 1:
            return Suggestion(
                Choices((1,), ordered=True),
                "a single thread loses its cached data when it moves between caches",
            )
        return Suggestion(
            Choices(sizes, ordered=True), "as many CPUs as share a cache, a node or a package"
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return an affinity mask.

        Raises:
            InvalidInputError: the value is neither a count nor a CPU list.
        """
        value = config[self.name]
        if isinstance(value, int) and not isinstance(value, bool):
            placement = str(config.get("placement", _DEFAULT_PLACEMENT))
            usable = cpus_for_placement(config, machine)
            if is_near(placement):
                close = nearest_usable(placement, usable, self.root)
                return (
                    close
                    if isinstance(close, Refused)
                    else _resolve_count(value, _DEFAULT_PLACEMENT, close)
                )
            return _resolve_count(value, placement, usable)
        wanted = _parse(value)
        foreign = sorted(set(wanted) - {cpu.id for cpu in machine.usable})
        if foreign:
            some = (
                f"CPU {foreign[0]} is" if len(foreign) == 1 else f"CPUs {format_list(foreign)} are"
            )
            return Refused(
                f"{some} not among the CPUs that assay may use",
                f"Usable CPUs: {format_list(machine.allowed_cpus)}; "
                f"see taskset -p $$ and the cpuset.",
            )
        return Resolved((Affinity(cpus=wanted),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Compare the mask that was read back with the requested one.

        The program may restrict the mask of its own threads, as OpenMP does when it binds them.
        """
        value = config[self.name]
        count = value if isinstance(value, int) else len(plan.cpus)
        return judge_mask(value, facts, plan.cpus, count)


class Placement(BaseSetting, frozen=True):
    """``placement``: layout of a number of CPUs."""

    name: str = "placement"
    summary: str = "layout of cpus=COUNT: compact, scatter, one-per-core, or near a device"
    root: Root = LIVE
    """Root of the files that ``near:`` reads."""

    def domain(self, machine: Machine) -> Domain:
        """Return three layouts, and proximity to a device or file."""
        return _PLACEMENTS

    def default(self, machine: Machine) -> Value | None:
        """Return the layout of ``cpus=COUNT`` alone."""
        return _DEFAULT_PLACEMENT

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest ``one-per-core`` if cores have several usable threads."""
        if len(machine.cores) == len(machine.usable):
            return "no core has two usable threads; it can be combined with cpus=COUNT"
        if program.threads_peak == 1:
            return "the program has one thread"
        return Suggestion(
            Choices(("one-per-core",)),
            "two threads of one core share its execution units and caches",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a part of ``cpus``; alone, ``one-per-core`` excludes all siblings."""
        value = config[self.name]
        if value not in _PLACEMENT_FUNCTIONS and not is_near(value):
            return out_of_domain(self.name, value, _PLACEMENTS)
        count = config.get("cpus")
        if isinstance(count, int):
            return Resolved((), note="selects the CPUs for cpus")
        if count is not None:
            return Resolved((), degraded=f"no effect: cpus={count} is a list of CPUs")
        if is_near(value):
            return self._near(str(value), cpus_for_placement(config, machine))
        if value != "one-per-core":
            return Resolved((), degraded="no effect unless cpus is a count")
        return Resolved((Affinity(cpus=cpu_selection.one_per_core(machine.usable)),))

    def _near(self, value: str, usable: Sequence[Cpu]) -> Resolved | Refused:
        close = nearest_usable(value, usable, self.root)
        if isinstance(close, Refused):
            return close
        everywhere = len(close) == len(usable)
        return Resolved(
            (Affinity(cpus=tuple(cpu.id for cpu in close)),),
            note="all usable CPUs are equally near" if everywhere else None,
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mask, if the plan has one."""
        value = config[self.name]
        if not plan.cpus:
            return unverified(value, "the plan has no affinity mask as evidence")
        return judge_mask(value, facts, plan.cpus, len(plan.cpus))


def remaining_cpus(config: Configuration, machine: Machine) -> tuple[int, ...]:
    """Return the CPUs that a program under ``config`` leaves free, as far as known."""
    taken: set[int] = set()
    for setting in (Cpus(), Placement()):
        if setting.name in config:
            answer = setting.resolve(config, machine)
            actions = answer.actions if isinstance(answer, Resolved) else ()
            taken.update(cpu for a in actions if isinstance(a, Affinity) for cpu in a.cpus)
    return tuple(cpu for cpu in machine.allowed_cpus if taken and cpu not in taken)


def _count_range(max_count: int) -> str:
    return "the count 1" if max_count == 1 else f"a count from 1 to {max_count}"


def _resolve_count(count: int, placement: str, usable: Sequence[Cpu]) -> Resolved | Refused:
    if placement not in _PLACEMENT_FUNCTIONS:
        return out_of_domain("placement", placement, _PLACEMENTS)
    one_each = placement == "one-per-core"
    most = len({cpu.core for cpu in usable}) if one_each else len(usable)
    if not 1 <= count <= most:
        available = show_count(most, "core" if one_each else "CPU")
        first = '; CPU 0 alone is the list cpus="0-0"' if count == 0 else ""
        return Refused(f"assay may use {available} here", f"Use {_count_range(most)}{first}.")
    return Resolved((Affinity(cpus=_PLACEMENT_FUNCTIONS[placement](usable, count)),))


def _parse(value: Value) -> tuple[int, ...]:
    cpus = parse_list(str(value))
    if not cpus or isinstance(value, (bool, float)):
        raise InvalidInputError(
            f"Invalid value: cpus={value!r}.", 'Use a count, or a list in quotes: cpus="0-3,8".'
        )
    return cpus


def judge_mask(value: Value, facts: RunFacts, requested: tuple[int, ...], count: int) -> Grant:
    """Check that the mask is within ``requested`` and has at most ``count`` CPUs."""
    if step_accepted(facts, "affinity") is False:
        return refused(value, Level.SET, "the kernel rejected the mask")
    seen = observed_cpus(facts)
    if seen is None:
        return unverified(value, unread_reason(facts, "cpus"))
    observed = f"ran on {format_list(seen)}"
    if requested and not set(seen) <= set(requested):
        return refused(value, Level.SEEN, f"requested {format_list(requested)}", observed)
    if len(seen) > count:
        asked_for = f"requested {show_count(count, 'CPU')}, {len(seen)} seen"
        return refused(value, Level.SEEN, asked_for, observed)
    if len(seen) < count:
        return granted(value, Level.SEEN, observed, "the program restricted its mask itself")
    return granted(value, Level.SEEN, observed)


def _natural_sizes(machine: Machine) -> tuple[int, ...]:
    """Return the sizes of caches, nodes and packages in CPUs, and the number of cores."""
    usable = machine.usable
    sizes = {
        max(len(group) for group in cpu_selection.groups(usable, level))
        for level in ("l3", "node", "package")
    }
    sizes.add(len(machine.cores))
    return tuple(sorted(sizes - {len(usable)}))
