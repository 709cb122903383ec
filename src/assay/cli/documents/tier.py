"""Types of the documents of ``assay tier``."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record
from assay.tier.doctor import Finding
from assay.tier.meter import Meter
from assay.tier.probe import Probe
from assay.tier.swap import SwapUsage


class TierDoctorAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier doctor``.

    Attributes:
        usable: availability of the pager.
        advisable: availability of the advisor, which needs swap space that accepts pages.
        probe: results of the native probe.
        swap: swap space of the host.
        findings: problems, the most serious first.
    """

    usable: bool
    advisable: bool
    probe: Probe
    swap: SwapUsage
    findings: tuple[Finding, ...]


class TierTopAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier top``.

    Attributes:
        processes: processes with a tier, by process id.
    """

    processes: tuple[Meter, ...]
