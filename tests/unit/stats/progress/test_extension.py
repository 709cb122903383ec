import numpy as np
from tests.unit.stats.progress.programs import program

from assay.stats.progress.extension import extended_steps, still_changes
from assay.stats.progress.launch_curve import launch_curve


def curves(steps, count=4, **more):
    return [launch_curve(program(steps, seed=seed, **more)) for seed in range(count)]


def test_slow_tail_that_outlasts_the_launches_still_changes():
    slow = curves(300, every=0, warm_up=600, shape="linear")
    assert still_changes(slow, 60.0)
    assert extended_steps(slow, 60.0) == 540.0


def test_steady_launches_seldom_grow():
    grown = [
        still_changes([launch_curve(program(300, seed=10 * at + k)) for k in range(4)], 100.0, 50.0)
        for at in range(40)
    ]
    assert np.mean(grown) <= 0.15


def test_warm_up_at_the_end_of_short_launches_is_no_slow_tail():
    short = curves(110, every=0, warm_up=100, shape="linear")
    assert not still_changes(short, 100.0)


def test_only_the_longest_launches_count():
    slow = curves(150, every=0, warm_up=150, shape="linear")
    settled = curves(600, every=0, warm_up=150, shape="linear")
    assert still_changes(slow, 50.0)
    assert not still_changes([*slow, *settled], 50.0)


def test_extension_has_whole_periods():
    assert extended_steps(curves(330), 100.0, 50.0) == 600.0


def test_without_reports_nothing_grows():
    assert not still_changes([], 0.0)
    assert not still_changes(curves(2), 0.0)
