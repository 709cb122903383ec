"""Contradictions between the accounts of one launch."""

import pytest

from assay.executors.evidence.contradictions import contradictions
from assay.records import RunFacts
from assay.records.facts import HostActivity


def facts(**more: object) -> RunFacts:
    usual: dict = {
        "outcome": "exited",
        "wall_s": 1.0,
        "user_s": 0.9,
        "sys_s": 0.05,
        "cpu_scope": "cgroup",
        "waited_cpu_s": 0.95,
        "host": HostActivity(cpus=2, busy_s=0.97, process_tree_cpu_s=0.95, launcher_cpu_s=0.003),
    }
    return RunFacts(**(usual | more))


def test_ordinary_launch_has_no_contradiction() -> None:
    assert contradictions(facts(), 0.017) == ()


def test_negative_load_of_stalled_counters_is_found() -> None:
    """Hold the reading of the issue: 0.13 s of user time for a spin of 20 ms."""
    stalled = facts(
        wall_s=0.16, user_s=0.13, sys_s=0.0, waited_cpu_s=0.13,
        host=HostActivity(cpus=2, busy_s=0.0, process_tree_cpu_s=0.13, launcher_cpu_s=0.004),
    )  # fmt: skip
    (reason,) = contradictions(stalled, -0.16)
    assert "0.16 s less than the program and assay used" in reason


@pytest.mark.parametrize("own_s", [0.001, 0.02, 0.5, 10.0])
def test_negative_load_within_the_step_of_the_count_is_accepted(own_s: float) -> None:
    """The kernel counts in ticks: less than three standard deviations are no contradiction."""
    host = HostActivity(cpus=2, busy_s=0.0, process_tree_cpu_s=own_s, launcher_cpu_s=0.0)
    short = facts(wall_s=own_s, user_s=own_s, sys_s=0.0, waited_cpu_s=own_s, host=host)
    assert contradictions(short, -0.02) == ()


def test_more_cpu_time_than_there_is_is_found() -> None:
    (reason,) = contradictions(facts(user_s=2.2, sys_s=0.1, waited_cpu_s=2.3), 0.0)
    assert reason == "it used 2.30 s of CPU time, but its CPUs provided 2.00 s"
    assert contradictions(facts(user_s=1.95, sys_s=0.05, waited_cpu_s=2.0), 0.0) == ()


def test_part_that_used_more_than_the_whole_is_found() -> None:
    (reason,) = contradictions(facts(waited_cpu_s=1.2), 0.0)
    assert "counted 0.95 s" in reason and "reaped processes counted 1.20 s" in reason
    assert contradictions(facts(waited_cpu_s=1.2, cpu_scope="waited"), 0.0) == ()


def test_absent_accounts_contradict_nothing() -> None:
    assert contradictions(RunFacts(outcome="exited"), None) == ()
    assert contradictions(facts(host=None, waited_cpu_s=None), None) == ()


def test_stopped_program_is_named_with_the_time() -> None:
    (reason,) = contradictions(facts(wall_s=6.0, stopped_s=5.0), 0.017)
    assert reason == "it was stopped (by SIGSTOP or a similar signal) for 5.00 s of 6.00 s"


@pytest.mark.parametrize(("wall_s", "stopped_s"), [(1.0, 0.01), (100.0, 0.5)])
def test_stop_too_short_to_matter_is_not_told(wall_s: float, stopped_s: float) -> None:
    assert contradictions(facts(wall_s=wall_s, stopped_s=stopped_s), 0.017) == ()
