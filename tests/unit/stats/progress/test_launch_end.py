import msgspec
import pytest
from tests.unit.stats.progress.programs import program

from assay.records.progress import EndRule, Incumbent
from assay.stats.progress.end import EndReason
from assay.stats.progress.launch_end import LaunchEnd

INCUMBENT = Incumbent(
    value=32 / 0.24, launches=4, periods=4, launch_sd=0.01, unit_steps=50, batch_sd=0.012
)


def run(rule, reports):
    """Return the step and reason of the end, and the number of full checks."""
    end, checks = LaunchEnd(rule), 0

    def so_far():
        nonlocal checks
        checks += 1
        return reports.between(0, last)

    for at in range(len(reports)):
        last = float(reports.steps[at])
        reason = end.reason(at + 1, last, float(reports.times_s[at]), so_far)
        if reason is not None:
            return last, reason, checks
    return None, None, checks


def test_known_length_needs_one_full_check():
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=200)
    assert run(rule, program(900)) == (300, EndReason.ENOUGH, 1)


def test_known_length_counts_from_the_first_steady_report():
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=200)
    last, reason, checks = run(rule, program(900, report_every=30))
    assert (last, reason) == (330, EndReason.ENOUGH)
    assert checks == 2


def test_slow_launch_ends_at_its_first_look():
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=800, incumbent=INCUMBENT)
    assert run(rule, program(900, launch=1.2)) == (150, EndReason.WORSE, 1)


def test_plainly_slow_launch_ends_during_its_warm_up():
    begin = program(900, seed=5).between(0, 100)
    incumbent = msgspec.structs.replace(
        INCUMBENT, curve_steps=tuple(begin.steps), curve_s=tuple(begin.times_s - begin.times_s[0])
    )
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=800, incumbent=incumbent)
    assert run(rule, program(900, launch=1.5)) == (51, EndReason.WORSE, 1)
    last, reason, checks = run(rule, program(900))
    assert (last, reason, checks) == (900, EndReason.ENOUGH, 6)


def test_equal_launch_is_compared_six_times_at_most():
    rule = EndRule(warmup_steps=100, period_steps=50, steady_steps=1700, incumbent=INCUMBENT)
    last, reason, checks = run(rule, program(2000))
    assert (last, reason) == (1800, EndReason.ENOUGH)
    assert checks == 7


def test_first_look_has_few_checks():
    last, reason, checks = run(EndRule(first_look=True), program(2000))
    assert reason is EndReason.ENOUGH
    assert 200 <= last <= 320
    assert checks <= 20


@pytest.mark.parametrize(
    "rule", [EndRule(first_look=True, max_s=30.0), EndRule(max_s=30.0, steady_steps=500)]
)
def test_time_ends_the_launch(rule):
    last, reason, _ = run(rule, program(900))
    assert reason is EndReason.TIME
    assert last < 100
