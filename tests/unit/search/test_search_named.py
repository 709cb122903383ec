"""Searches among named configurations."""

from __future__ import annotations

import pytest

from assay.records import (
    DEFAULT,
    Budget,
    Choices,
    Configuration,
    Kind,
    Level,
    NamedConfiguration,
    Parameter,
    Plan,
    PlannedSetting,
    Prospect,
    Space,
    Stage,
    StudySpec,
    Workload,
)
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.labels import label_conclusion
from assay.search.space.named_configurations import make_search_space
from assay.study.named_configurations import grantable_named
from assay.testing.search_contracts import SimulatedProgram, run_race

NAMED = {
    "quick": {"a": "1", "b": "1", "c": "1"},
    "slow": {"a": "2", "b": "1"},
    "odd": {"a": "3", "c": "2"},
}


def a_space(*beside: Parameter) -> Space:
    values: dict[str, dict[str, None]] = {}
    for settings in NAMED.values():
        for name, value in settings.items():
            values.setdefault(name, {})[value] = None
    parameters = (Parameter(name=n, domain=Choices(tuple(v))) for n, v in values.items())
    named = (NamedConfiguration(name=n, configuration=Configuration(s)) for n, s in NAMED.items())
    return Space(parameters=(*parameters, *beside), named_configurations=tuple(named))


def takes_s(configuration: Configuration) -> float:
    """One setting of ``quick`` has the whole effect."""
    return 0.6 if configuration.get("c") == "1" else 1.2 if configuration else 1.0


@pytest.mark.parametrize("launches", [200, 60])
def test_search_tries_named_configurations_and_reduces_the_winner(launches: int) -> None:
    space = a_space()
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("./app",)),
        budget=Budget(launches=launches),
        space=space,
    )
    bound, searcher = make_search_space(space), GpSearcher()
    completed_race = run_race(
        TuneRace(spec, bound, searcher), SimulatedProgram(takes_s, noise=0.02), spec.budget
    )
    searched = {
        s.launch.configuration for s in completed_race.samples if s.launch.stage is Stage.SEARCH
    }
    assert searched <= {DEFAULT, *(one.configuration for one in space.named_configurations)}
    found = conclude(spec, completed_race.samples, bound, searcher, completed_race.done)
    assert found.recommendation is not None
    assert found.recommendation.settings.get("c") == "1"
    assert found.recommendation.settings.items() <= NAMED["quick"].items()
    shown = label_conclusion(spec, found)
    whole = Configuration(NAMED["quick"])
    named = {arm.name for arm in shown.arms if arm.configuration == whole}
    assert named <= {"quick"}


def test_refused_named_configuration_is_excluded_with_reason() -> None:
    beside = Parameter(name="d", domain=Choices(("1", "2")))

    def planner(configuration: Configuration) -> Plan:
        words = {
            name: PlannedSetting(
                value=value, level=Level.SET, status=Prospect.REFUSED, reason="not here"
            )
            for name, value in configuration.items()
            if (name, value) in (("a", "2"), ("d", "2"))
        }
        return Plan(configuration=configuration, settings=words)

    space, refused = grantable_named(a_space(beside), planner)
    assert [one.name for one in space.named_configurations] == ["quick", "odd"]
    assert refused == {"configuration.slow": "a: not here", "d=2": "not here"}
    values = {p.name: p.domain.values() for p in space.parameters}
    assert values == {"a": ("1", "3"), "b": ("1",), "c": ("1", "2"), "d": ("1",)}
