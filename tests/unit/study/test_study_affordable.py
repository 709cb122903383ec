"""Observations that a calibration shows to be too expensive."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.records import Observation
from assay.records.observation import DEFAULT_OBSERVATIONS
from assay.records.overhead import Cost, Overhead
from assay.study.affordable_observations import with_affordable
from assay.testing.store_contracts import make_overhead, tune_spec

NOTHING, MUCH = Cost(share=0.0, low=-0.01, high=0.01), Cost(share=0.02, low=0.006, high=0.03)
LITTLE = Cost(share=0.004, low=0.003, high=0.005)
SPEC = replace(tune_spec("./app"), requested_observations=None)
MEMORY = (Observation.MEMORY,)


def costing(command: str | None = None, **costs: Cost) -> Overhead:
    """Return a calibration with these costs of memory samples."""
    found = make_overhead("this", 0.0, command)
    figures = {"wall": NOTHING, "user": NOTHING, "sys": NOTHING, **costs}
    return replace(found, costs=(replace(found.costs[0], **figures),))


@pytest.mark.parametrize(
    ("costs", "off"),
    [
        ({}, ()),
        ({"wall": LITTLE}, ()),
        ({"wall": MUCH}, MEMORY),
        ({"cpu": MUCH}, MEMORY),
        ({"sys": MUCH}, ()),  # the kernel divides user and system time by ticks
        ({"spread": NOTHING}, ()),
        ({"spread": Cost(share=0.0005, low=0.0001, high=0.001)}, ()),
        ({"spread": LITTLE}, MEMORY),
    ],
)
def test_expensive_observations_are_disabled(costs: dict[str, Cost], off: object) -> None:
    found = with_affordable(SPEC, [costing(**costs)])
    assert found.disabled_observations == off
    assert found.observations == tuple(
        one for one in DEFAULT_OBSERVATIONS if one not in found.disabled_observations
    )
    assert found.requested_observations is None, "as it was asked"


def test_all_default_observations_can_be_disabled() -> None:
    found = costing(wall=MUCH)
    both = (*found.costs, replace(found.costs[0], observation="scheduling"))
    assert with_affordable(SPEC, [replace(found, costs=both)]).observations == ()


def test_containment_and_preloads_are_never_disabled() -> None:
    found = costing(wall=MUCH)
    kept = [replace(found.costs[0], observation=n) for n in ("containment", "preload jemalloc")]
    assert with_affordable(SPEC, [replace(found, costs=tuple(kept))]) == SPEC


def test_requested_observations_are_kept() -> None:
    asked = replace(SPEC, requested_observations=DEFAULT_OBSERVATIONS)
    assert with_affordable(asked, [costing(wall=MUCH)]) == asked


def test_machine_without_calibration_uses_default_observations() -> None:
    assert with_affordable(SPEC, ()) == SPEC


def test_calibration_of_command_applies_to_that_command_only() -> None:
    own, builtin = costing(SPEC.command_line, wall=MUCH), costing()
    assert with_affordable(SPEC, [costing("sleep 0.01", wall=MUCH), builtin]) == SPEC
    assert with_affordable(SPEC, [own, builtin]).disabled_observations == MEMORY
    assert with_affordable(SPEC, [costing("spin", wall=MUCH)]) == SPEC, "no built-in load"
