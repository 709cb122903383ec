"""Registry: every check, and a host held against a profile."""

from __future__ import annotations

from dataclasses import dataclass

from assay.machine.checks import cpu, isolation, kernel, memory, surroundings
from assay.machine.checks.demand import Demand, Profile
from assay.machine.checks.finding import WORST_FIRST, Finding, Status, Unread
from assay.machine.checks.host import Host
from assay.machine.checks.kinds import Check

CHECKS: tuple[Check, ...] = (
    *isolation.CHECKS,
    *cpu.CHECKS,
    *memory.CHECKS,
    *kernel.CHECKS,
    *surroundings.CHECKS,
)
BY_ID = {check.id: check for check in CHECKS}


@dataclass(frozen=True)
class Unasked:
    """A check of which a profile asks nothing, and why."""

    id: str
    evidence: str
    reason: str


def examine(host: Host, profile: Profile) -> tuple[Finding, ...]:
    """What each check that the profile counts says, worst first."""
    found = [
        _finding(check, host, profile.demands[check.id])
        for check in CHECKS
        if check.id in profile.demands and profile.demands[check.id].asks
    ]
    return tuple(sorted(found, key=lambda finding: WORST_FIRST.index(finding.status)))


def unasked(host: Host, profile: Profile) -> tuple[Unasked, ...]:
    """What is there of those checks of which the profile says that it asks nothing."""
    return tuple(
        Unasked(check.id, _seen(check, host), profile.demands[check.id].reason)
        for check in CHECKS
        if check.id in profile.demands and not profile.demands[check.id].asks
    )


def _finding(check: Check, host: Host, demand: Demand) -> Finding:
    try:
        return check.judge(host, demand)
    except Unread as unread:
        return Finding(check.id, Status.UNKNOWN, unread.evidence, unread.remedy)


def _seen(check: Check, host: Host) -> str:
    try:
        return check.look(host)
    except Unread as unread:
        return unread.evidence
