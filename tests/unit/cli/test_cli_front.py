"""A front on a terminal and as JSON."""

from __future__ import annotations

import pytest

from assay.api.results.documents import front_document
from assay.cli.show.pareto_front import front_lines, next_step_lines
from assay.records import (
    Budget,
    Claim,
    Conclusion,
    Configuration,
    FrontExclusion,
    FrontPoint,
    Kind,
    Recommendation,
    StudySpec,
    Verdict,
    Workload,
)
from assay.records.workload import BUILT_IN
from assay.wording.front import front_verdict

TIME, MEMORY = BUILT_IN["wall_s"], BUILT_IN["peak_anon_bytes"]
SPEC = StudySpec(
    kind=Kind.TUNE,
    workload=Workload(argv=("./app",), metrics=(TIME, MEMORY)),
    budget=Budget(launches=100),
    objectives=("wall_s", "peak_anon_bytes"),
)


def claim(name: str, metric: str, ratio: float, verdict: Verdict, withheld: bool = False) -> Claim:
    return Claim(
        a="default",
        b=name,
        metric=metric,
        ratio=ratio,
        ci=(ratio * 0.99, ratio * 1.01),
        verdict=verdict,
        blocks=12,
        margin=0.01,
        alpha=0.01,
        method="mean",
        verdict_withheld=withheld,
    )


def point(
    settings: dict[str, int],
    time: tuple[float, Verdict],
    memory: tuple[float, Verdict] | None,
    off: FrontExclusion | None = None,
    better: str | None = None,
) -> FrontPoint:
    configuration = Configuration(settings)
    name = str(configuration)
    claims = [claim(name, "wall_s", *time)]
    claims += [claim(name, "peak_anon_bytes", *memory)] if memory else []
    return FrontPoint(
        name=name, settings=configuration, claims=tuple(claims), exclusion=off, dominated_by=better
    )


FAST = point({"a": 1}, (0.5, Verdict.FASTER), (3.0, Verdict.SLOWER))
SMALL = point({"a": 2}, (1.2, Verdict.SLOWER), (0.6, Verdict.FASTER))
BEHIND = point(
    {"a": 3}, (0.9, Verdict.FASTER), (3.2, Verdict.SLOWER), FrontExclusion.DOMINATED, "a=1"
)
VAGUE = point({"a": 4}, (0.99, Verdict.UNCLEAR), None, FrontExclusion.UNCLEAR)
IDLE = point({"a": 5}, (1.0, Verdict.SAME), (1.1, Verdict.SLOWER), FrontExclusion.NO_GAIN)
FAILING = point({"a": 6}, (0.5, Verdict.FASTER), (1.0, Verdict.SAME), FrontExclusion.FAILS)


def conclusion(front: tuple[FrontPoint, ...], off: tuple[FrontPoint, ...]) -> Conclusion:
    first = front[0] if front else None
    return Conclusion(
        kind=Kind.TUNE,
        metric="wall_s",
        pareto_front=front,
        excluded_points=off,
        recommendation=Recommendation(
            settings=first.settings if first else Configuration(), script="", sentence="x"
        ),
    )


def test_a_table_of_the_front_and_of_what_is_beside_it() -> None:
    lines = list(front_lines(conclusion((FAST, SMALL), (BEHIND, VAGUE, IDLE)), SPEC))
    assert lines[0].strip() == "against the default, all intervals together 95 %:"
    assert lines[1].split() == ["time", "interval", "memory", "interval", "settings"]
    assert lines[2].split()[:3] == ["1", "-50.0", "%"]
    assert lines[2].endswith("a=1")
    assert "3.00 times" in lines[2]
    assert lines[3].split()[0] == "2"
    assert [line.split()[0] for line in lines[4:]] == ["-", "-", "-"]
    assert lines[4].endswith("a=3 (dominated by point 1)")
    assert lines[5].endswith("a=4 (not shown to be better in anything)")
    assert "no value" in lines[5]
    assert lines[6].endswith("a=5 (better in nothing)")
    assert "the same" in lines[6]
    places = {line.index("a=") for line in lines[2:]}
    assert len(places) == 1, "one below the other"


