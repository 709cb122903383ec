"""Application of hard-to-change settings, and evidence of its duration."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.errors import AssayError
from assay.executors.executor import Node
from assay.executors.local import LocalExecutor
from assay.launch.driver import Driver, find_launcher
from assay.machine.document import Machine, Program
from assay.machine.reader import read_machine
from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    GrantStatus,
    Kind,
    Launch,
    Level,
    Outcome,
    Plan,
    RunFacts,
    Sample,
    Scope,
    Stage,
    StudySpec,
    Value,
    Workload,
)
from assay.search.races.race import Race
from assay.search.space.switching import SWITCH_EVIDENCE, HardToChangeFactors
from assay.settings.base import Resolved
from assay.settings.registry import Registry
from assay.store import open_store
from assay.study.hard_to_change import HardToChangeApplier
from assay.study.laboratory import Laboratory
from assay.study.session import begin

NAME = "test.knob"


class Opening:
    """Executor whose applications take two seconds of a simulated clock."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.opened: list[str] = []
        self.fails = False

    def nodes(self) -> list[Node]:
        return [Node("here")]

    def open(self, node: Node, plan: Plan) -> None:
        if self.fails:
            raise AssayError("It cannot be applied.", "Wait.")
        self.now_s += 2.0
        self.opened.append(str(plan.configuration))


def launch(value: str | None, position: int, *, repeat_application: bool = False) -> Launch:
    configuration = Configuration({NAME: value} if value else {})
    return Launch(
        configuration=configuration,
        arm=str(configuration),
        stage=Stage.SEARCH,
        block=0,
        position=position,
        repeat_application=repeat_application,
    )


def applied(opening: Opening, costs: dict[str, float]) -> HardToChangeApplier:
    return HardToChangeApplier(HardToChangeFactors(costs), opening, lambda: opening.now_s)  # type: ignore[arg-type]


def before(keeper: HardToChangeApplier, one: Launch) -> Sample:
    keeper.before(one, Plan(configuration=one.configuration))
    return keeper.with_evidence(Sample(launch=one, outcome=Outcome.OK))


def test_settings_are_applied_on_difference_or_request() -> None:
    opening = Opening()
    keeper = applied(opening, {NAME: 2.0})
    launches = [
        launch(None, 0),
        launch(None, 1),
        launch("a", 2),
        launch("a", 3),
        launch("a", 4, repeat_application=True),
        launch(None, 5),
    ]
    samples = [before(keeper, one) for one in launches]
    assert opening.opened == ["default", f"{NAME}=a", f"{NAME}=a", "default"]
    told = [[(e.kind, e.value, e.note) for e in s.evidence] for s in samples]
    default = [(SWITCH_EVIDENCE, 2.0, f"{NAME}=default")]
    assert told == [default, [], (a := [(SWITCH_EVIDENCE, 2.0, f"{NAME}=a")]), [], a, default]


def test_state_is_unknown_after_failure() -> None:
    opening = Opening()
    keeper = applied(opening, {NAME: 2.0})
    before(keeper, launch("a", 0))
    opening.fails = True
    with pytest.raises(AssayError):
        before(keeper, launch("b", 1))
    opening.fails = False
    before(keeper, launch("a", 2))
    assert opening.opened == [f"{NAME}=a", f"{NAME}=a"]


def test_nothing_is_applied_without_hard_to_change_settings() -> None:
    opening = Opening()
    keeper = applied(opening, {})
    assert before(keeper, launch("a", 0, repeat_application=True)).evidence == ()
    assert opening.opened == []


@dataclass(frozen=True)
class Knob:
    """System setting for tests: a variable that is slow to change."""

    name: str = NAME
    summary: str = "for tests"
    scope: Scope = Scope.SYSTEM
    switch_cost_s: float = 0.2
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        return Choices(("a", "b"))

    def default(self, machine: Machine) -> Value | None:
        return None

    def suggest(self, program: Program, machine: Machine) -> str:
        return "only where it is asked for"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved:
        return Resolved((EnvSet(name="KNOB", value=str(config[self.name])),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        return Grant(value=config[self.name], status=GrantStatus.GRANTED)


class Silent:
    def started(self, study_id: str) -> None: ...
    def noticed(self, text: str) -> None: ...
    def watching(self, latest: object) -> None: ...
    def launching(self, launch: Launch, left: Budget) -> None: ...
    def warned(self, error: AssayError) -> None: ...
    def sampled(self, sample: Sample, race: Race, left: Budget) -> None: ...

    def ending(self, grace_s: float) -> None: ...
    def ended(self, launches: int) -> None: ...
    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.mark.rotating
def test_study_with_real_launches_groups_and_averages_applications(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry specifies the cost; launches are grouped, averaged, applied and recorded."""
    opened: list[Configuration] = []

    def slowly(self: LocalExecutor, node: Node, plan: Plan) -> None:
        opened.append(plan.configuration)
        time.sleep(0.01)

    monkeypatch.setattr(LocalExecutor, "open", slowly)
    lab = Laboratory(
        machine=read_machine(),
        registry=Registry([Knob()]),
        driver=Driver(find_launcher(os.environ), os.environ),
    )
    waits = 'case "$KNOB" in a) sleep 0.004;; *) sleep 0.02;; esac'
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("sh", "-c", waits)),
        budget=Budget(launches=400),
        arms=tuple(
            Arm(name=str(c), configuration=c) for c in (Configuration(), Configuration({NAME: "a"}))
        ),
        disturbed_above=None,
    )
    with open_store(str(tmp_path / "x.db"), create=True) as store:
        result = begin(lab, store, spec, Silent())
        samples = store.samples(result.study_id)
    assert result.spec.switch_costs_s == {NAME: 0.2}
    (claim,) = result.conclusion.claims
    assert claim.verdict == "faster"
    assert claim.applications
    assert claim.blocks >= 6
    found = result.conclusion.switching
    assert found is not None
    assert found.changes == len(opened) >= 2 * claim.blocks
    assert found.time_s >= 0.01 * len(opened)
    confirmed = [s for s in samples if s.launch.stage is Stage.CONFIRM]
    assert len(confirmed) >= 2 * 2 * claim.blocks, "several launches within an application"
