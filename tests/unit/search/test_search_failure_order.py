"""Failures that follow the order of launches."""

from __future__ import annotations

import msgspec
import pytest
from simulated_studies import compare

from assay.records import Budget, Configuration, Evidence, Launch, Outcome, Sample, Stage
from assay.records.sample import BUILD
from assay.search.conclusion.conclude import conclude
from assay.search.history.failure_order import (
    describe_failure_order,
    describe_first_successes,
    failure_order_notes,
)
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram

UNBUILT = Evidence(kind=BUILD)
OUTCOMES = {"o": Outcome.OK, "x": Outcome.FAILED, "t": Outcome.TIMED_OUT}


def samples(launches: str) -> list[Sample]:
    """Return launches from words such as ``Ao Bx``: the arm, and whether it worked."""
    return [
        Sample(
            launch=Launch(
                configuration=Configuration(),
                arm=word[0],
                stage=Stage.CONFIRM,
                block=block,
                position=0,
            ),
            outcome=OUTCOMES[word[1]],
            started_at=float(block),
        )
        for block, word in enumerate(launches.split())
    ]


@pytest.mark.parametrize(
    ("launches", "told"),
    [
        ("Ao Ax Ax", "worked once, and failed since, in 2 launches"),
        ("Ao Bx Ax Bx", "worked once, and failed since, in 3 launches"),
        ("Ao Bo Bx Ax Bx", "worked in the first 2 launches, and failed since"),
        ("Ao Bo Ao Bx Bx Ao Bx Ao Bx", "'B' worked once, and failed since, in 4 launches"),
        ("Bo Ao Bo Bx Ao Bx Ao Bx", "'B' worked in the first 2 launches, and failed since"),
        ("Ao Bx Ao Bx Bo Ax Bo Ax", "failed in every launch after one that worked"),
    ],
)
def test_failures_that_follow_order_are_reported(launches: str, told: str) -> None:
    found = describe_failure_order(samples(launches))
    assert found is not None and told in found and "--prepare" in found
    assert failure_order_notes(samples(launches)) == [found[0].lower() + found[1:-1]]


@pytest.mark.parametrize(
    "launches",
    [
        "",
        "Ao",
        "Ax Ax",
        "Ao Ax",
        "Ao Bx Bx Bx",
        "Ao Bo Ao Bx Ao Bx",  # too few to exclude chance
        "Ao Bo Ao Bx Ao Bx Ao Bx Bo",
        "Ao Bo Ao Bt Ao Bt Ao Bt Ao Bt",
        "Ao Bx Ao Bx Ao Bx Ao Bx",
        "Ao Ax Ao Ao Ax",
        "Ao Ax Ao Ax Ao Ao Ax Ao Ax",  # occasionally, not after each success
        "Ao At At",
    ],
)
def test_other_failures_are_not_reported(launches: str) -> None:
    assert describe_failure_order(samples(launches)) is None
    assert failure_order_notes(samples(launches)) == []


def test_single_failure_with_retry_is_not_an_order() -> None:
    found = samples("Ao Bo " * 10 + "Bx Bx")
    retried = msgspec.structs.replace(
        found[-1], launch=msgspec.structs.replace(found[-1].launch, attempt=1)
    )
    assert describe_failure_order([*found[:-1], retried]) is None
    assert describe_failure_order(samples("Ao Bo " * 10 + "Bx Ax")) is None


def test_order_is_chronological() -> None:
    """A store returns samples by block and position, and retries come later."""
    launches = samples("Ao Bo Bx Ax Bx")
    assert describe_failure_order(launches[::-1]) == describe_failure_order(launches) is not None


def test_repeated_failure_of_one_position_is_not_an_order() -> None:
    *others, last = samples("Ao Ax Ax")
    again = msgspec.structs.replace(last.launch, attempt=1)
    assert describe_failure_order([*others, msgspec.structs.replace(last, launch=again)]) is None


def test_unbuilt_programs_are_ignored() -> None:
    good, *failed = samples("Ao Ax Ax Ax")
    unbuilt = [msgspec.structs.replace(s, evidence=(UNBUILT,)) for s in failed]
    assert all(sample.build_failed for sample in unbuilt)
    assert describe_failure_order([good, *failed]) is not None
    assert describe_failure_order([good, *failed[:1], *unbuilt]) is None


def test_conclusion_reports_failure_order() -> None:
    study = compare(SimulatedProgram(takes_s=lambda c: 1.0), Budget(launches=40), {}, {"nice": 1})
    alternating = [
        msgspec.structs.replace(
            s, outcome=Outcome.FAILED if n % 2 else Outcome.OK, started_at=float(n)
        )
        for n, s in enumerate(study.samples)
    ]
    space = SearchSpace(study.spec.space)
    for samples, told in ((study.samples, False), (alternating, True)):
        found = conclude(study.spec, samples, space, RandomSearcher(), None)
        assert any("after one that worked" in note for note in found.notes) == told


@pytest.mark.parametrize(
    ("launches", "told"),
    [("Ao Ax Ax", "'A' worked once"), ("Ao Ao Ax", "'A' worked in the first 2 launches")],
)
def test_arm_that_worked_first_is_reported(launches: str, told: str) -> None:
    found = describe_first_successes(samples(launches))
    assert found is not None and found.startswith(told) and "--prepare" in found


@pytest.mark.parametrize("launches", ["Ao", "Ax Ax", "Ao Ax Ao", "Ao Ao"])
def test_working_or_always_failing_arm_is_not_reported(launches: str) -> None:
    assert describe_first_successes(samples(launches)) is None
