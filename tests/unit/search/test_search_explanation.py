"""Explanations of programs with known effects."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from simulated_studies import factors, space_of, tune

from assay.records import Budget, Configuration, Goal, Kind, Metric
from assay.search.model.explanation import explain_settings
from assay.testing.search_contracts import SimulatedProgram

SPACE = space_of(
    malloc=("jemalloc", "tcmalloc"),
    threads=(1, 2, 4, 8),
    nice=(5, 10),
    thp=("never", "always"),
)
PROGRAM = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.7}, threads={4: 0.8}), noise=0.02)


@pytest.fixture(scope="module")
def study() -> object:
    return tune(SPACE, PROGRAM, Budget(launches=150))


def test_parts_are_effects_of_settings(study) -> None:  # type: ignore[no-untyped-def]
    settings = Configuration({"malloc": "tcmalloc", "threads": 4, "nice": 5})
    found = explain_settings(study.spec, study.samples, settings)
    assert found is not None
    parts = {share.settings[0][0]: share for share in found.parts}
    assert parts["malloc"].ratio == pytest.approx(0.7, abs=0.03)
    assert parts["threads"].ratio == pytest.approx(0.8, abs=0.03)
    assert parts["nice"].ratio == pytest.approx(1.0, abs=0.03)
    assert parts["malloc"].clear
    assert parts["malloc"].ci[0] < 0.7 < parts["malloc"].ci[1]
    assert [share.settings[0][0] for share in found.parts][:2] == ["malloc", "threads"]
    assert found.interactions == ()


def test_trends_are_effects_of_other_settings(study) -> None:  # type: ignore[no-untyped-def]
    found = explain_settings(study.spec, study.samples, Configuration())
    assert found is not None
    assert found.parts == ()
    first = found.trends[0]
    assert first.settings == (("malloc", "tcmalloc"),)
    assert first.ratio == pytest.approx(0.7, abs=0.05)


@pytest.mark.rotating
def test_redundant_settings_interact() -> None:
    def takes_s(configuration: Configuration) -> float:
        good = configuration.get("malloc") == "tcmalloc" or configuration.get("thp") == "always"
        return 0.1 * (0.7 if good else 1.0)

    study = tune(SPACE, SimulatedProgram(takes_s=takes_s, noise=0.01), Budget(launches=200))
    both = Configuration({"malloc": "tcmalloc", "thp": "always"})
    found = explain_settings(study.spec, study.samples, both)
    assert found is not None
    assert found.interactions
    assert found.interactions[0].settings == tuple(both.items())
    assert found.interactions[0].ratio == pytest.approx(1 / 0.7, abs=0.12)


def test_higher_ratio_of_a_score_is_better(study) -> None:  # type: ignore[no-untyped-def]
    score = Metric(name="wall_s", unit="s", goal=Goal.HIGHER)
    workload = msgspec.structs.replace(study.spec.workload, metrics=(score,))
    spec = msgspec.structs.replace(study.spec, workload=workload)
    found = explain_settings(spec, study.samples, Configuration({"malloc": "tcmalloc"}))
    assert found is not None
    assert found.parts[0].ratio == pytest.approx(0.7, abs=0.03), "the ratio is of the objective"


def test_few_launches_and_other_studies_have_no_explanation(study) -> None:  # type: ignore[no-untyped-def]
    assert explain_settings(study.spec, study.samples[:6], Configuration()) is None
    compared = msgspec.structs.replace(study.spec, kind=Kind.COMPARE)
    assert explain_settings(compared, study.samples, Configuration()) is None
    assert replace(PROGRAM) == PROGRAM


def test_refused_value_has_no_effect() -> None:
    """Its launches ran with another allocator."""
    slow = factors(malloc={"tcmalloc": 1.6, "jemalloc": 0.8})
    program = SimulatedProgram(takes_s=slow, noise=0.02, refuses={"malloc": "tcmalloc"})
    study = tune(SPACE, program, Budget(launches=60))
    for settings in ({}, {"malloc": "tcmalloc"}, {"malloc": "tcmalloc", "threads": 4}):
        found = explain_settings(study.spec, study.samples, Configuration(settings))
        assert found is not None
        shares = (*found.parts, *found.interactions, *found.trends)
        assert not [share.name for share in shares if "tcmalloc" in share.name]
    told = explain_settings(study.spec, study.samples, Configuration())
    assert told is not None and told.trends[0].settings == (("malloc", "jemalloc"),)


def test_setting_whose_every_value_was_refused_is_not_explained() -> None:
    space = space_of(malloc=("tcmalloc",), threads=(1, 2, 4, 8), nice=(5, 10))
    program = SimulatedProgram(
        takes_s=factors(threads={4: 0.8}), noise=0.02, refuses={"malloc": "tcmalloc"}
    )
    study = tune(space, program, Budget(launches=60))
    found = explain_settings(study.spec, study.samples, Configuration({"threads": 4}))
    assert found is not None
    names = {name for share in (*found.parts, *found.trends) for name, _ in share.settings}
    assert "malloc" not in names
