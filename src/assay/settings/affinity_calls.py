"""``affinity.calls``: answer to the program's own calls that choose CPUs.

A filter of system calls answers ``sched_setaffinity`` in place of the kernel, for the program and
its children. It shows whether the program's own pinning helps. Where assay sets an affinity mask,
it does so before the filter is installed.

Interfaces: ``seccomp(2)``, ``Documentation/userspace-api/seccomp_filter.rst`` (Linux 3.17;
inherited over fork and exec). Evidence: *seen*: ``Seccomp_filters`` in ``/proc/PID/status`` counts
one more than the launcher has.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine
from assay.records import (
    AffinityCalls,
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import (
    granted,
    readback_of,
    refused,
    step_accepted,
    unread_reason,
    unverified,
)
from assay.settings.refusals import out_of_domain
from assay.units import show_count

NAME = "affinity.calls"
_ALLOWED = "allowed"
_DOMAIN = Choices((_ALLOWED, "ignored", "refused"))


class AffinityCallSetting(BaseSetting, frozen=True):
    """``affinity.calls``: answer to the program's own choice of CPUs."""

    name: str = NAME
    summary: str = "answer to the program's own calls that choose CPUs: allowed, ignored, refused"
    not_suggested: ClassVar[str] = "it denies calls to the program; name it to try it"

    def domain(self, machine: Machine) -> Domain:
        """Return the three answers."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return ``allowed``: the kernel answers."""
        return _ALLOWED

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a filter of system calls, if the kernel supports them."""
        value = config[self.name]
        match value:
            case "allowed":
                return Resolved(())
            case "ignored" | "refused" if not machine.rights.call_filters:
                return Refused(
                    f"Linux {machine.kernel} has no system-call filters here",
                    "It needs a kernel with CONFIG_SECCOMP_FILTER.",
                )
            case "ignored" | "refused":
                return Resolved((AffinityCalls(answer=value),))
            case _:
                return out_of_domain(self.name, value, _DOMAIN)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the program has one filter more than the launcher."""
        value = config[self.name]
        if value == _ALLOWED:
            return granted(value, Level.SET)
        took = step_accepted(facts, "affinity_calls")
        if took is False:
            return refused(value, Level.SET, "the kernel rejected the filter")
        filters = readback_of(facts).call_filters
        if filters is None and took and facts.readback is not None:
            return granted(value, Level.SET, reason="this kernel does not count filters")
        if filters is None:
            return unverified(value, unread_reason(facts, "call_filters"))
        if filters < 1:
            return refused(value, Level.SEEN, "the program had no filter when it was read")
        return granted(value, Level.SEEN, show_count(filters, "filter") + " of system calls")
