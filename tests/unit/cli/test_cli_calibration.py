"""Calibration and its noise floor on the terminal and in JSON."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from assay.api.results.documents import result_document
from assay.cli.main import main
from assay.cli.show.result import result_lines
from assay.records import DEFAULT, Arm, Budget, Kind, MachineFloor, StudySpec
from assay.records.calibration import SmallestGain
from assay.study.result import StudyResult
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.calibration import gain_words

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import Study, carry_out, compare, factors, workload

FLOOR = MachineFloor(
    study="cal1234", started_at=1.8e9, command="the built-in load", metric="wall_s", ci=(0.9, 1.2)
)


@pytest.fixture(scope="module")
def study() -> Study:
    spec = StudySpec(
        kind=Kind.CALIBRATE,
        workload=workload(),
        budget=Budget(launches=81),
        arms=(Arm(name="default", configuration=DEFAULT),),
    )
    return carry_out(spec, SimulatedProgram(takes_s=lambda configuration: 0.05, noise=0.01))


def result_of(study: Study, floor: MachineFloor | None = None) -> StudyResult:
    return StudyResult("abc1234", study.spec, study.conclusion, 12.5, floor)


def test_document_of_a_calibration(study: Study) -> None:
    found = result_document(result_of(study), ())
    assert len(found["noise_floor"]["ratio_ci"]) == 2
    assert "calibrated" not in found["noise_floor"]
    assert "claims" not in found
    assert [arm["name"] for arm in found["arms"]] == ["default", "default (again)"]
    told = found["calibration"]
    assert told.keys() >= {"median", "sd_log", "ratio_sd_log", "position", "drift"}
    assert told["false_verdicts"].keys() == {"share", "standard_error", "studies", "blocks"}
    assert [gain["budget_s"] for gain in told["gains"]] == [60.0, 300.0, 1200.0]
    assert found["blocks"] == 40


def test_lines_of_a_calibration(study: Study) -> None:
    text = "\n".join(result_lines(result_of(study), 200))
    assert text.startswith("Noise floor of this machine: two identical arms differ by ")
    assert "False verdicts of assay here: " in text
    assert "studies of identical arms from these launches, with " in text
    assert "autocorrelation" in text
    assert "disturbed   0 of 40 blocks" in text
    for budget in ("in  1 min", "in  5 min", "in 20 min"):
        assert budget in text
    assert "not measured" not in text


def test_the_floor_stands_beside_a_claim() -> None:
    program = SimulatedProgram(takes_s=factors(nice={1: 0.95}), noise=0.01)
    other = compare(program, Budget(launches=60), {}, {"nice": 1})
    bare = "\n".join(result_lines(result_of(other), 200))
    assert "noise floor  not measured (--null measures it)" in bare
    assert "noise_floor" not in result_document(result_of(other), ())
    found = result_of(other, FLOOR)
    text = "\n".join(result_lines(found, 300))
    origin = "calibrated 2027-01-15 with the built-in load"
    assert f"noise floor of this machine: -10.0 to +20.0 % ({origin})" in text
    assert "not measured" not in text
    assert "note: the difference of nice=1" in text
    document = result_document(found, ())
    assert document["noise_floor"] == {
        "ratio_ci": [0.9, 1.2],
        "calibrated": {"study": "cal1234", "date": "2027-01-15", "command": "the built-in load"},
    }
    assert any("within the noise floor" in note for note in document["notes"])


def test_a_large_claim_has_the_floor_and_no_note() -> None:
    program = SimulatedProgram(takes_s=factors(nice={1: 0.5}), noise=0.01)
    found = result_of(compare(program, Budget(launches=60), {}, {"nice": 1}), FLOOR)
    assert result_document(found, ())["notes"] == []


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (SmallestGain(budget_s=60, blocks=0), "no block fits"),
        (SmallestGain(budget_s=60, blocks=7), "none of those tried (7 blocks)"),
        (SmallestGain(budget_s=60, blocks=70, gain=0.0123), "1.2 % (70 blocks)"),
        (
            SmallestGain(budget_s=60, blocks=7000, simulated_blocks=5000, gain=0.2),
            "20 % (7,000 blocks, of which 5,000 were simulated)",
        ),
    ],
)
def test_words_of_a_gain(gain: SmallestGain, words: str) -> None:
    assert gain_words(gain) == words


def test_without_gains_and_without_a_block(study: Study) -> None:
    assert study.conclusion.calibration is not None
    little = msgspec.structs.replace(
        study.conclusion.calibration, gains=(), false_verdicts=None, drift=None
    )
    few = replace(study, conclusion=msgspec.structs.replace(study.conclusion, calibration=little))
    text = "\n".join(result_lines(result_of(few), 200))
    assert "smallest gain" not in text
    assert "False verdicts" not in text
    nothing = msgspec.structs.replace(study.conclusion, calibration=None, noise_floor=None)
    none = replace(study, conclusion=nothing)
    assert "the calibration has no result" in "\n".join(result_lines(result_of(none), 200))
    assert "calibration" not in result_document(result_of(none), ())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("calibrate", "foo"), "takes no study"),
        (("calibrate", "--new-stratum"), "takes no --new-stratum"),
        (("calibrate", "--bundle", "x.zip"), "takes no --bundle"),
        (("calibrate", "--"), "command after -- is missing"),
        (("calibrate", "--", "/no/such/program"), "was not found"),
        (("show", "last", "--seed", "3"), "takes no --seed"),
        (("calibrate", "--disturbed-above", "a lot"), "not a share"),
    ],
)
def test_invalid_calibration_is_refused(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    action, *rest = words
    assert main(["study", action, "--db", str(tmp_path / "a.db"), *rest]) == 2
    assert says in capsys.readouterr().err
