"""Preparation of a study: its complete specification, and its race."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import (
    Arm,
    Kind,
    StudySpec,
)
from assay.search.model.searcher import Searcher
from assay.search.races.calibrate import CalibrateRace
from assay.search.races.compare import CompareRace
from assay.search.races.front import FrontRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import BlockRace
from assay.search.races.sweep import SweepRace
from assay.search.races.trial_race import tune_race
from assay.search.space.search_space import SearchSpace
from assay.settings.registry import Registry
from assay.study.booting import boot_settings_of
from assay.study.instance_numbers import with_instance_numbers
from assay.study.laboratory import Laboratory


def varied_settings(spec: StudySpec) -> frozenset[str]:
    """Return the names of the settings that differ between the arms of a study."""
    of_arms = (name for arm in spec.arms for name in arm.configuration)
    return frozenset((*(p.name for p in spec.space.parameters), *of_arms))


def switch_costs_s(spec: StudySpec, registry: Registry) -> dict[str, float]:
    """Return the time to change each setting of a study, in seconds, if it is not zero."""
    costs = {name: registry.get(name).switch_cost_s for name in sorted(varied_settings(spec))}
    return {name: cost_s for name, cost_s in costs.items() if cost_s > 0.0}


def prepared_spec(spec: StudySpec, laboratory: Laboratory) -> StudySpec:
    """Return a specification with the properties that determine the order of launches.

    Raises:
        InvalidInputError, NotPossibleError: as ``boot_settings_of``.
    """
    machine, registry = laboratory.machine, laboratory.registry
    return msgspec.structs.replace(
        with_instance_numbers(spec),
        switch_costs_s=switch_costs_s(spec, registry),
        reboot_settings=boot_settings_of(spec, varied_settings(spec), machine, registry),
    )


def race_of(spec: StudySpec, space: SearchSpace, searcher: Searcher) -> BlockRace:
    """Return the race of a specification.

    Raises:
        InvalidInputError: too few arms, or several objectives with an option for one.
    """
    match spec.kind:
        case Kind.TUNE if spec.objectives:
            return FrontRace(spec, space, searcher)
        case Kind.TUNE:
            return tune_race(spec, space, searcher)
        case Kind.COMPARE:
            if len(spec.arms) < 2:
                raise InvalidInputError(
                    "A comparison needs at least two arms.", "Add another command."
                )
            _demand_known_references(spec.arms)
            return CompareRace(spec)
        case Kind.MEASURE:
            return MeasureRace(spec)
        case Kind.SWEEP:
            if len(spec.arms) < 2:
                raise InvalidInputError(
                    "A sweep needs at least two cells.", "Vary another setting."
                )
            return SweepRace(spec)
        case Kind.CALIBRATE:
            return CalibrateRace(spec)
    raise NotPossibleError(f"This version of assay does not support {spec.kind} studies.")


def _demand_known_references(arms: Sequence[Arm]) -> None:
    """Raise an error if an arm is a step from a missing or later arm.

    Raises:
        InvalidInputError: names the arm.
    """
    before: set[str] = set()
    for arm in arms:
        if arm.parent is not None and arm.parent not in before:
            raise InvalidInputError(
                f"{arm.name!r} is a step from {arm.parent!r}, which is not an earlier arm.",
                "Name an earlier arm.",
            )
        before.add(arm.name)
