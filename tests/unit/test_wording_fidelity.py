from __future__ import annotations

from assay.records import FidelityLevel, FidelityResult
from assay.reporting.parts.fidelity import fidelity
from assay.wording.fidelity import agreement, not_used

LEVELS = (
    FidelityLevel(value=50, launches=60, configurations=40, time_s=20.0),
    FidelityLevel(value=2000, launches=20, configurations=8, time_s=200.0),
)


def result(**fields: object) -> FidelityResult:
    known = {"name": "arg.steps", "levels": LEVELS, "configurations": 8, "top": 3, "top_found": 2}
    return FidelityResult(**{**known, "tau": 0.7, **fields})  # type: ignore[arg-type]


def test_agreement_states_tau_with_interval_and_ceiling() -> None:
    note = agreement(result(ci=(0.3, 0.9), ceiling=0.8), 2000, misled=False)
    assert "arg.steps=50 predicted the order of 8 configurations at 2000" in note
    assert "Kendall's tau 0.70 (95 % interval 0.30 to 0.90)" in note
    assert "agree with 0.80" in note
    assert "2 of the best 3" in note
    assert "misleads" not in note


def test_agreement_of_few_configurations_has_no_interval() -> None:
    note = agreement(result(configurations=4), 2000, misled=False)
    assert "too few for an interval" in note
    assert "two halves" not in note


def test_misleading_fidelity_names_the_next_step() -> None:
    note = agreement(result(tau=-0.9, ci=(-1.0, -0.6)), 2000, misled=True)
    assert "begin with a higher value, or leave --fidelity out" in note


def test_unused_fidelity_names_its_values() -> None:
    assert "with 50 the default" in not_used("arg.steps", LEVELS[:1])


def test_report_escapes_the_name_of_the_setting() -> None:
    page = str(fidelity(result(name="arg.<b>")))
    assert "<b>" not in page
    assert "arg.&lt;b&gt;" in page


def test_report_without_low_fidelity_has_no_chapter() -> None:
    assert fidelity(FidelityResult(name="arg.steps", levels=LEVELS[1:])) is None
