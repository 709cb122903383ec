import msgspec
import numpy as np
import pytest
from tests.unit.stats.progress.programs import program

from assay.records.progress import EndRule, Incumbent, RateForm
from assay.records.workload import Goal
from assay.stats.progress.early_stop import (
    LOOKS,
    bound_during_warm_up,
    disadvantage,
    incumbent_of,
    is_worse,
    threshold,
    value_of_ended,
    weight_of_ended,
)
from assay.stats.progress.end import EndReason, first_look_suffices, next_check, reason_to_end
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.launch_spread import spread_posterior
from assay.stats.progress.steady import steady_part
from assay.stats.progress.warm_up import WarmUp

RATE = 32 / (0.2 + 2 / 50)
INCUMBENT = Incumbent(
    value=RATE, launches=4, periods=4, launch_sd=0.01, unit_steps=50, batch_sd=0.012
)
RULE = EndRule(warmup_steps=100, period_steps=50, steady_steps=200)


def first_look(reports):
    seen = next_check(0)
    while seen < len(reports):
        if first_look_suffices(launch_curve(reports.between(0, float(reports.steps[seen - 1])))):
            return seen
        seen = next_check(seen)
    return None


def test_first_look_ends_after_warm_up_and_two_periods():
    for seed in range(5):
        seen = first_look(program(2000, seed=seed))
        assert seen is not None
        assert 200 <= seen <= 320


def test_first_look_without_dips_is_ten_times_its_warm_up():
    seen = first_look(program(3000, every=0, warm_up=60))
    assert seen is not None
    assert 500 <= seen <= 1000


def test_first_look_at_slow_reports_ends_by_time():
    seen = first_look(program(300, step_s=2.0, start_s=3.0, warm_up=0, every=0))
    assert seen is not None
    assert seen <= 40


def test_first_look_waits_for_the_second_of_two_rare_checkpoints():
    seen = first_look(program(3000, every=400, checkpoint_s=30.0, warm_up=100))
    assert seen is not None
    assert seen >= 850


def test_known_length_ends_the_launch():
    reports = program(400)
    for steps, reason in ((299, None), (300, EndReason.ENOUGH), (400, EndReason.ENOUGH)):
        curve = launch_curve(reports.between(0, steps))
        assert reason_to_end(RULE, curve, 50.0) is reason


def test_length_with_unknown_warm_up_ends_after_it():
    rule = EndRule(steady_steps=200)
    reports = program(600)
    assert reason_to_end(rule, launch_curve(reports.between(0, 240)), 1.0) is None
    assert reason_to_end(rule, launch_curve(reports.between(0, 360)), 1.0) is EndReason.ENOUGH


def test_time_ends_a_launch_without_reports():
    curve = launch_curve(program(1))
    assert reason_to_end(EndRule(first_look=True, max_s=5.0), curve, 5.0) is EndReason.TIME
    assert reason_to_end(EndRule(first_look=True, max_s=5.0), curve, 4.9) is None


def test_plainly_slower_launch_ends_at_its_first_period():
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=1000, incumbent=INCUMBENT)
    slow = program(160, launch=1.2)
    assert reason_to_end(rule, launch_curve(slow.between(0, 149)), 1.0) is None
    assert reason_to_end(rule, launch_curve(slow), 1.0) is EndReason.WORSE
    assert reason_to_end(rule, launch_curve(program(160)), 1.0) is None
    assert reason_to_end(rule, launch_curve(program(160, launch=0.8)), 1.0) is None


def test_identical_configurations_rarely_end_early():
    rng = np.random.default_rng(7)
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=1600, incumbent=INCUMBENT)
    ended = 0
    for seed in range(60):
        curve = launch_curve(program(500, seed=seed, launch=float(np.exp(0.01 * rng.normal()))))
        ended += is_worse(rule, curve, goal=Goal.HIGHER)
    assert ended <= 4


def test_threshold_falls_with_periods_to_the_spread_of_launches():
    limits = [threshold(INCUMBENT, look) for look in LOOKS]
    assert limits == sorted(limits, reverse=True)
    assert limits[-1] > 2.39 * 0.01


def test_incumbent_has_the_mean_of_its_launches():
    posterior = spread_posterior([], 0.007)
    found = incumbent_of(list(np.log([100.0, 121.0])), 100.0, 50.0, posterior, 0.007)
    assert found.value == pytest.approx(110.0)
    assert (found.launches, found.periods) == (2, 2)
    assert found.batch_sd == pytest.approx((0.007 / 50) ** 0.5)
    with pytest.raises(ValueError, match="finished launch"):
        incumbent_of([], 100.0, 50.0, posterior, 0.007)


def test_disadvantage_follows_the_goal():
    assert disadvantage(90.0, 100.0, Goal.HIGHER) > 0 > disadvantage(90.0, 100.0, Goal.LOWER)


def test_duration_ends_early_as_well():
    plain = program(160, launch=1.2)
    durations = type(plain)(plain.steps, plain.times_s, 32 / plain.values)
    incumbent = Incumbent(
        value=0.24, launches=4, periods=4, launch_sd=0.01, unit_steps=50, batch_sd=0.012
    )
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=1000, incumbent=incumbent)
    curve = launch_curve(durations, RateForm.DURATION)
    assert is_worse(rule, curve, goal=Goal.LOWER, form=RateForm.DURATION)


def test_value_of_an_ended_launch_keeps_the_spread_of_launches():
    part = steady_part(launch_curve(program(200)), WarmUp(100.0, 50.0, True))
    assert part is not None
    found = value_of_ended(part, INCUMBENT)
    assert found.variance == pytest.approx(0.01**2 + 0.012**2 / 2)
    assert not found.bound
    assert weight_of_ended(part, INCUMBENT) == pytest.approx(
        (0.01**2 + 0.012**2 / 4) / (0.01**2 + 0.012**2 / 2)
    )


def with_curve(reference):
    """Return the incumbent with the curve of its warm-up."""
    begin = reference.between(0, 100)
    return msgspec.structs.replace(
        INCUMBENT, curve_steps=tuple(begin.steps), curve_s=tuple(begin.times_s - begin.times_s[0])
    )


def test_bound_during_warm_up_needs_a_plain_difference():
    incumbent = with_curve(program(400, seed=1))
    found = bound_during_warm_up(program(80, seed=2, launch=1.5), incumbent, goal=Goal.HIGHER)
    assert found == pytest.approx(RATE / 1.5, rel=0.05)
    for alike in (program(80, seed=3), program(20, seed=3, launch=1.5)):
        assert bound_during_warm_up(alike, incumbent, goal=Goal.HIGHER) is None
    assert bound_during_warm_up(program(80, launch=1.5), INCUMBENT, goal=Goal.HIGHER) is None
    assert bound_during_warm_up(program(80, launch=1.5), None, goal=Goal.HIGHER) is None


def test_bound_of_a_duration_is_larger_than_that_of_the_incumbent():
    incumbent = with_curve(program(400, seed=1))
    found = bound_during_warm_up(program(80, seed=2, launch=1.5), incumbent, goal=Goal.LOWER)
    assert found == pytest.approx(RATE * 1.5, rel=0.05)
