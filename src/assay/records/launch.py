"""Launch: one intended sample."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Configuration


class Stage(enum.StrEnum):
    """Which part of a study a launch belongs to; only ``CONFIRM`` ones enter a claim of ``tune``.

    ``SURVEY`` launches look at the program and warm it up; their times are never used.
    ``INTERFERENCE`` ones show what launches side by side do to each other.
    """

    SURVEY = "survey"
    GAUGE = "gauge"
    INTERFERENCE = "interference"
    SEARCH = "search"
    REDUCE = "reduce"
    CONFIRM = "confirm"


NON_COMPARING_STAGES = (Stage.SURVEY, Stage.INTERFERENCE)
"""Stages that compare no configurations."""


class Arm(Record, frozen=True, kw_only=True):
    """A configuration under the name it has in a study.

    Identical arms (A/A) share a configuration and differ in name.

    Attributes:
        name: in the study.
        configuration: what runs.
        against: name of an arm before it that this is a step from: a comparison goes on until that
            step is decided. ``None``: it is held against the first alone.
    """

    name: str
    configuration: Configuration
    against: str | None = None


class Launch(Record, frozen=True, kw_only=True):
    """One intended sample.

    Attributes:
        arm: name of the configuration in this study; ``default``, or the configuration as text.
            Arms of an A/A comparison share a configuration and differ in name.
        block: number of the block within the study, from 0.
        position: place within the block, from 0.
        roster: on the launches of a block that begin before any of them was told (the first one,
            where one runs at a time), every arm of that block in order, so that a stopped study can
            finish the block it was in.
        attempt: 0, or how often the same place failed before: a first failure is tried again.
        cap_s: the launch is ended after it and counts as right-censored.
        anew: what is costly to change is applied anew before it, though it may hold already: a
            claim rests on separate applications (docs/explanation/statistics.md, rule 18).
        slot: number of the CPUs that it is confined to, from 0, where the study divides them.
    """

    configuration: Configuration
    arm: str
    stage: Stage
    block: int
    position: int
    attempt: int = 0
    cap_s: float | None = None
    roster: tuple[Arm, ...] | None = None
    anew: bool = False
    slot: int | None = None
