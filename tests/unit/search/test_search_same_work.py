"""Whether two arms of a study wrote the same output, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest
from simulated_studies import Study, Writing, compare, space_of, tune

from assay.records import (
    Budget,
    Launch,
    Outcome,
    Parameter,
    Range,
    Sample,
    Space,
    Verdict,
)
from assay.search.same_work import (
    OutputsSeen,
    different_output,
    values_of,
    without_lines,
    without_quote,
    written_by,
)


def _seen(samples: Iterable[Sample]) -> OutputsSeen:
    seen = OutputsSeen()
    for sample in samples:
        seen.add(sample)
    return seen


def _speeds(configuration: object) -> float:
    return 0.5 if configuration else 1.0


def _compared(writes: Callable[[Launch], str], launches: int = 40) -> Study:
    program = Writing(takes_s=_speeds, writes=writes)
    return compare(program, Budget(launches=launches), {}, {"nice": 5})


def _bogus(launch: Launch) -> str:
    return "usage: p" if launch.configuration else "result 3.14\n"


def test_arm_that_writes_something_else_gets_no_verdict() -> None:
    study = _compared(_bogus)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.UNCLEAR
    assert study.claim.objection is not None
    assert "wrote 8 bytes, beginning with 'usage: p'" in study.claim.objection
    assert "12 bytes, beginning with 'result 3.14'" in study.claim.objection


@pytest.mark.parametrize(
    "writes",
    [
        lambda launch: "result 3.14",
        lambda launch: f"took {launch.block}.{launch.position}1 s",  # varies within each arm
        lambda launch: f"pid {launch.block}" if launch.configuration else "no pid",
    ],
)
def test_arms_that_write_the_same_or_varying_output_get_a_verdict(
    writes: Callable[[Launch], str],
) -> None:
    study = _compared(writes)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER


def test_outputs_may_differ_where_the_user_says_so() -> None:
    study = _compared(_bogus)
    workload = msgspec.structs.replace(study.spec.workload, outputs_may_differ=True)
    spec = msgspec.structs.replace(study.spec, workload=workload)
    names = [arm.name for arm in spec.arms]
    assert different_output(study.spec, _seen(study.samples), names) is not None
    assert different_output(spec, _seen(study.samples), names) is None


def test_check_says_which_output_is_good() -> None:
    study = _compared(_bogus)
    workload = msgspec.structs.replace(study.spec.workload, check="result|usage")
    spec = msgspec.structs.replace(study.spec, workload=workload)
    names = [arm.name for arm in spec.arms]
    assert different_output(spec, _seen(study.samples), names) is None


def test_single_launch_shows_no_difference_in_numbers() -> None:
    """A time of day differs from launch to launch, and not within each minute."""
    for other, differs in (("at 10:02", False), ("usage: p", True)):
        study = _compared(lambda launch, o=other: o if launch.configuration else "at 10:01")  # type: ignore[misc]
        names = [arm.name for arm in study.spec.arms]
        once = next(s for s in study.samples if s.launch.arm == names[1])
        samples = [s for s in study.samples if s.launch.arm == names[0]] + [once]
        assert (different_output(study.spec, _seen(samples), names) is not None) == differs


def test_one_launch_of_each_arm_shows_no_difference() -> None:
    study = _compared(_bogus)
    names = [arm.name for arm in study.spec.arms]
    once = [next(s for s in study.samples if s.launch.arm == name) for name in names]
    assert different_output(study.spec, _seen(once), names) is None
    assert different_output(study.spec, _seen(study.samples), names) is not None


def test_launch_that_failed_does_not_make_an_output_vary() -> None:
    study = _compared(_bogus)
    names = [arm.name for arm in study.spec.arms]
    last = study.samples[-1]
    bad = Writing(takes_s=_speeds, writes=lambda launch: "Traceback").run(last.launch)
    bad = msgspec.structs.replace(bad, outcome=Outcome.FAILED)
    assert different_output(study.spec, _seen([*study.samples, bad]), names) is not None


def test_recommendation_that_writes_something_else_is_unproven_and_says_so() -> None:
    program = Writing(takes_s=_speeds, writes=_bogus)
    study = tune(space_of(nice=(0, 5)), program, Budget(launches=40))
    found = study.conclusion.recommendation
    assert found is not None
    assert found.unproven
    assert found.output is not None
    assert "not proven, different output: nice=" in found.sentence


def test_sample_without_lines_is_compared_alike_and_holds_no_text() -> None:
    study = _compared(_bogus)
    bare = [without_lines(sample) for sample in study.samples]
    names = [arm.name for arm in study.spec.arms]
    assert "usage" not in str(bare)
    told = different_output(study.spec, _seen(study.samples), names)
    assert told is not None and "usage" in told
    assert different_output(study.spec, _seen(bare), names) == without_quote(told)
    first, kept = written_by(study.samples[0]), written_by(bare[0])
    assert first is not None and kept is not None
    assert first.digest == kept.digest


def test_numbers_are_not_compared_where_a_setting_has_any_number_as_its_value() -> None:
    """Not all values can be taken out of an output then."""
    study = _compared(lambda launch: "step 8" if launch.configuration else "step 4")
    names = [arm.name for arm in study.spec.arms]
    assert different_output(study.spec, _seen(study.samples), names) is not None
    anything = Parameter(name="arg.x", domain=Range(0.0, 1.0, integer=False))
    spec = msgspec.structs.replace(study.spec, space=Space(parameters=(anything,)))
    assert different_output(spec, _seen(study.samples), names) is None


def test_values_of_ranges_are_taken_out() -> None:
    counted = Parameter(name="arg.n", domain=Range(1, 9, step=4))
    study = _compared(_bogus)
    spec = msgspec.structs.replace(study.spec, arms=(), space=Space(parameters=(counted,)))
    assert values_of(spec) == {"1", "5", "9"}
