from tests.unit.stats.progress.programs import program

from assay.stats.progress.block_parts import block_parts
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.warm_up import WarmUp


def test_shortest_launch_limits_all_arms():
    launches = [launch_curve(program(steps)) for steps in (420, 260)]
    found = block_parts(launches, WarmUp(100.0, 50.0, True))
    assert found is not None
    assert [(part.begin_step, part.end_step) for part in found] == [(100, 250)] * 2


def test_block_keeps_its_warm_up_if_nothing_remains_after_a_later_one():
    launches = [launch_curve(program(steps)) for steps in (200, 200)]
    later = WarmUp(200.0, 50.0, True)
    assert block_parts(launches, later) is None
    found = block_parts(launches, later, run_with_steps=100.0)
    assert found is not None
    assert [part.begin_step for part in found] == [100, 100]


def test_block_with_a_silent_launch_has_no_parts():
    launches = [launch_curve(program(300)), launch_curve(program(0))]
    assert block_parts(launches, WarmUp(100.0, 50.0, True)) is None