def test_where_only_a_reason_does_not_fit_it_stands_below() -> None:
    lines = list(front_lines(conclusion((FAST,), (VAGUE,)), SPEC, 80))
    assert lines[2].endswith("  a=1")
    assert lines[3].split()[0] == "-"
    assert lines[3].endswith("  a=4")
    assert lines[4].strip() == "(not shown to be better in anything)"
    assert all(len(line) <= 80 for line in lines)


def test_a_point_without_a_launch_that_counts_says_so() -> None:
    nothing = FrontPoint(
        name="a=7", settings=Configuration({"a": 7}), claims=(), exclusion=FrontExclusion.UNCLEAR
    )
    lines = list(front_lines(conclusion((), (nothing,)), SPEC))
    assert lines[-1].endswith("a=7 (no launch that counts)")


def test_in_a_narrow_place_settings_stand_above() -> None:
    lines = list(front_lines(conclusion((FAST, SMALL), ()), SPEC, 60))
    assert lines[2] == "  a=1"
    assert lines[3].split()[:2] == ["1", "-50.0"]
    assert all(len(line) <= 90 for line in lines)


def test_nothing_confirmed_has_no_table() -> None:
    assert list(front_lines(conclusion((), ()), SPEC)) == []
    assert list(next_step_lines("abc", conclusion((), (IDLE,)))) == []


def test_each_point_can_be_run() -> None:
    steps = "\n".join(next_step_lines("abc", conclusion((FAST, SMALL), ())))
    assert "apply point 1: assay run --from abc\n" in steps
    assert "apply point 2: assay run --from abc --point 2\n" in steps
    assert "--point 1 --explain" in steps


def test_the_document_has_points_with_numbers_and_why_others_are_none() -> None:
    found = front_document(conclusion((FAST, SMALL), (BEHIND, VAGUE)), SPEC)
    assert found["objectives"] == ["wall_s", "peak_anon_bytes"]
    assert [p["number"] for p in found["pareto_front"]] == [1, 2]
    assert found["pareto_front"][1]["settings"] == {"a": 2}
    assert [c["metric"] for c in found["pareto_front"][0]["claims"]] == [
        "wall_s",
        "peak_anon_bytes",
    ]
    assert [(p["exclusion"], p.get("dominated_by")) for p in found["excluded_points"]] == [
        ("dominated", "a=1"),
        ("unclear", None),
    ]


@pytest.mark.parametrize(
    ("front", "off", "sentence"),
    [
        (
            (FAST, SMALL),
            (),
            "2 configurations form the Pareto front: point 1 runs 2.00 times as fast as",
        ),
        ((SMALL,), (), "a=2 needs 40.0 % less memory than the default; time: +20.0 %."),
        (
            (FAST, point({"b": 1}, (0.7, Verdict.FASTER), (1.0, Verdict.SAME))),
            (),
            "none is shown to be better in memory.",
        ),
        ((), (IDLE,), "Keep the default: a=5 is not better in time or memory."),
        (
            (),
            (
                IDLE,
                point({"a": 7}, (1.1, Verdict.SLOWER), (1.0, Verdict.SAME), FrontExclusion.NO_GAIN),
            ),
            "Keep the default: none of the 2 configurations confirmed is better in time or memory.",
        ),
        ((), (VAGUE,), "Not decided: whether a=4 is better in time or memory is unclear."),
        ((), (FAILING,), "Keep the default: a=6 fails more often."),
    ],
)
def test_the_answer_in_a_sentence(
    front: tuple[FrontPoint, ...], off: tuple[FrontPoint, ...], sentence: str
) -> None:
    found = front_verdict(SPEC, front, off)
    assert sentence in found


def test_a_busy_machine_decides_nothing() -> None:
    busy = FrontPoint(
        name="a=1",
        settings=Configuration({"a": 1}),
        claims=(claim("a=1", "wall_s", 0.5, Verdict.UNCLEAR, withheld=True),),
        exclusion=FrontExclusion.UNCLEAR,
    )
    assert "other processes disturbed too many blocks" in front_verdict(SPEC, (), (busy,))
