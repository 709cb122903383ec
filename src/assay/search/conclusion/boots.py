"""Notes of a study that went from boot to boot."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Configuration, KernelComparison, Kind, Sample, StudySpec
from assay.search.races.compare import compared_arms
from assay.search.races.compare import min_blocks as min_compared_blocks
from assay.search.races.sweep import min_blocks
from assay.search.space.switching import HardToChangeFactors

BOOT_STATE = "boot_state"
"""Kind of the evidence that tells, as ``NAME: TEXT``, what reads otherwise in a boot than when the
study began."""
_MOST = 4
"""Readings that are told of one boot."""


def boot_notes(
    spec: StudySpec, samples: Sequence[Sample], kernels: KernelComparison | None = None
) -> list[str]:
    """Note other readings that differ between boots: the difference may come from them.

    Args:
        spec, samples: of the study.
        kernels: the differences of its kernels, which are listed apart.
    """
    listed = {one.name for one in kernels.differences} if kernels else set[str]()
    costly = HardToChangeFactors.of(spec)
    told: dict[str, None] = {}
    for sample in samples:
        states = [e.note for e in sample.evidence if e.kind == BOOT_STATE and e.note]
        states = [state for state in states if state.partition(": ")[0] not in listed]
        if not states:
            continue
        values = costly.boot(sample.launch.configuration).items()
        # What the study began with needs no telling.
        changed = {name: value for name, value in values if value != spec.pausing[name]}
        more = f" and {len(states) - _MOST} more" if len(states) > _MOST else ""
        readings = ", ".join(_assigned(state) for state in states[:_MOST])
        told[
            f"with {Configuration(changed)} this was otherwise too than when the study began: "
            f"{readings}{more}"
        ] = None
    return list(told)


def boots_words(spec: StudySpec) -> str:
    """How many boots a study takes, as far as that is known before it begins."""
    costly = HardToChangeFactors.of(spec)
    if not costly.pausing:
        return ""
    names = ", ".join(costly.pausing)
    takes = f"{names} {'takes' if len(costly.pausing) == 1 else 'take'} a boot to change"
    if spec.kind is Kind.TUNE:
        return f"{takes}: each block of the search, and of the confirmation, takes several"
    arms = compared_arms(spec)
    levels = [costly.boot(arm.configuration) for arm in arms]
    if all(level == costly.pausing for level in levels):
        return ""
    if all(level == levels[0] for level in levels):
        return f"{takes}: the study pauses for it"
    count = len({tuple(level.items()) for level in levels})
    repeats = spec.design.repeats if spec.design else None
    blocks = repeats or min_blocks(spec) if spec.kind is Kind.SWEEP else min_compared_blocks(spec)
    return (
        f"{takes}: {count} boots in each of {blocks} blocks{'' if repeats else ' or more'}, and "
        "the study pauses for each"
    )


def _assigned(state: str) -> str:
    name, _, text = state.partition(": ")
    return f"{name} {text or 'not there'}"
