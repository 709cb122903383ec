"""Notes on an arm whose launches fall into two groups."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage
from assay.search.history.modes import modes_of

SLOW = 2.0


def arm(tell: Callable[[bool, random.Random], list[Evidence]]) -> list[Sample]:
    """Forty launches, about half of them twice as slow."""
    draw = random.Random(7)
    samples = []
    for block in range(40):
        slow = draw.random() < 0.5
        wall_s = (SLOW if slow else 1.0) * (1.0 + draw.gauss(0.0, 0.01))
        samples.append(
            Sample(
                launch=Launch(
                    configuration=DEFAULT, arm="a", stage=Stage.CONFIRM, block=block, position=0
                ),
                outcome=Outcome.OK,
                wall_s=wall_s,
                metrics={"wall_s": wall_s},
                evidence=tuple(tell(slow, draw)),
            )
        )
    return samples


def test_correlated_evidence_is_named() -> None:
    found = modes_of(
        "wall_s",
        arm(
            lambda slow, draw: [
                Evidence(kind="anon_huge", value=0.0 if slow else 4e8, unit="bytes"),
                Evidence(kind="environment_pad", value=draw.random() * 4096, unit="bytes"),
            ]
        ),
    )
    assert found is not None
    assert found.explained_by == "anon_huge"
    assert (found.low_evidence, found.high_evidence) == (4e8, 0.0)


def test_evidence_proportional_to_time_is_not_an_explanation() -> None:
    """Equal faults in all launches, and equal switches in every second of them."""
    found = modes_of(
        "wall_s",
        arm(
            lambda slow, draw: [
                Evidence(kind="minor_faults", value=1000.0 + draw.random()),
                Evidence(
                    kind="involuntary_switches", value=(SLOW if slow else 1.0) * 50 + draw.random()
                ),
            ]
        ),
    )
    assert found is not None
    assert found.explained_by is None


def test_evidence_with_higher_total_and_rate_explains() -> None:
    found = modes_of(
        "wall_s",
        arm(lambda slow, draw: [Evidence(kind="migrations", value=90.0 if slow else 2.0)]),
    )
    assert found is not None
    assert found.explained_by == "migrations"


def test_memory_location_does_not_accumulate() -> None:
    """Pages on a node are independent of the duration of a launch."""
    found = modes_of(
        "wall_s",
        arm(
            lambda slow, draw: [
                Evidence(kind="node.1", value=1500.0 if slow else 1e3, unit="pages")
            ]
        ),
    )
    assert found is not None
    assert found.explained_by == "node.1"


def test_single_group_has_no_modes() -> None:
    draw = random.Random(1)
    samples = arm(lambda slow, draw: [])
    steady = [
        Sample(
            launch=s.launch,
            outcome=Outcome.OK,
            metrics={"wall_s": 1.0 + draw.gauss(0.0, 0.01)},
        )
        for s in samples
    ]
    assert modes_of("wall_s", steady) is None
    assert modes_of("wall_s", []) is None


def test_many_figures_are_corrected_for() -> None:
    """Accumulating kinds are tested twice, and dropped kinds count as tested."""
    named = 0
    for seed in range(60):
        draw = random.Random(seed)
        kinds = [f"kind_{k}" for k in range(40)]
        samples = [
            msgspec.structs.replace(
                sample,
                evidence=tuple(Evidence(kind=kind, value=draw.random()) for kind in kinds),
            )
            for sample in arm(lambda slow, draw: [])[:14]
        ]
        found = modes_of("wall_s", samples)
        named += found is not None and found.explained_by is not None
    assert named <= 7
