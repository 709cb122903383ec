"""Sessions: beginning a study and going on with one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.errors import BadInput, NotPossible, WorkloadFailed
from assay.launch.driver import Driver
from assay.launch.planner import plan
from assay.machine.document import Machine, Program
from assay.measure.executor import LocalExecutor
from assay.measure.gone import demand_folder
from assay.measure.libraries import libraries_changed
from assay.records import (
    DEFAULT,
    Budget,
    Conclusion,
    Configuration,
    Kind,
    Launch,
    MachineFloor,
    Outcome,
    Plan,
    RunFacts,
    Sample,
    Stage,
    Status,
    Stratum,
    StudySpec,
    Workload,
)
from assay.search.calibrate import CalibrateRace
from assay.search.compare import CompareRace
from assay.search.conclude import conclude
from assay.search.floor import beside, floor_notes
from assay.search.history import DEFAULT_ARM
from assay.search.measure import MeasureRace
from assay.search.purse import OVERHEAD_S
from assay.search.race import Race
from assay.search.searcher import Searcher
from assay.search.space import SearchSpace
from assay.search.sweep import SweepRace
from assay.search.tpe import TpeSearcher
from assay.search.tune import TRIES, TuneRace
from assay.settings.registry import Registry
from assay.store import Store, StudyRecord
from assay.study.floor import machine_floor
from assay.study.loop import Account, Listener, StudyLoop, demand_objective
from assay.study.recommend import with_script
from assay.study.stratum import demand_same, stratum_of
from assay.study.watch import Watch


@dataclass(frozen=True)
class Laboratory:
    """What studies need of the host they run on.

    Attributes:
        program: what runs; where commands are compared, the first of them.
        others: the further commands of a comparison.
    """

    machine: Machine
    registry: Registry
    driver: Driver
    program: Program | None = None
    others: tuple[Program, ...] = ()

    def plan(self, configuration: Configuration) -> Plan:
        """Resolve a configuration here."""
        return plan(configuration, self.machine, self.registry, self.program)

    @property
    def files(self) -> tuple[str, ...]:
        """What runs: the files of all programs."""
        programs = (*((self.program,) if self.program else ()), *self.others)
        return tuple(dict.fromkeys(path for program in programs for path in program.files))

    @property
    def digest(self) -> str | None:
        """Of the program's file; where commands are compared, of all their files."""
        if self.program is None or not self.others:
            return self.program.digest if self.program else None
        known = [program.digest or "" for program in (self.program, *self.others)]
        return hashlib.sha256("\n".join(known).encode()).hexdigest()

    def admits(self, configuration: Configuration) -> bool:
        """Whether nothing of a configuration is refused here."""
        return not self.plan(configuration).refused

    def space(self, spec: StudySpec) -> SearchSpace:
        """The space of a study, bound to what can be granted here."""
        return SearchSpace(spec.space, self.admits)


@dataclass(frozen=True)
class Survey:
    """A first launch in the default configuration: what the program is, seen from outside.

    Attributes:
        sample: of the launch that worked, or timed out.
        facts: about it.
        elapsed_s: what it took with all attempts before it.
    """

    sample: Sample
    facts: RunFacts | None
    elapsed_s: float


