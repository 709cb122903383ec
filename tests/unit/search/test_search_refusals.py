"""Values that a launch refuses leave the search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_studies import factors, space_of, tune

from assay.records import Budget, Configuration, Grant, GrantStatus, Launch, Outcome, Sample, Stage
from assay.search.history.refusals import Refusals
from assay.testing.search_contracts import SimulatedProgram

PROGRAM = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.8}), noise=0.02)
REFUSING = replace(PROGRAM, refuses={"cpu.isa": "avx2-zen"})
SMALL = space_of(**{"cpu.isa": ("avx2", "avx2-zen"), "malloc": ("jemalloc", "tcmalloc")})
LARGE = space_of(
    **{
        "cpu.isa": ("avx2", "avx2-zen"),
        "malloc": ("jemalloc", "tcmalloc"),
        "threads": tuple(range(1, 30)),
        "nice": tuple(range(1, 20)),
    }
)


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("space", "launches"), [(SMALL, 300), (LARGE, 200)], ids=["racing", "model"]
)
def test_refused_value_is_not_proposed_again(space: object, launches: int) -> None:
    study = tune(space, REFUSING, Budget(launches=launches))  # type: ignore[arg-type]
    asking = [s.launch for s in study.samples if s.launch.configuration.get("cpu.isa")]
    zen = [launch for launch in asking if launch.configuration["cpu.isa"] == "avx2-zen"]
    assert zen, "the value was never tried, and nothing is shown"
    assert {launch.block for launch in zen} == {zen[0].block}
    later = [launch for launch in asking if launch.block > zen[0].block]
    assert later, "other values are tried on"
    notes = [note for note in study.conclusion.notes if "avx2-zen" in note]
    assert notes == [
        "cpu.isa=avx2-zen was refused at launch (the value is missing), and left the search"
    ]
    assert study.settings["malloc"] == "tcmalloc"
    assert study.settings.get("cpu.isa") != "avx2-zen"


def test_refused_value_does_not_win() -> None:
    """Its launches did not run with the value."""
    lucky = replace(REFUSING, takes_s=factors(**{"cpu.isa": {"avx2-zen": 0.5}}))
    study = tune(SMALL, lucky, Budget(launches=200))
    assert "avx2-zen" not in study.settings.values()


def sample(value: str, granted: GrantStatus, stage: Stage = Stage.SEARCH) -> Sample:
    configuration = Configuration({"thp": value})
    launch = Launch(configuration=configuration, arm=value, stage=stage, block=0, position=0)
    grant = Grant(value=value, status=granted, reason="why")
    return Sample(launch=launch, outcome=Outcome.OK, settings={"thp": grant})


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        ([GrantStatus.REFUSED], True),
        ([GrantStatus.REFUSED, GrantStatus.UNVERIFIED], True),
        ([GrantStatus.REFUSED, GrantStatus.GRANTED], False),
        ([GrantStatus.DEGRADED, GrantStatus.REFUSED], False),
        ([GrantStatus.UNVERIFIED], False),
        ([], False),
    ],
)
def test_value_accepted_once_stays(seen: list[GrantStatus], left: bool) -> None:
    found = Refusals()
    for granted in seen:
        found.add(sample("always", granted))
    assert found.covers(Configuration({"thp": "always", "nice": 1})) is left
    assert not found.covers(Configuration({"thp": "never"}))
    assert found.reasons == ({"thp=always": "why"} if left else {})


def test_refusal_in_confirmation_does_not_exclude() -> None:
    """A refusal during the confirmation is reported with the winner."""
    found = Refusals()
    found.add(sample("always", GrantStatus.REFUSED, Stage.CONFIRM))
    assert not found.reasons
