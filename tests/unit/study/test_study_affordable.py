"""Observations that a machine's calibration shows to be dear, and the studies that go without."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.records import Observation
from assay.records.observation import USUAL
from assay.records.overhead import Cost, Overhead
from assay.store.testing import a_spec, an_overhead
from assay.study.affordable import with_affordable

NOTHING, MUCH = Cost(share=0.0, low=-0.01, high=0.01), Cost(share=0.02, low=0.006, high=0.03)
LITTLE = Cost(share=0.004, low=0.003, high=0.005)
SCHEDULING = (Observation.SCHEDULING,)
SPEC = replace(a_spec("./app"), observe=None)


def costing(program: str = "spin", **costs: Cost) -> Overhead:
    """Return a calibration in which memory costs this of a program."""
    found = an_overhead("this", 0.0)
    figures = {"wall": NOTHING, "user": NOTHING, "sys": NOTHING, **costs}
    return replace(found, costs=(replace(found.costs[0], program=program, **figures),))


@pytest.mark.parametrize(
    ("costs", "on"),
    [
        ({}, None),
        ({"wall": LITTLE}, None),
        ({"wall": MUCH}, SCHEDULING),
        ({"sys": MUCH}, SCHEDULING),
        ({"spread": NOTHING}, None),
        ({"spread": Cost(share=0.0005, low=0.0001, high=0.001)}, None),
        ({"spread": LITTLE}, SCHEDULING),
    ],
)
def test_study_goes_without_what_is_dear(costs: dict[str, Cost], on: object) -> None:
    assert with_affordable(SPEC, costing(**costs)).observe == on


def test_all_usual_ones_may_be_dear() -> None:
    found = costing(wall=MUCH)
    both = (*found.costs, replace(found.costs[0], observation="scheduling"))
    assert with_affordable(SPEC, replace(found, costs=both)).observe == ()


def test_observations_asked_for_are_kept() -> None:
    asked = replace(SPEC, observe=USUAL)
    assert with_affordable(asked, costing(wall=MUCH)) == asked


def test_machine_without_calibration_has_the_usual_ones() -> None:
    assert with_affordable(SPEC, None) == SPEC


def test_calibration_of_a_command_tells_of_that_command_alone() -> None:
    assert with_affordable(SPEC, costing("sleep 0.01", wall=MUCH)) == SPEC
    assert with_affordable(SPEC, costing(SPEC.command_line, wall=MUCH)).observe == SCHEDULING