@dataclass(frozen=True)
class Result:
    """A study that came to its end.

    Attributes:
        floor: noise floor of its machine by the newest calibration in the store, where one stands
            beside the claims.
    """

    study_id: str
    spec: StudySpec
    conclusion: Conclusion
    elapsed_s: float
    floor: MachineFloor | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What weakens the answer, by its own samples and by the calibration."""
        return (*self.conclusion.notes, *floor_notes(self.floor, self.conclusion))


def survey(laboratory: Laboratory, workload: Workload, budget: Budget) -> Survey:
    """Launch the program once in its default configuration.

    It warms the caches and shows what the program maps; its time is never used. It may take the
    whole budget of time, and no more.

    Raises:
        WorkloadFailed: it fails at every attempt.
        BadInput: its output does not hold the objective.
    """
    arms = (DEFAULT_ARM,)
    began = time.monotonic()
    caps = [cap for cap in (workload.timeout_s, budget.time_s) if cap is not None]
    with LocalExecutor(workload, laboratory.driver, laboratory.registry, speed=False) as executor:
        for block in range(TRIES):
            launch = Launch(
                configuration=DEFAULT,
                arm=DEFAULT_ARM.name,
                stage=Stage.SURVEY,
                block=block,
                position=0,
                cap_s=min(caps, default=None),
                roster=arms,
            )
            executor.submit(launch, laboratory.plan(DEFAULT))
            sample = executor.poll(None)[0]
            if sample.outcome in (Outcome.OK, Outcome.TIMED_OUT):
                break
        else:
            raise WorkloadFailed(
                f"The program fails in its default configuration: {sample.message}."
                f"{_last_words(executor.errors, executor.output)}",
                "Run it by hand first; --check, --timeout and --limit are part of its success.",
            )
        demand_objective(sample, workload.objective)
        return Survey(sample, executor.last_facts, time.monotonic() - began)


def _last_words(*files: Path) -> str:
    """The last lines that the program wrote, to show with its failure."""
    for file in files:
        try:
            with file.open("rb") as stream:
                stream.seek(max(0, file.stat().st_size - 2000))
                lines = stream.read().decode(errors="replace").strip().splitlines()[-5:]
        except OSError:
            continue
        if lines:
            return "\n    " + "\n    ".join(lines)
    return ""


def begin(
    laboratory: Laboratory,
    store: Store,
    spec: StudySpec,
    listener: Listener,
    seen: Survey | None = None,
) -> Result:
    """Begin a study and carry it to its end.

    Args:
        laboratory: the host.
        store: where it is kept.
        spec: what is asked.
        listener: is told.
        seen: the survey, made before the study existed.

    Raises:
        BadInput, NotPossible: what is asked can never run; there is no study then.
        AssayError: as ``StudyLoop.run``; the study is kept.
    """
    laboratory.space(spec)
    for arm in spec.arms:
        laboratory.plan(arm.configuration).demand_granted()
    stratum = stratum_of(0, laboratory.machine, laboratory.digest, laboratory.driver.env)
    study_id = store.create_study(spec, stratum, time.time())
    listener.began(study_id)
    if seen is not None:
        planned = laboratory.plan(seen.sample.launch.configuration)
        store.add_sample(study_id, stratum.number, seen.sample, planned)
        store.add_elapsed(study_id, seen.elapsed_s)
    return _carry_on(laboratory, store, study_id, spec, stratum, listener)


def resume(
    laboratory: Laboratory,
    store: Store,
    study_id: str,
    listener: Listener,
    *,
    new_stratum: bool,
    more: Budget | None = None,
) -> Result:
    """Go on with a study where it stopped.

    Args:
        laboratory: the host.
        store: where it is kept.
        study_id: whole identity.
        listener: is told.
        new_stratum: begin anew beside what was measured, without pooling.
        more: to spend beyond what was spent; what is left of the study's own budget if absent.
            Intervals hold at every look, so that going on after a verdict costs no validity.

    Raises:
        Gone: the folder that it was begun in.
        NotPossible: another process carries it on, or conditions changed.
        AssayError: as ``StudyLoop.run``.
    """
    record = store.study(study_id)
    demand_folder(record.spec.workload)
    newest = record.strata[-1]
    env = laboratory.driver.env
    now = stratum_of(newest.number, laboratory.machine, laboratory.digest, env)
    if not new_stratum:
        demand_same(newest, now)
    store.claim(study_id)
    if new_stratum:
        now = stratum_of(newest.number + 1, laboratory.machine, now.program_digest, env)
        store.add_stratum(study_id, now)
    elif more is None and record.status is Status.DONE and record.conclusion is not None:
        return result_of(store, record, record.conclusion)
    store.set_status(study_id, Status.RUNNING)
    listener.began(study_id)
    return _carry_on(laboratory, store, study_id, record.spec, now, listener, more)


def _carry_on(
    laboratory: Laboratory,
    store: Store,
    study_id: str,
    spec: StudySpec,
    stratum: Stratum,
    listener: Listener,
    more: Budget | None = None,
) -> Result:
    space, searcher = laboratory.space(spec), TpeSearcher()
    race = race_of(spec, space, searcher)
    earlier = store.samples(study_id, stratum.number)
    for sample in earlier:
        race.tell(sample)
    notes = library_notes(earlier)
    elapsed_s = _recount(store, study_id, earlier)
    account = Account(
        budget=spec.budget if more is None else _beyond(more, elapsed_s, len(earlier)),
        elapsed_s=elapsed_s,
        launches=len(earlier),
    )
    loop = StudyLoop(
        study_id,
        stratum.number,
        spec,
        store=store,
        race=race,
        executor=LocalExecutor(
            spec.workload,
            laboratory.driver,
            laboratory.registry,
            varied=varied(spec),
            pad_seed=spec.seed if spec.pad_environment else None,
        ),
        planner=laboratory.plan,
        account=account,
        listener=listener,
        watch=Watch(laboratory.files),
    )
    done = loop.run()
    samples = store.samples(study_id, stratum.number)
    conclusion = conclude(spec, samples, space, searcher, done)
    conclusion = with_script(conclusion, spec, laboratory.plan)
    conclusion = msgspec.structs.replace(conclusion, notes=(*conclusion.notes, *notes))
    store.set_conclusion(study_id, conclusion)
    floor = _floor_beside(store, stratum, conclusion)
    return Result(study_id, spec, conclusion, account.spent_s, floor)


def result_of(store: Store, record: StudyRecord, conclusion: Conclusion) -> Result:
    """The result of a study that is in a store."""
    floor = _floor_beside(store, record.strata[-1], conclusion)
    return Result(record.id, record.spec, conclusion, record.elapsed_s, floor)


def _floor_beside(store: Store, stratum: Stratum, conclusion: Conclusion) -> MachineFloor | None:
    """The calibrated noise floor, where claims have none of their own."""
    if not conclusion.claims or conclusion.noise_floor is not None:
        return None
    return beside(machine_floor(store, stratum.machine), conclusion)


def library_notes(samples: Sequence[Sample]) -> tuple[str, ...]:
    """What is told where a program was seen to load libraries that are others now.

    It does not keep samples apart: a file that the program itself writes anew at each launch looks
    the same. What the program links to does, by its digest.
    """
    changed = libraries_changed(samples)
    if not changed:
        return ()
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return (
        f"some launches were made before {changed[0]}{more}, which the program loads while it "
        "runs, changed; --new-stratum measures apart from them",
    )


def _beyond(more: Budget, elapsed_s: float, launches: int) -> Budget:
    """A budget that leaves ``more`` after what was spent."""
    return Budget(
        time_s=None if more.time_s is None else more.time_s + elapsed_s,
        launches=None if more.launches is None else more.launches + launches,
    )


def _recount(store: Store, study_id: str, samples: Sequence[Sample]) -> float:
    """What a stratum has spent: each has the whole budget for itself.

    A sitting that was killed could not say how long it took, and no store says which stratum a
    sitting was for; their samples can.
    """
    record = store.study(study_id)
    launching_s = sum((s.wall_s or 0.0) + OVERHEAD_S for s in samples)
    if len(record.strata) > 1:
        return launching_s
    store.add_elapsed(study_id, max(0.0, launching_s - record.elapsed_s))
    return max(record.elapsed_s, launching_s)


def varied(spec: StudySpec) -> frozenset[str]:
    """Names of the settings that differ between the arms of a study."""
    of_arms = (name for arm in spec.arms for name in arm.configuration)
    return frozenset((*(p.name for p in spec.space.parameters), *of_arms))


def race_of(spec: StudySpec, space: SearchSpace, searcher: Searcher) -> Race:
    """The race that answers a specification.

    Raises:
        BadInput: too few arms.
    """
    match spec.kind:
        case Kind.TUNE:
            return TuneRace(spec, space, searcher)
        case Kind.COMPARE:
            if len(spec.arms) < 2:
                raise BadInput("A comparison needs at least two arms.", "Name another command.")
            return CompareRace(spec)
        case Kind.MEASURE:
            return MeasureRace(spec)
        case Kind.SWEEP:
            if len(spec.arms) < 2:
                raise BadInput("A sweep needs at least two cells.", "Vary another setting.")
            return SweepRace(spec)
        case Kind.CALIBRATE:
            return CalibrateRace(spec)
    raise NotPossible(f"This version of assay cannot carry on a {spec.kind} study.")
