"""``compare --fail-if``: what ends with status 1."""

from __future__ import annotations

import pytest

from assay.cli.verbs.compare import _gate, _gated, _named
from assay.errors import BadInput
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
from assay.study.session import Result

ARMS = tuple(Arm(name=n, configuration=Configuration()) for n in ("A", "B", "C"))


def compared(*verdicts: Verdict | None, failures: int = 0) -> Result:
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
    workload = Workload(argv=("true",))
    return Result(
        "abc",
        StudySpec(kind=Kind.COMPARE, workload=workload, budget=Budget(launches=9), arms=ARMS),
        Conclusion(kind=Kind.COMPARE, metric="wall_s", arms=tuple(results), claims=tuple(claims)),
        1.0,
    )


@pytest.mark.parametrize(
    ("result", "held"),
    [
        (compared(Verdict.FASTER, Verdict.SAME), {"faster", "same"}),
        (compared(Verdict.SLOWER, Verdict.UNCLEAR), {"slower", "unclear"}),
        (compared(Verdict.FASTER, None), {"faster", "unclear"}),
        (compared(Verdict.SAME, Verdict.SAME, failures=2), {"same", "failed"}),
    ],
)
def test_any_arm_can_close_the_gate(result: Result, held: set[str]) -> None:
    words = _gate("slower,faster,same,unclear,failed")
    assert {word for word in words if _gated(result, word)} == held


def test_a_word_that_is_no_verdict_names_the_nearest() -> None:
    assert _gate(None) == ()
    with pytest.raises(BadInput, match="slowr") as caught:
        _gate("faster,slowr")
    assert caught.value.remedy == "Did you mean slower?"


@pytest.mark.parametrize("name", [" ", "\t", "a\nb", "a\x1b[31m", "a\u202eb"])
def test_a_name_can_be_seen(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be shown as it is") as caught:
        _named(list(ARMS), ["first", name])
    assert "\x1b" not in str(caught.value)
    assert [arm.name for arm in _named(list(ARMS), ["größer", "x y"])] == ["größer", "x y", "C"]
