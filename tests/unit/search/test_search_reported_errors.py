"""Arms whose launches exit successfully but report an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest
from simulated_studies import Study, Writing, compare, factors, space_of, tune

from assay.executors.evidence.reported_errors import error_evidence
from assay.executors.evidence.same_work import ComparableForm
from assay.records import Budget, Configuration, Evidence, Launch, Output, Sample, Verdict
from assay.records.sample import ERRORS
from assay.search.conclusion.conclude import conclude
from assay.search.history.output_comparison import ObservedOutputs, without_lines, work_objection
from assay.search.history.reported_errors import ReportedErrors
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.wording.objections import REPORTED_ERROR, without_quote

USAGE = "usage: q slow|fast"


@dataclass(frozen=True, kw_only=True)
class Erring(Writing):
    """A program that also writes to standard error."""

    says: Callable[[Launch], str] = lambda launch: ""

    def run(self, launch: Launch) -> Sample:
        sample = super().run(launch)
        content = self.says(launch).encode()
        output = Output(stream="stderr", size_bytes=len(content), sha256="", head=content)
        found = error_evidence([output], ComparableForm(()))
        evidence = (*sample.evidence, *([found] if found is not None else []))
        return msgspec.structs.replace(sample, evidence=evidence)


def _compared(
    says: Callable[[Launch], str],
    writes: Callable[[Launch], str] = lambda launch: "",
    varied: float = 0.5,
) -> Study:
    program = Erring(takes_s=lambda c: varied if c else 1.0, writes=writes, says=says)
    return compare(program, Budget(launches=40), {}, {"nice": 5})


def _varied(launch: Launch) -> str:
    return USAGE if launch.configuration else ""


def _timed(launch: Launch) -> str:
    return f"at {launch.block}.{launch.position}"


@pytest.mark.parametrize("writes", [lambda launch: "", _timed], ids=["constant", "varies"])
def test_faster_arm_that_reports_an_error_gets_no_verdict(writes: Callable[[Launch], str]) -> None:
    claim = _compared(_varied, writes).claim
    assert claim is not None and claim.data_problem is not None
    assert claim.verdict is Verdict.UNCLEAR
    assert claim.data_problem.startswith(REPORTED_ERROR)
    assert (
        f"of nice=5 report one, beginning with {USAGE!r}, and none of default" in claim.data_problem
    )


def test_slower_arm_with_an_error_keeps_the_verdict() -> None:
    """A default that cannot work is the reason why another arm is better or slower."""
    study = _compared(lambda launch: "" if launch.configuration else USAGE)
    assert study.claim is not None and study.claim.verdict is Verdict.FASTER
    study = _compared(_varied, varied=2.0)
    assert study.claim is not None and study.claim.verdict is Verdict.SLOWER


def test_slower_arm_gets_no_verdict_if_faster_one_reports_an_error() -> None:
    study = _compared(lambda launch: "" if launch.configuration else USAGE, varied=2.0)
    assert study.claim is not None and study.claim.data_problem is not None
    assert "launches of default report one" in study.claim.data_problem


@pytest.mark.parametrize(
    "says",
    [
        lambda launch: USAGE,
        lambda launch: USAGE if launch.configuration and launch.block % 2 else "",
        lambda launch: "q: warning: deprecated" if launch.configuration else "",
        lambda launch: USAGE if launch.configuration or launch.block == 3 else "",
    ],
    ids=["both", "now-and-then", "warning", "other-once"],
)
def test_common_error_is_not_an_objection(says: Callable[[Launch], str]) -> None:
    claim = _compared(says).claim
    assert claim is not None and claim.verdict is Verdict.FASTER


def test_outputs_may_differ_option_ignores_complaints() -> None:
    study = _compared(_varied)
    seen = ObservedOutputs()
    for sample in study.samples:
        seen.add(sample)
    names = [arm.name for arm in study.spec.arms]
    assert work_objection(study.spec, seen, names, names[1]) is not None
    assert work_objection(study.spec, seen, names, names[0]) is None
    for change in ({"outputs_may_differ": True}, {"check": "x"}):
        workload = msgspec.structs.replace(study.spec.workload, **change)
        spec = msgspec.structs.replace(study.spec, workload=workload)
        assert work_objection(spec, seen, names, names[1]) is None


@pytest.mark.parametrize("writes", [lambda launch: "", _timed], ids=["constant", "varies"])
def test_search_recommends_the_best_value_without_an_error(writes: Callable[[Launch], str]) -> None:
    takes = factors(mode={"slow": 1.0, "fast": 0.6, "bogus": 0.01})
    program = Erring(
        takes_s=takes,
        writes=writes,
        says=lambda launch: USAGE if launch.configuration.get("mode") == "bogus" else "",
    )
    study = tune(space_of(mode=("slow", "fast", "bogus")), program, Budget(launches=60))
    found = study.conclusion.recommendation
    assert found is not None
    assert found.settings == Configuration({"mode": "fast"}) and not found.unproven
    (note,) = (note for note in study.conclusion.notes if note.startswith(REPORTED_ERROR))
    assert "of mode=bogus report one" in note and "it counts as failed" in note


def test_only_value_with_an_error_is_unproven() -> None:
    """No other value shows that launches work without the error."""
    program = Erring(takes_s=lambda c: 0.5 if c else 1.0, says=_varied)
    found = tune(space_of(nice=(3, 5)), program, Budget(launches=60)).conclusion.recommendation
    assert found is not None
    assert found.unproven and found.output_difference is not None
    assert found.output_difference.startswith(REPORTED_ERROR)


def test_samples_without_lines_show_the_same_and_hold_no_text() -> None:
    study = _compared(_varied)
    bare = [without_lines(sample) for sample in study.samples]
    assert "usage" not in str(bare)
    told = study.claim.data_problem if study.claim is not None else None
    assert told is not None
    found = conclude(study.spec, bare, SearchSpace(study.spec.space), TpeSearcher(), None)
    assert found.claims[0].data_problem == without_quote(told)
    assert "usage" not in without_quote(told)


def test_incomplete_errors_of_other_arm_give_no_objection() -> None:
    study = _compared(_varied)
    names = [arm.name for arm in study.spec.arms]
    for count, told in ((1.0, True), (2.0, False)):
        seen = ReportedErrors()
        piece = Evidence(kind=ERRORS, value=count, unit="lines", note="abc q: other error")
        for sample in study.samples:
            first = sample.launch.arm == names[0]
            seen.add(msgspec.structs.replace(sample, evidence=(piece,)) if first else sample)
        assert (seen.reported(names[1], names[0]) is not None) is told
