"""OccasionComparison: the same workload under two conditions that were measured apart."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Configuration


class OccasionVerdict(enum.StrEnum):
    """Result of a comparison of two conditions; it speaks of ``b``."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNCLEAR = "unclear"
    UNPROVEN = "unproven"
    """The variance between occasions is not known, so no interval covers it."""


class ConditionSource(enum.StrEnum):
    """Origin of the values of a condition."""

    STUDY = "study"
    BUNDLE = "bundle"
    PUBLISHED = "published"


class Condition(Record, frozen=True, kw_only=True):
    """One side of a comparison: a workload as it was measured on one occasion.

    Attributes:
        name: as the user wrote it.
        source: where the values come from.
        n: number of values: launches, or applications of a setting that is costly to change.
        mean: arithmetic mean, in the unit of the metric.
        sd: standard deviation with n - 1, in the same unit.
        study, stratum, arm, settings: which launches of which study; absent where published.
        at_s: start of the first of these launches, in seconds since 1970 (UTC).
        machine: fingerprint of the machine (processor, CPUs, memory, major version of the kernel).
        model: processor.
        kernel: release.
        about: columns of a published table that name the row.
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
    at_s: float | None = None
    machine: str | None = None
    model: str | None = None
    kernel: str | None = None
    about: str | None = None


class ConditionDifference(Record, frozen=True, kw_only=True):
    """One property in which the two conditions differ.

    Attributes:
        subject: part of the system, in a word or two.
        what: file or place in the documents; a star stands for the ``numbers``.
        a, b: value under either condition; absent where it has none.
        numbers: CPUs, nodes or interrupts for which the difference is the same.
    """

    subject: str
    what: str
    a: str | None = None
    b: str | None = None
    numbers: tuple[int, ...] = ()


class Occasions(Record, frozen=True, kw_only=True):
    """Variance between occasions of one workload on one machine.

    Attributes:
        machine: fingerprint of the machine.
        studies: identities of the studies, one for each occasion, oldest first.
        df: degrees of freedom: occasions less the conditions that they fall into.
        sd_log: standard deviation of the mean logarithm of an occasion.
        span_s: time from the first occasion to the last, in seconds.
    """

    machine: str
    studies: tuple[str, ...]
    df: int
    sd_log: float
    span_s: float


class OccasionComparison(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """``b`` against ``a``, which were measured apart.

    Attributes:
        a, b: the two conditions.
        metric, unit: the figure that is compared; an empty unit is not known.
        ratio: b over a: of geometric means; of arithmetic means where either is published.
        ci_launches: interval of the ratio from the scatter of single launches alone (Welch).
        ci: interval that includes the variance between occasions; absent where that is unknown.
        df_launches, df: degrees of freedom of the two intervals.
        verdict: on ``b``.
        beyond_margin: the near end of ``ci`` lies beyond the margin.
        margin: ratio differences below it count as none.
        alpha: share of wrong intervals accepted.
        published: at least one side is a published summary.
        occasions: studies that the variance between occasions comes from, by machine.
        differences: of the two machines and conditions.
        inseparable: differences between the conditions whose effects cannot be told apart.
        covered: differences between the occasions that ``ci`` includes.
        reason: why the verdict is *unproven* or *unclear*; empty otherwise.
        remedy: next step; empty where there is none.
        notes: limits of the comparison.
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
    inseparable: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()
