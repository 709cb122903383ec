"""Boots of a study: their number, and readings that differ between them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Configuration, KernelComparison, Kind, Sample, StudySpec
from assay.search.history.packed_samples import with_evidence
from assay.search.races.compare import compared_arms
from assay.search.races.compare import min_blocks as min_compared_blocks
from assay.search.races.sweep import min_blocks
from assay.search.space.switching import HardToChangeFactors
from assay.wording.boots import (
    boot_search_sentence,
    boot_state_note,
    boots_sentence,
    single_boot_sentence,
)

BOOT_STATE = "boot_state"
"""Kind of evidence on a reading of a boot that differs from the start of the study, as
``NAME: TEXT``."""


def boot_notes(
    spec: StudySpec, samples: Sequence[Sample], kernels: KernelComparison | None = None
) -> list[str]:
    """Return notes on other readings that differ between boots, which may explain a difference.

    Args:
        spec, samples: specification and samples of the study.
        kernels: differences between its kernels, which are listed separately.
    """
    listed = {difference.name for difference in kernels.differences} if kernels else set[str]()
    hard_to_change = HardToChangeFactors.of(spec)
    notes: dict[str, None] = {}
    for sample in with_evidence(samples, BOOT_STATE):
        states = [e.note for e in sample.evidence if e.kind == BOOT_STATE and e.note]
        states = [state for state in states if state.partition(": ")[0] not in listed]
        if not states:
            continue
        values = hard_to_change.boot(sample.launch.configuration).items()
        changed = {name: value for name, value in values if value != spec.reboot_settings[name]}
        notes[boot_state_note(Configuration(changed), states)] = None
    return list(notes)


def boot_announcement(spec: StudySpec) -> str:
    """Return a sentence on the boots that a study takes; empty if it needs none."""
    hard_to_change = HardToChangeFactors.of(spec)
    if not hard_to_change.reboot_settings:
        return ""
    names = tuple(hard_to_change.reboot_settings)
    if spec.kind is Kind.TUNE:
        return boot_search_sentence(names)
    arms = compared_arms(spec)
    levels = [hard_to_change.boot(arm.configuration) for arm in arms]
    if all(level == hard_to_change.reboot_settings for level in levels):
        return ""
    if all(level == levels[0] for level in levels):
        return single_boot_sentence(names)
    count = len({tuple(level.items()) for level in levels})
    repeats = spec.design.repeats if spec.design else None
    blocks = repeats or min_blocks(spec) if spec.kind is Kind.SWEEP else min_compared_blocks(spec)
    return boots_sentence(names, count, blocks, fixed=bool(repeats))
