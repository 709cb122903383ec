"""OccasionComparison: the same workload under two conditions, measured on separate occasions."""

from __future__ import annotations

import enum

from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Configuration


class OccasionVerdict(enum.StrEnum):
    """Result of a comparison of two conditions, stated for ``b``."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNCLEAR = "unclear"
    UNPROVEN = "unproven"
    """The variance between occasions is unknown, so no interval includes it."""


class ConditionSource(enum.StrEnum):
    """Origin of the values of a condition."""

    STUDY = "study"
    BUNDLE = "bundle"
    PUBLISHED = "published"


class Condition(Record, frozen=True, kw_only=True):
    """One side of a comparison: the results of a workload on one occasion.

    Attributes:
        name: name given by the user.
        source: origin of the values.
        n: number of values: launches, or applications of a hard-to-change setting.
        mean: arithmetic mean, in the unit of the metric.
        sd: standard deviation with n - 1, in the same unit.
        study: study with the launches; absent for published values.
        stratum: number of the stratum with the launches; absent for published values.
        arm: name of the arm with the launches; absent for published values.
        settings: values by setting of the launches; absent for published values.
        started_at: start of the first of these launches, in seconds since 1970 (UTC).
        machine: fingerprint of the machine (processor, CPUs, memory, major version of the kernel).
        model: processor model.
        kernel: kernel release.
        columns: columns of a published table that identify the row.
    """

    name: str
    source: ConditionSource
    n: int
    mean: float
    sd: float
    study: str | None = None
    stratum: int | None = None
    arm: str | None = None
    settings: Configuration | None = None
    started_at: float | None = None
    machine: str | None = None
    model: str | None = None
    kernel: str | None = None
    columns: str | None = None


class ConditionDifference(Record, frozen=True, kw_only=True):
    """One property in which the two conditions differ.

    Attributes:
        subject: part of the system, in one or two words.
        path: path of a file or position in the documents; a star stands for the ``numbers``.
        a: value under the first condition; absent if it has none.
        b: value under the second condition; absent if it has none.
        numbers: CPUs, nodes or interrupts with the same difference.
    """

    subject: str
    path: str
    a: str | None = None
    b: str | None = None
    numbers: tuple[int, ...] = ()


class Occasions(Record, frozen=True, kw_only=True):
    """Variance between occasions of one workload on one machine.

    Attributes:
        machine: fingerprint of the machine.
        studies: identities of the studies, one for each occasion, oldest first.
        df: degrees of freedom: number of occasions minus number of conditions.
        sd_log: standard deviation of the mean logarithm of an occasion.
        span_s: time from the first occasion to the last, in seconds.
    """

    machine: str
    studies: tuple[str, ...]
    df: int
    sd_log: float
    span_s: float


class OccasionComparison(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Comparison of ``b`` with ``a``, measured on separate occasions.

    Attributes:
        a: first condition.
        b: second condition.
        metric: the compared metric.
        unit: unit of the metric; empty if unknown.
        ratio: ``b`` over ``a``: of geometric means, or of arithmetic means if either is published.
        ci_launches: interval of the ratio from the variance of single launches alone (Welch).
        ci: interval that includes the variance between occasions; absent if that is unknown.
        df_launches: degrees of freedom of ``ci_launches``.
        df: degrees of freedom of ``ci``.
        verdict: result for ``b``.
        beyond_margin: true if the end of ``ci`` that is nearer to 1 lies outside the margin of
            equivalence.
        margin: margin of equivalence of the ratio.
        alpha: accepted error rate of the intervals.
        published: true if at least one side is a published summary.
        occasions: studies that estimate the variance between occasions, by machine.
        differences: differences of the two machines and conditions.
        confounded: confounded differences between the conditions.
        covered_differences: differences between the occasions that ``ci`` includes.
        reason: reason of an *unproven* or *unclear* verdict; empty otherwise.
        remedy: next step; empty if there is none.
        notes: limitations of the comparison.
    """

    a: Condition
    b: Condition
    metric: str
    unit: str = ""
    ratio: float
    ci_launches: tuple[float, float]
    ci: tuple[float, float] | None = None
    df_launches: float
    df: int | None = None
    verdict: OccasionVerdict
    beyond_margin: bool = False
    margin: float
    alpha: float
    published: bool = False
    occasions: tuple[Occasions, ...] = ()
    differences: tuple[ConditionDifference, ...] = ()
    confounded: tuple[str, ...] = ()
    covered_differences: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()
