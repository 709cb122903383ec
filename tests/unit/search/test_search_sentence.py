"""Sentences on claims."""

from __future__ import annotations

import msgspec
import pytest

from assay.records import Claim, Goal, Metric, Verdict
from assay.records.workload import BUILT_IN
from assay.wording.sentence import change_text, comparison, interval_text, statement

WALL = BUILT_IN["wall_s"]
MEMORY = BUILT_IN["peak_anon_bytes"]
RATE = Metric(name="rate", unit="1/s", goal=Goal.HIGHER, pattern="x")
SIZE = Metric(name="size", unit="", goal=Goal.LOWER, pattern="x")


def made(ratio: float, verdict: Verdict, ci: tuple[float | None, float | None]) -> Claim:
    return Claim(
        a="A",
        b="B",
        metric="wall_s",
        ratio=ratio,
        ci=ci,
        verdict=verdict,
        blocks=9,
        margin=0.01,
        alpha=0.05,
        method="mean",
    )


@pytest.mark.parametrize(
    ("metric", "ratio", "verdict", "said"),
    [
        (WALL, 0.8, Verdict.FASTER, "B takes 20.0 % less time than A"),
        (WALL, 0.25, Verdict.FASTER, "B runs 4.00 times as fast as A"),
        (WALL, 1.2, Verdict.SLOWER, "B takes 20.0 % more time than A"),
        (WALL, 9.31, Verdict.SLOWER, "B takes 9.31 times as long as A"),
        (MEMORY, 0.25, Verdict.FASTER, "B needs 75.0 % less memory than A"),
        (MEMORY, 3.0, Verdict.SLOWER, "B needs 3.00 times the memory of A"),
        (RATE, 1.25, Verdict.FASTER, "B raises rate by 25.0 % against A"),
        (RATE, 0.8, Verdict.SLOWER, "B lowers rate by 20.0 % against A, which is worse"),
        (RATE, 2.5, Verdict.FASTER, "B brings 2.50 times the rate of A"),
        (SIZE, 0.9, Verdict.FASTER, "B lowers size by 10.0 % against A"),
        (WALL, 1.001, Verdict.SAME, "B and A are the same in time, to within 1 %"),
        (SIZE, 1.1, Verdict.UNCLEAR, "Whether B differs from A in size is unclear"),
    ],
)
def test_claim_is_written_in_common_words(
    metric: Metric, ratio: float, verdict: Verdict, said: str
) -> None:
    assert statement(made(ratio, verdict, (0.98 * ratio, 1.02 * ratio)), metric) == said


@pytest.mark.parametrize(
    ("ratio", "verdict", "ci", "may_be"),
    [
        (1.07, Verdict.SLOWER, (1.02, 1.12), False),
        (1.015, Verdict.SLOWER, (1.005, 1.025), True),
        (0.985, Verdict.FASTER, (0.975, 0.995), True),
        (0.9, Verdict.FASTER, (None, 0.98), False),
        (1.5, Verdict.SLOWER, (1.005, None), True),
    ],
)
def test_difference_perhaps_below_margin_is_stated(
    ratio: float, verdict: Verdict, ci: tuple[float | None, float | None], may_be: bool
) -> None:
    said = statement(made(ratio, verdict, ci), WALL)
    assert ("perhaps by less than the margin of 1 %" in said) is may_be


@pytest.mark.parametrize(
    ("ratio", "ci", "said"),
    [
        (0.8, (0.75, 0.85), "(95 % interval -25.0 to -15.0 %, 9 paired launches)"),
        (0.25, (0.2, 0.4), "(95 % interval 2.50 to 5.00 times, 9 paired launches)"),
        (0.25, (None, 0.4), "(95 % interval from 2.50 times, 9 paired launches)"),
        (3.0, (2.5, None), "(95 % interval from 2.50 times, 9 paired launches)"),
        (0.8, (None, 0.85), "(95 % interval up to -15.0 %, 9 paired launches)"),
        (0.8, (None, None), "(95 % interval without bounds, 9 paired launches)"),
    ],
)
def test_interval_has_the_form_of_the_change(
    ratio: float, ci: tuple[float | None, float | None], said: str
) -> None:
    verdict = Verdict.FASTER if ratio < 1 else Verdict.SLOWER
    assert said in comparison(made(ratio, verdict, ci), WALL)


def test_bound_is_marked_and_needed_launches_exceed_present() -> None:
    bound = msgspec.structs.replace(made(3.0, Verdict.SLOWER, (2.5, None)), bound_only=True)
    assert statement(bound, WALL) == "B takes at least 3.00 times as long as A"
    unclear = made(1.1, Verdict.UNCLEAR, (0.9, 1.3))
    assert "would decide" not in comparison(msgspec.structs.replace(unclear, blocks_needed=9), WALL)
    assert "About 30 paired launches" in comparison(
        msgspec.structs.replace(unclear, blocks_needed=30), WALL
    )


@pytest.mark.parametrize(
    ("ratio", "ci", "change", "interval"),
    [
        (0.818, (0.75, 0.85), "-18.2 %", "-25.0 to -15.0 %"),
        (1.9, (1.8, 3.1), "+90.0 %", "1.80 to 3.10 times"),
        (3.1, (2.5, 4.0), "3.10 times", "2.50 to 4.00 times"),
        (1.9, (0.9, 3.1), "+90.0 %", "0.900 to 3.10 times"),
        (3.1, (2.5, None), "3.10 times", "from 2.50 times"),
        (0.8, (None, 0.85), "-20.0 %", "up to -15.0 %"),
        (0.8, (None, None), "-20.0 %", "without bounds"),
    ],
)
def test_ratio_by_itself(
    ratio: float, ci: tuple[float | None, float | None], change: str, interval: str
) -> None:
    assert (change_text(ratio), interval_text(ci)) == (change, interval)


def test_single_pair_is_singular() -> None:
    single = msgspec.structs.replace(made(1.1, Verdict.UNCLEAR, (0.9, 1.3)), blocks=1)
    assert "1 paired launch)" in comparison(single, WALL)
    spread = msgspec.structs.replace(single, method="spread", blocks=2)
    assert "2 paired batches)" in comparison(spread, WALL)
