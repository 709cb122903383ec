"""Effect of B against A, and its verdict."""

import math
import subprocess
import sys

import pytest

from assay.records.workload import Goal
from assay.stats.confidence_sequence import mean_sequence
from assay.stats.interval import ratio_ends
from assay.stats.paired import (
    Effect,
    NonPositiveValueError,
    Observation,
    UnequalBlocksError,
    effect,
    measurement_step,
)
from assay.stats.verdict import Verdict, blocks_needed, decide

A = [10.0, 10.2, 9.9, 10.1, 10.0, 9.8, 10.1, 10.2]
B = [9.0, 9.1, 9.05, 9.1, 8.9, 8.9, 9.0, 9.2]


def seen(values: list[float], capped: frozenset[int] = frozenset()) -> list[Observation | None]:
    return [Observation(v, i in capped) for i, v in enumerate(values)]


def made(lo: float, hi: float, **changes: object) -> Effect:
    ratio = math.sqrt(lo * hi) if lo > 0.0 and math.isfinite(hi) else 1.0
    fields = {
        "ratio": ratio, "lo": lo, "hi": hi, "blocks": 12, "dropped": 0, "censored_share": 0.0,
        "method": "mean", "bound": None, "sd": 0.014, "alpha": 0.05, "resolution": 0.0,
    }  # fmt: skip
    return Effect(**(fields | changes))  # type: ignore[arg-type]


def test_ratio_is_the_exponential_of_the_mean_log_ratio() -> None:
    logs = [math.log(b / a) for a, b in zip(A, B, strict=True)]
    found = effect(seen(A), seen(B), resolution=0.001)
    expected = mean_sequence(logs, resolution=0.001)
    assert found.ratio == pytest.approx(math.exp(sum(logs) / 8))
    assert found.lo == pytest.approx(math.exp(expected.lo))
    assert found.hi == pytest.approx(math.exp(expected.hi))
    assert (found.blocks, found.dropped, found.method, found.bound) == (8, 0, "mean", None)
    assert decide(found) is Verdict.FASTER
    assert decide(found, goal=Goal.HIGHER) is Verdict.SLOWER


def test_missing_launches_drop_their_pair_and_are_counted() -> None:
    a, b = seen([*A, 11.0, 12.0]), seen([*B, 8.0, 7.0])
    a[8], b[9] = None, None
    assert effect(a, b, resolution=0.0) == Effect(
        **{f: getattr(effect(seen(A), seen(B), resolution=0.0), f) for f in Effect.__slots__}
        | {"dropped": 2}
    )


def test_no_pair_at_all_has_no_ratio() -> None:
    found = effect([None, Observation(1.0)], [Observation(1.0), None])
    assert (found.ratio, found.method, found.bound) == (None, "none", "unknown")
    assert decide(found) is Verdict.UNCLEAR
    assert blocks_needed(found) is None


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_values_without_a_logarithm_are_refused(bad: float) -> None:
    with pytest.raises(NonPositiveValueError, match="positive") as caught:
        effect(seen([1.0, bad]), seen([1.0, 1.0]))
    assert isinstance(caught.value, ValueError)
    assert caught.value.remedy


def test_arms_of_different_length_are_refused() -> None:
    with pytest.raises(UnequalBlocksError, match="8 blocks and arm B 1"):
        effect(seen(A), seen([1.0]))


def test_censored_minority_uses_the_median() -> None:
    a = [10.0 + 0.01 * i for i in range(21)]
    b = [2.0 * v * (1 + 0.001 * i) for i, v in enumerate(a)]
    capped = frozenset({18, 19, 20})
    found = effect(seen(a), seen(b, capped), resolution=0.0)
    assert found.method == "median"
    assert found.censored_share == pytest.approx(3 / 21)
    assert found.ratio == pytest.approx(2.0 * 1.010)
    assert found.bound is None
    assert found.hi < math.inf
    assert decide(found) is Verdict.SLOWER


def test_censored_majority_gives_a_bound_only() -> None:
    found = effect(seen([10.0] * 9), seen([20.0] * 9, frozenset(range(9))), resolution=0.0)
    assert (found.bound, found.bound_only, found.hi) == ("at least", True, math.inf)
    assert found.ratio == pytest.approx(2.0)
    assert found.lo == pytest.approx(2.0)
    assert decide(found) is Verdict.SLOWER
    assert blocks_needed(found) is None


def test_time_out_of_the_default_is_an_upper_bound() -> None:
    found = effect(seen([20.0] * 9, frozenset(range(9))), seen([10.0] * 9), resolution=0.0)
    assert (found.bound, found.lo) == ("at most", 0.0)
    assert decide(found) is Verdict.FASTER


def test_bounds_are_exchanged_if_higher_is_better() -> None:
    found = effect(
        seen([10.0] * 9), seen([5.0] * 9, frozenset(range(9))), goal=Goal.HIGHER, resolution=0.0
    )
    assert (found.bound, found.lo) == ("at most", 0.0)
    assert decide(found, goal=Goal.HIGHER) is Verdict.SLOWER


