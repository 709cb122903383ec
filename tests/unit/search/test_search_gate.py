"""The gate: which words close on what a comparison shows."""

from __future__ import annotations

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
from assay.search.gate import WORDS, closes

ARMS = tuple(Arm(name=n, configuration=Configuration()) for n in ("A", "B", "C"))
SPEC = StudySpec(
    kind=Kind.COMPARE, workload=Workload(argv=("true",)), budget=Budget(launches=9), arms=ARMS
)


def compared(*verdicts: Verdict | None, failures: int = 0) -> Conclusion:
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
def test_any_arm_can_close_the_gate(found: Conclusion, held: set[str]) -> None:
    assert {word for word in WORDS if closes(word, found, SPEC)} == held


def test_the_words_are_the_verdicts_and_two_more() -> None:
    assert WORDS == ("faster", "slower", "same", "unclear", "failed", "broken")
