"""Launch: one intended sample."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Configuration, Value
from assay.records.progress import EndRule


class Stage(enum.StrEnum):
    """Part of a study that a launch belongs to; claims of ``tune`` use only ``CONFIRM``."""

    SURVEY = "survey"
    """Inspects the program and warms it up; its time is not used."""
    GAUGE = "gauge"
    """Measures the time of the default, to plan the search."""
    INTERFERENCE = "interference"
    """Measures the interference of concurrent launches."""
    SCREEN = "screen"
    """Compares configurations at low fidelity, to select those of the search."""
    SEARCH = "search"
    """Selects the winner."""
    REDUCE = "reduce"
    """Determines the settings of the winner that have an effect."""
    CONFIRM = "confirm"
    """Compares arms for claims."""


NON_COMPARING_STAGES = (Stage.SURVEY, Stage.INTERFERENCE, Stage.SCREEN)
"""Stages whose values are not comparable with those of the other stages."""


class Arm(Record, frozen=True, kw_only=True):
    """Named configuration of a study.

    Identical arms (A/A) share a configuration and differ in name.

    Attributes:
        name: name in the study.
        configuration: its settings.
        parent: name of an earlier arm that this one is a step from; the comparison continues until
            that step is decided. Absent: only compared with the first arm.
    """

    name: str
    configuration: Configuration
    parent: str | None = None


class Launch(Record, frozen=True, kw_only=True):
    """One intended sample.

    Attributes:
        configuration: configuration of the launch.
        arm: name of the configuration in this study: ``default``, or the configuration as text.
            Arms of an A/A comparison share a configuration and differ in name.
        stage: part of the study that the launch belongs to.
        block: number of the block within the study, from 0.
        position: position within the block, from 0.
        attempt: number of earlier failures at this position; a first failure is repeated.
        timeout_s: time-out, in seconds; a launch that reaches it is right-censored.
        block_arms: every arm of the block, in order, so that a stopped study can finish the block.
            Set on the launches that begin before the first result of the block is known.
        repeat_application: true if hard-to-change settings are applied again before the launch,
            because claims rest on separate applications (docs/explanation/statistics.md, rule 18).
        cpu_slot: number of the CPU slot that the launch is confined to, from 0, if the study
            divides the CPUs.
        end: rule that ends the launch before its program ends; absent: the program ends by itself.
        fidelity: value of the fidelity of the study, if it is low; absent: the full one. It is not
            part of the configuration.
        process: number of the user's process that ran the trial, from 0; absent for a launch, which
            is a process of its own.
    """

    configuration: Configuration
    arm: str
    stage: Stage
    block: int
    position: int
    attempt: int = 0
    timeout_s: float | None = None
    block_arms: tuple[Arm, ...] | None = None
    repeat_application: bool = False
    cpu_slot: int | None = None
    end: EndRule | None = None
    fidelity: Value | None = None
    process: int | None = None
