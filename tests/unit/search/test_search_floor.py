"""Noise floor of a machine beside claims of other studies."""

from __future__ import annotations

import msgspec
import pytest
from simulated_studies import compare, factors

from assay.records import Budget, Conclusion, MachineFloor, Verdict
from assay.records.calibration import BUILT_IN_LOAD
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.noise_floor import (
    applicable_floor,
    command_words,
    day,
    floor_notes,
    floor_words,
    is_within,
)

FLOOR = MachineFloor(
    study="abc", started_at=1.8e9, command="./app", metric="wall_s", ci=(0.97, 1.02)
)


def concluded(gain: float, *, null: bool = False) -> Conclusion:
    program = SimulatedProgram(takes_s=factors(nice={1: 1.0 - gain}), noise=0.01)
    return compare(program, Budget(launches=120), {}, {"nice": 1}, null=null).conclusion


def test_claim_smaller_than_the_floor_gets_a_note() -> None:
    small = concluded(0.025)
    assert small.claims[0].verdict is Verdict.FASTER
    (note,) = floor_notes(FLOOR, small)
    assert "nice=1" in note
    assert "-3.0 to +2.0 %" in note
    assert "calibrated 2027-01-15 with ./app" in note


def test_larger_claim_gets_no_note() -> None:
    assert list(floor_notes(FLOOR, concluded(0.1))) == []


def test_claim_without_difference_gets_no_note() -> None:
    same = concluded(0.0)
    assert same.claims[0].verdict in (Verdict.SAME, Verdict.UNCLEAR)
    assert list(floor_notes(FLOOR, same)) == []
    assert applicable_floor(FLOOR, same) == FLOOR, "the floor stands beside it all the same"


def test_floor_of_the_study_precedes_calibrations() -> None:
    assert applicable_floor(FLOOR, concluded(0.025, null=True)) is None
    assert list(floor_notes(FLOOR, concluded(0.025, null=True))) == []


def test_other_metrics_and_spreads_have_no_floor() -> None:
    found = concluded(0.025)
    (claim,) = found.claims
    for change in ({"metric": "peak_anon_bytes"}, {"method": "spread"}):
        other = msgspec.structs.replace(claim, **change)
        assert applicable_floor(FLOOR, msgspec.structs.replace(found, claims=(other,))) is None
    assert applicable_floor(None, found) is None
    assert applicable_floor(FLOOR, msgspec.structs.replace(found, claims=())) is None


@pytest.mark.parametrize(
    ("ci", "ratio", "inside"),
    [
        ((0.97, 1.02), 1.025, True),
        ((0.97, 1.02), 1.035, False),
        ((0.97, 1.02), 0.971, True),
        ((0.97, 1.02), 0.96, False),
        ((None, 1.02), 0.5, True),
        ((0.97, None), 2.0, True),
    ],
)
def test_floor_is_symmetric(
    ci: tuple[float | None, float | None], ratio: float, inside: bool
) -> None:
    assert is_within(msgspec.structs.replace(FLOOR, ci=ci), ratio) is inside


def test_words() -> None:
    assert floor_words(FLOOR) == "-3.0 to +2.0 %"
    assert floor_words(msgspec.structs.replace(FLOOR, ci=(None, 1.02))) == "open to +2.0 %"
    assert day(0.0) == "1970-01-01"
    assert command_words(("python3", *BUILT_IN_LOAD)) == "the built-in load"
    assert command_words(("./app", "a b")) == "./app 'a b'"
