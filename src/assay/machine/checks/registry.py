"""Registry of all checks, and examination of a host by a profile."""

from __future__ import annotations

from dataclasses import dataclass

from assay.machine.checks import cpu, environment, isolation, kernel, memory
from assay.machine.checks.check_types import Check
from assay.machine.checks.demand import Demand, Profile
from assay.machine.checks.finding import WORST_FIRST, Finding, Status, UnreadableError
from assay.machine.checks.host import Host

CHECKS: tuple[Check, ...] = (
    *isolation.CHECKS,
    *cpu.CHECKS,
    *memory.CHECKS,
    *kernel.CHECKS,
    *environment.CHECKS,
)
BY_ID = {check.id: check for check in CHECKS}


@dataclass(frozen=True)
class UnassessedCheck:
    """A check without a demand, and the reason."""

    id: str
    evidence: str
    reason: str


def examine(host: Host, profile: Profile) -> tuple[Finding, ...]:
    """Return the findings of all checks with a demand, worst first."""
    found = [
        _finding(check, host, profile.demands[check.id])
        for check in CHECKS
        if check.id in profile.demands and profile.demands[check.id].asks
    ]
    return tuple(sorted(found, key=lambda finding: WORST_FIRST.index(finding.status)))


def read_unassessed(host: Host, profile: Profile) -> tuple[UnassessedCheck, ...]:
    """Return the state of the checks for which the profile states that it has no demand."""
    return tuple(
        UnassessedCheck(check.id, _reading_of(check, host), profile.demands[check.id].reason)
        for check in CHECKS
        if check.id in profile.demands and not profile.demands[check.id].asks
    )


def _finding(check: Check, host: Host, demand: Demand) -> Finding:
    try:
        return check.judge(host, demand)
    except UnreadableError as unread:
        return Finding(check.id, Status.UNKNOWN, unread.evidence, unread.remedy)


def _reading_of(check: Check, host: Host) -> str:
    try:
        return check.reading(host)
    except UnreadableError as unread:
        return unread.evidence
