"""The documents and lines of a result: the keys that scripts rely on (CLI.md)."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.api.results.documents import result_document
from assay.api.results.sentences import _measured
from assay.bundle.document import write_json
from assay.cli.main import main
from assay.cli.show.result import arm_lines, result_lines
from assay.records import DEFAULT, Arm, ArmResult, Budget, Goal, Kind, Metric, StudySpec, Verdict
from assay.records.workload import WALL
from assay.stats.summary import summarise
from assay.study.result import StudyResult
from assay.testing.search_contracts import SimulatedProgram

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import Study, carry_out, compare, factors, space_of, tune, workload

GAIN = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.8}))
SPACE = space_of(malloc=("jemalloc", "tcmalloc"), nice=(0, 5))
CLAIM = {"a", "b", "ratio", "ci", "verdict", "blocks"}
SUMMARY = {"n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem", "ci"}
SAMPLE = {"wall_s", "outcome", "metrics", "launch"}


def document_of(study: Study, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    write_json(result_document(result_of(study), study.samples), sys.stdout)
    out = capsys.readouterr().out
    assert out.count("\n") == 1, "one document"
    found: dict[str, Any] = json.loads(out)
    assert found["schema"] == 2
    assert found["study"] == "abc1234"
    return found


def result_of(study: Study) -> StudyResult:
    return StudyResult("abc1234", study.spec, study.conclusion, 12.5)


def test_tune(capsys: pytest.CaptureFixture[str]) -> None:
    found = document_of(tune(SPACE, GAIN, Budget(launches=200), null=True), capsys)
    assert {"default", "recommendation", "launches", "elapsed_s", "configurations"} <= found.keys()
    assert found["default"]["summary"]["wall_s"].keys() >= SUMMARY
    assert found["recommendation"].keys() >= {"settings", "claim", "script"}
    assert found["recommendation"]["settings"] == {"malloc": "tcmalloc"}
    assert found["recommendation"]["claim"].keys() >= CLAIM
    assert len(found["noise_floor"]["ratio_ci"]) == 2


def test_tune_that_keeps_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    worse = replace(GAIN, takes_s=lambda c: 1.0 + 0.4 * len(c))
    found = document_of(tune(SPACE, worse, Budget(launches=200)), capsys)
    assert found["recommendation"]["settings"] == {}
    assert "claim" not in found["recommendation"]
    assert "noise_floor" not in found


def test_compare(capsys: pytest.CaptureFixture[str]) -> None:
    study = compare(GAIN, Budget(launches=80), {}, {"malloc": "tcmalloc"}, {"nice": 5}, null=True)
    found = document_of(study, capsys)
    assert found["metric"] == "wall_s"
    assert [arm["name"] for arm in found["arms"]] == [
        "default",
        "default (again)",
        "malloc=tcmalloc",
        "nice=5",
    ]
    assert all(arm["summary"]["wall_s"].keys() >= SUMMARY for arm in found["arms"])
    assert [claim["b"] for claim in found["claims"]] == ["malloc=tcmalloc", "nice=5"]
    assert all(claim.keys() >= CLAIM for claim in found["claims"])
    assert "ratio_ci" in found["noise_floor"]


def test_measure(capsys: pytest.CaptureFixture[str]) -> None:
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload(),
        budget=Budget(launches=20),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    found = document_of(carry_out(spec, GAIN), capsys)
    assert found["summary"]["wall_s"].keys() >= SUMMARY
    assert len(found["samples"]) == 20
    assert all(sample.keys() >= SAMPLE for sample in found["samples"])


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_a_measurement_of_few_launches_says_so(count: int) -> None:
    arm = ArmResult(
        name="default",
        configuration=DEFAULT,
        summary={"wall_s": summarise([0.1 + 0.001 * at for at in range(count)])},
    )
    said = _measured(arm, WALL)
    assert said.startswith("wall_s: 10")
    assert ("1 launch:" in said) == (count == 1)
    assert ("launches" in said) == (count > 1)
    assert ("too few for an interval" in said) == (count < 4)
    assert ("(interval " in said) == (count >= 4)


@pytest.mark.parametrize(
    ("unit", "shown"), [("", "0.2 in all 4 launches."), ("s", "200 ms in all 4 launches.")]
)
def test_constant_measurement_has_no_interval(unit: str, shown: str) -> None:
    metric = msgspec.structs.replace(WALL, name="loss", unit=unit)
    arm = ArmResult(
        name="default", configuration=DEFAULT, summary={"loss": summarise([0.2, 0.2, 0.2, 0.2])}
    )
    assert _measured(arm, metric) == f"loss: {shown}"


def test_measurement_with_failures_states_them_in_its_first_sentence() -> None:
    arm = ArmResult(
        name="default",
        configuration=DEFAULT,
        summary={"wall_s": summarise([0.1, 0.101, 0.102, 0.103])},
        failures=3,
        timeouts=1,
    )
    assert _measured(arm, WALL).endswith(", 4 launches; 3 others failed and 1 other timed out).")


@pytest.mark.parametrize("slow", ["baseline", "other", "both"])
def test_time_outs_leave_a_document_that_can_be_read(
    slow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No infinity and no NaN, which are not JSON."""
    program = SimulatedProgram(
        takes_s=lambda c: 99.0 if slow == "both" or (slow == "other") == bool(c) else 1.0
    )
    study = compare(program, Budget(launches=40), {}, {"nice": 5}, timeout_s=10.0)
    found = document_of(study, capsys)
    assert any("--timeout" in note for note in found["notes"])
    lines = "\n".join(result_lines(result_of(study)))
    assert "nan" not in lines
    assert "inf" not in lines.replace("information", "")
    if slow != "both":
        assert "at least" in lines


