"""Gate: conditions that a comparison does not satisfy."""

from __future__ import annotations

import msgspec
import pytest

from assay.records import (
    Arm,
    ArmResult,
    Budget,
    Claim,
    Conclusion,
    Configuration,
    Kind,
    StudySpec,
    Verdict,
    Workload,
)
from assay.search.claims.gate import GATE_CONDITIONS, gate_reasons, needs_more_blocks

ARMS = tuple(Arm(name=n, configuration=Configuration()) for n in ("A", "B", "C"))
SPEC = StudySpec(
    kind=Kind.COMPARE, workload=Workload(argv=("true",)), budget=Budget(launches=9), arms=ARMS
)


def compared(
    *verdicts: Verdict | None, failures: int = 0, beyond_margin: bool = True
) -> Conclusion:
    claims = [
        Claim(
            a="A",
            b=arm.name,
            metric="wall_s",
            ratio=1.0,
            ci=(0.9, 1.1),
            verdict=verdict,
            blocks=9,
            margin=0.01,
            alpha=0.05,
            method="mean",
            beyond_margin=beyond_margin,
        )
        for arm, verdict in zip(ARMS[1:], verdicts, strict=True)
        if verdict is not None
    ]
    results = [
        ArmResult(name=a.name, configuration=a.configuration, summary={}, failures=failures)
        for a in ARMS
    ]
    return Conclusion(kind=Kind.COMPARE, metric="wall_s", arms=tuple(results), claims=tuple(claims))


@pytest.mark.parametrize(
    ("found", "held"),
    [
        (compared(Verdict.FASTER, Verdict.SAME), {"faster", "same"}),
        (compared(Verdict.SLOWER, Verdict.UNCLEAR), {"slower", "unclear"}),
        (compared(Verdict.FASTER, None), {"faster", "unclear"}),
        (compared(Verdict.SAME, Verdict.SAME, failures=2), {"same", "failed"}),
    ],
)
def test_any_arm_can_fail_the_gate(found: Conclusion, held: set[str]) -> None:
    assert {word for word in GATE_CONDITIONS if gate_reasons([word], found, SPEC)} == held


def test_difference_within_the_margin_does_not_fail_the_gate() -> None:
    found = compared(Verdict.SLOWER, Verdict.FASTER, beyond_margin=False)
    assert gate_reasons(["slower", "faster"], found, SPEC) == []


def test_reasons_name_verdict_arm_and_margin() -> None:
    found = compared(Verdict.SLOWER, None, failures=2)
    assert gate_reasons(["slower", "unclear"], found, SPEC) == [
        "slower: B against A, by more than the margin of 1 %",
        "unclear: C has no claim",
    ]
    assert gate_reasons(["failed"], found, SPEC)[0] == "failed: 2 launches of A"


@pytest.mark.parametrize(
    ("gate", "ci", "more"),
    [
        (("slower",), (1.002, 1.03), True),
        (("faster",), (1.002, 1.03), False),
        ((), (1.002, 1.03), False),
        (("slower",), (1.002, 1.008), False),
        (("slower",), (1.006, 1.014), False),
        (("slower",), (1.002, None), True),
    ],
)
def test_gate_is_undecided_while_difference_may_exceed_margin(
    gate: tuple[str, ...], ci: tuple[float, float | None], more: bool
) -> None:
    (found, _) = compared(Verdict.SLOWER, Verdict.SAME, beyond_margin=False).claims
    assert needs_more_blocks(gate, msgspec.structs.replace(found, ci=ci)) is more


def test_conditions_are_verdicts_and_two_more() -> None:
    assert GATE_CONDITIONS == ("faster", "slower", "same", "unclear", "failed", "broken")