def test_pair_of_two_timeouts_has_no_effect() -> None:
    capped = frozenset(range(9))
    found = effect(seen([20.0] * 9, capped), seen([20.0] * 9, capped))
    assert (found.ratio, found.bound, found.lo, found.hi) == (None, "unknown", 0.0, math.inf)


def test_constant_values_of_unknown_step_are_unclear() -> None:
    told = effect(seen([1.0] * 30), seen([0.9] * 30), resolution=0.0)
    assert (told.lo, told.hi) == (0.0, math.inf)
    told = effect(seen([1.0] * 30), seen([0.9] * 30), resolution=0.01)
    assert decide(told) is Verdict.FASTER
    coarse = effect(seen([1.0, 1.1] * 15), seen([1.0] * 30))
    assert coarse.resolution == pytest.approx(0.1)
    assert coarse.hi / coarse.ratio >= math.exp(coarse.resolution) * (1 - 1e-12)


def test_measurement_step_is_smallest_difference() -> None:
    assert measurement_step([10.0, 10.2, 10.1, 10.5]) == pytest.approx(0.1 / 10.2)
    assert measurement_step([1.1 * 3, 3.3000000000000003, 3.3]) is None
    assert measurement_step([]) is None


@pytest.mark.parametrize(
    ("lo", "hi", "verdict"),
    [
        (0.995, 1.005, Verdict.SAME),
        (0.991, 0.999, Verdict.SAME),
        (0.99, 1.01, Verdict.SAME),
        (0.98, 0.999, Verdict.FASTER),
        (1.001, 1.05, Verdict.SLOWER),
        (0.98, 1.0, Verdict.UNCLEAR),
        (0.9, 1.1, Verdict.UNCLEAR),
        (0.0, math.inf, Verdict.UNCLEAR),
        (2.0, math.inf, Verdict.SLOWER),
        (0.0, 0.5, Verdict.FASTER),
    ],
)
def test_verdict_follows_from_interval_and_margin(lo: float, hi: float, verdict: Verdict) -> None:
    assert decide(made(lo, hi)) is verdict
    turned = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    assert decide(made(lo, hi), goal=Goal.HIGHER) is turned.get(verdict, verdict)


def test_zero_margin_is_never_the_same() -> None:
    assert decide(made(0.9999, 1.0001), margin=0.0) is Verdict.UNCLEAR
    with pytest.raises(ValueError, match="margin"):
        decide(made(0.9, 1.1), margin=1.0)


def test_blocks_needed_inverts_the_width() -> None:
    found = made(0.96, 1.01, ratio=0.985, sd=0.028)
    needed = blocks_needed(found)
    assert needed is not None
    assert 12 < needed < 60
    assert blocks_needed(made(0.96, 1.01, ratio=0.985, sd=0.056)) > 3 * needed  # type: ignore[operator]
    assert blocks_needed(made(0.96, 1.01, ratio=0.985, sd=0.028, alpha=0.01)) > needed  # type: ignore[operator]


def test_a_doubt_about_the_effect_needs_fewer_blocks() -> None:
    found = made(0.9, 1.1, ratio=0.995, sd=0.1, blocks=9)
    plain, doubted = blocks_needed(found), blocks_needed(found, doubt=1.0)
    assert plain is not None
    assert doubted is not None
    assert 9 <= doubted < plain / 10


def test_blocks_needed_is_none_if_undecidable() -> None:
    assert blocks_needed(made(0.9, 1.1, ratio=1.0, resolution=0.05)) is None
    assert blocks_needed(made(0.9, 1.1, sd=None)) is None
    assert blocks_needed(made(0.9, 1.1, sd=0.0)) is None
    assert blocks_needed(made(0.9, 1.1, ratio=1.0), margin=0.0) is None
    assert blocks_needed(made(0.5, 0.9)) == 12


def test_constant_figures_are_compared_to_their_last_digit() -> None:
    sizes = effect(seen([1000.0] * 6), seen([900.0] * 6))
    assert decide(sizes) is Verdict.FASTER
    assert math.log(sizes.hi / sizes.lo) == pytest.approx(2 / 900)
    tenths = effect(seen([0.2] * 6), seen([0.1] * 6))
    assert decide(tenths) is Verdict.UNCLEAR
    one_varies = effect(seen([100.0] * 8), seen([90.5, 90.0, 90.25] * 2 + [90.0, 90.5]))
    assert one_varies.resolution == pytest.approx(0.25 / 90.25)
    assert effect(seen([1000.0] * 5), seen([900.0] * 5)).lo == 0.0


def test_numpy_and_scipy_are_not_imported_at_start() -> None:
    code = (
        "import sys, assay.stats.verdict, assay.stats.summary, assay.stats.shift,"
        " assay.stats.elimination;"
        "sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_open_ends_of_a_ratio_are_absent() -> None:
    assert ratio_ends(0.9, 1.1) == (0.9, 1.1)
    assert ratio_ends(0.0, math.inf) == (None, None)
