"""Checks of a host's state for measurements or for a kind of work.

A check reads below a root (:class:`Host`), compares the result with the demand of a profile
(:class:`Demand`), and returns a :class:`Finding`. A value that cannot be read is *unknown*, never
*ok*.
"""

from assay.machine.checks.check_types import Check, NumberCheck, RuleCheck, WordCheck
from assay.machine.checks.demand import Demand, Profile
from assay.machine.checks.finding import Finding, Remedy, Right, Status, UnreadableError
from assay.machine.checks.host import Host
from assay.machine.checks.registry import BY_ID, CHECKS, UnassessedCheck, examine, read_unassessed
from assay.machine.checks.sampling import CounterReading, Interval, sample_interval

__all__ = [
    "BY_ID",
    "CHECKS",
    "Check",
    "Demand",
    "Finding",
    "Host",
    "Interval",
    "CounterReading",
    "NumberCheck",
    "Profile",
    "Remedy",
    "Right",
    "RuleCheck",
    "Status",
    "UnassessedCheck",
    "UnreadableError",
    "WordCheck",
    "examine",
    "read_unassessed",
    "sample_interval",
]