def test_lines_say_the_verdict_first_and_what_to_do_next() -> None:
    study = tune(SPACE, GAIN, Budget(launches=200))
    first, *_, again, script = result_lines(result_of(study))
    assert first.startswith("malloc=tcmalloc takes ")
    assert "less time than the default (95 % interval -" in first
    assert again.endswith("assay run --from abc1234")
    assert "--from abc1234 --explain" in script
    assert any("noise floor  not measured" in line for line in result_lines(result_of(study)))


def test_lines_of_higher_is_better() -> None:
    metric = Metric(name="fps", goal=Goal.HIGHER, pattern="x")
    study = tune(SPACE, replace(GAIN, metric=metric), Budget(launches=200))
    assert "raises fps by" in next(iter(result_lines(result_of(study))))


def test_lines_are_safe_to_show_and_fit_the_terminal() -> None:
    """Names are commands; an arm that gave no value may have failed in the warm-up only."""
    program = replace(GAIN, fails=lambda c: 0.0)
    study = compare(program, Budget(launches=80), {}, {"env.A": "\x1b[31m\u202e" + 50 * "x"})
    hostile = msgspec.structs.replace(study.conclusion, notes=("a \x1b[2J b",), stop_reason="\x07.")
    result = replace(result_of(study), conclusion=hostile)
    lines = list(result_lines(result))
    assert not any(c in line for line in lines for c in "\x1b\x07\u202e")
    assert any("env.A=\\x1b[31m\\u202e" in line for line in lines)
    narrow = list(result_lines(result, 60))
    assert any(line.split()[:2] == ["n", "min"] and len(line) <= 60 for line in narrow)
    rows = [line for line in narrow if line.startswith("    ") and " s" in line]
    assert len(rows) == 2 and all(len(line) <= 60 for line in rows)
    narrower = list(arm_lines(result.conclusion.arms, WALL, 40))
    listed = [line for line in narrower if line.startswith("    ")]
    assert all(len(line) <= 40 for line in listed)
    for head in ("n ", "min ", "q1 ", "median ", "q3 ", "max "):
        assert sum(f"  {head}" in line for line in listed) == 2, "once for each arm, whole"


@pytest.mark.parametrize(
    ("failures", "timeouts", "told"),
    [(0, 0, "no value"), (2, 0, "no value (2 failed)"), (0, 3, "no value (3 timed out)")],
)
def test_an_arm_without_a_value(failures: int, timeouts: int, told: str) -> None:
    arm = ArmResult(
        name="x", configuration=DEFAULT, summary={}, failures=failures, timeouts=timeouts
    )
    assert list(arm_lines((arm,), WALL))[-1] == f"  x  {told}"
    assert list(arm_lines((arm,), WALL, 40))[-1].strip() == told


def test_output_that_nobody_reads_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `assay settings list | head -1`."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return opened

    monkeypatch.setenv("ASSAY_EXEC", "/bin/true")
    read, opened = os.pipe()
    os.close(read)
    monkeypatch.setattr(sys, "stdout", Gone())
    try:
        assert main(["settings", "list"]) == 128 + 13
    finally:
        os.close(opened)


def test_disturbed_study_shows_values_and_marks_them() -> None:
    busy = replace(GAIN, others=lambda launch: 1.0)
    study = compare(busy, Budget(launches=60), {}, {"nice": 5})
    blocks = study.conclusion.blocks
    lines = list(result_lines(result_of(study)))
    assert "nice=5" in lines[0]
    assert lines[1].startswith(f"Other processes disturbed {blocks} of {blocks} blocks")
    assert sum(line.endswith(f"  {blocks} disturbed") for line in lines) == 2
    assert not any("no value" in line for line in lines)
    document = result_document(result_of(study), ())
    assert [arm["disturbed_launches"] for arm in document["arms"]] == [blocks, blocks]


@pytest.mark.parametrize("launches", [24, 400])
def test_an_unclear_comparison_says_how_it_goes_on(launches: int) -> None:
    noisy = SimulatedProgram(takes_s=lambda c: 1.0 + 0.12 * len(c), noise=0.1)
    study = compare(noisy, Budget(launches=launches), {}, {"nice": 5})
    (claim,) = study.conclusion.claims
    lines = [line for line in result_lines(result_of(study)) if "decide it" in line]
    if launches == 400:
        assert claim.verdict is Verdict.SLOWER
        assert not lines
        return
    assert claim.blocks_needed is not None
    least = 2 * (claim.blocks_needed - claim.blocks)
    (line,) = lines
    more = int(line.rpartition(" ")[2])
    assert least <= more <= 1.3 * least
    cost = f"about {more} launches more, over all arms"
    assert line == f"  decide it ({cost}): assay study resume abc1234 --runs {more}"
    pairs = claim.blocks_needed - claim.blocks
    assert f"in all would decide, {pairs} more than now." in next(
        iter(result_lines(result_of(study)))
    )
