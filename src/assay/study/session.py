"""Sessions: beginning and resuming a study."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.evidence.libraries import KIND as LIBRARIES
from assay.executors.evidence.libraries import libraries_changed
from assay.executors.executor import Executor
from assay.executors.local import LocalExecutor
from assay.executors.missing_inputs import demand_folder
from assay.executors.parallel import ParallelExecutor
from assay.executors.progress.notices import FirstNotices
from assay.machine.document import machine_in
from assay.machine.reader import fingerprint
from assay.records import (
    Arm,
    Budget,
    Conclusion,
    Kind,
    MachineFloor,
    Sample,
    Status,
    Stratum,
    StudySpec,
)
from assay.records.workload import WALL
from assay.search.conclusion.conclude import conclude
from assay.search.history.output_comparison import values_of
from assay.search.history.packed_samples import PackedSamples, with_evidence
from assay.search.model.explanation import Explanation, explanation_of
from assay.search.model.gp import GpSearcher
from assay.search.model.searcher import Searcher
from assay.search.races.calibrate import CalibrateRace
from assay.search.races.compare import CompareRace
from assay.search.races.front import FrontRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import BlockRace
from assay.search.races.sweep import SweepRace
from assay.search.races.trial_race import tune_race
from assay.search.space.search_space import SearchSpace
from assay.settings.printed_values import printed_cpu_forms
from assay.settings.registry import Registry
from assay.store import Store, StudyRecord
from assay.study.affordable_observations import with_affordable
from assay.study.boot_states import BootStateComparison
from assay.study.booting import BootCheck, boot_settings_of
from assay.study.budget_account import BudgetAccount
from assay.study.earlier_samples import EarlierSamples, launching_s
from assay.study.firmware import with_firmware_values
from assay.study.instance_numbers import with_instance_numbers
from assay.study.kernels import kernel_description, varies_kernel
from assay.study.laboratory import Laboratory
from assay.study.listener import Listener
from assay.study.loop import StudyLoop
from assay.study.noise_floor import (
    calibration_of_other_machine,
    machine_floor,
    with_launch_spread,
)
from assay.study.program_files import ProgramFiles
from assay.study.recommend import with_scripts
from assay.study.recorded_samples import recorded_samples, with_conditions
from assay.study.stop import StopSignal
from assay.study.stratum import as_if_reserved, demand_same, differences, stratum_of
from assay.study.survey import Survey, counted_survey
from assay.wording.conditions import (
    STUDY_HAD_ENDED,
    changed_conditions,
    changed_libraries,
    condition_notes,
    resumed_note,
)
from assay.wording.noise_floor import applicable_floor, floor_notes, floor_of_other_machine
from assay.wording.trial_words import sample_words


@dataclass(frozen=True)
class StudyResult:
    """Result of a finished study.

    Attributes:
        study_id: id of the study.
        spec: specification of the study.
        conclusion: conclusion of the stratum.
        floor: noise floor of the machine by the newest calibration, if it is shown with the claims.
        elapsed_s: time spent on the study, over all its strata, in seconds.
        resume_notes: notes that depend on the present state of this host; the conclusion, which
            depends on its samples only, has none of them.
        stratum: number of the stratum of the conclusion, if there are several.
        explanation: for ``tune``: effects of the settings by a model of the search.
    """

    study_id: str
    spec: StudySpec
    conclusion: Conclusion
    elapsed_s: float
    floor: MachineFloor | None = None
    resume_notes: tuple[str, ...] = ()
    stratum: int | None = None
    explanation: Explanation | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return limitations of the answer from its samples, this host and the calibration."""
        return (
            *self.conclusion.notes,
            *self.resume_notes,
            *floor_notes(self.floor, self.conclusion),
        )


def begin(
    laboratory: Laboratory,
    store: Store,
    spec: StudySpec,
    listener: Listener,
    survey: Survey | None = None,
    stop: StopSignal | None = None,
) -> StudyResult:
    """Begin a study and run it to its end.

    Args:
        laboratory: the host.
        store: store of the study.
        spec: specification of the study.
        listener: receiver of the progress.
        survey: the survey, made before the study was created.
        stop: request of another thread to stop the study; ``None`` if no thread can make it.

    Raises:
        InvalidInputError, NotPossibleError: the study can never run; it is not created then.
        StudyPaused: as ``StudyLoop.run``; the study is stored.
        AssayError: as ``StudyLoop.run``; the study is stored.
    """
    laboratory = with_firmware_values(laboratory, spec, {})
    spec = prepared_spec(spec, laboratory)
    machine = fingerprint(laboratory.machine)
    spec = with_affordable(spec, store.overheads(machine))
    spec = with_launch_spread(spec, store, machine)
    race_of(spec, laboratory.space(spec), GpSearcher())  # fails before the study is created
    for arm in spec.arms:
        planned = laboratory.plan(arm.configuration)
        if not planned.pending:  # another boot may grant other values
            planned.demand_granted()
    stratum = stratum_of(0, laboratory.machine, laboratory.digest, laboratory.driver.env)
    study_id = store.create_study(spec, stratum, time.time())
    listener.started(study_id)
    if survey is not None:
        planned = laboratory.plan(survey.sample.launch.configuration)
        store.add_sample(study_id, stratum.number, counted_survey(survey.sample, spec), planned)
        store.add_elapsed(study_id, survey.elapsed_s)
    return _carry_on(laboratory, store, study_id, spec, stratum, listener, stop=stop)


def resume(
    laboratory: Laboratory,
    store: Store,
    study_id: str,
    listener: Listener,
    *,
    new_stratum: bool,
    more: Budget | None = None,
    stop: StopSignal | None = None,
) -> StudyResult:
    """Resume a study.

    Args:
        laboratory: the host.
        store: store of the study.
        study_id: complete id.
        listener: receiver of the progress.
        new_stratum: start a new stratum, whose samples are not pooled with earlier ones.
        more: additional budget beyond the spent one; the rest of the study's own budget if absent.
            Intervals are valid at every interim analysis, so resuming after a verdict is valid.
        stop: request of another thread to stop the study; ``None`` if no thread can make it.

    Raises:
        MissingInputError: the working directory of the study is missing.
        NotPossibleError: another process runs the study, or conditions changed.
        AssayError: as ``StudyLoop.run``.
    """
    record = store.study(study_id)
    demand_folder(record.spec.workload.cwd)
    newest = record.strata[-1]
    env = laboratory.driver.env
    now = stratum_of(newest.number, laboratory.machine, laboratory.digest, env)
    samples = store.samples(study_id, newest.number) if record.spec.reboot_settings else []
    laboratory = with_firmware_values(laboratory, record.spec, {}, samples)
    if not new_stratum:
        states = _states(laboratory, record.spec, newest, now, samples)
        demand_same(*states.compared())
        now = newest
    store.acquire(study_id)
    if new_stratum:
        now = stratum_of(newest.number + 1, laboratory.machine, now.program_digest, env)
        store.add_stratum(study_id, now)
    store.set_status(study_id, Status.RUNNING)
    listener.started(study_id)
    found = _carry_on(laboratory, store, study_id, record.spec, now, listener, more, stop=stop)
    made = store.study(study_id).launches - record.launches
    return replace(found, resume_notes=(*found.resume_notes, resumed_note(record.launches, made)))


def _carry_on(
    laboratory: Laboratory,
    store: Store,
    study_id: str,
    spec: StudySpec,
    stratum: Stratum,
    listener: Listener,
    more: Budget | None = None,
    *,
    stop: StopSignal | None = None,
) -> StudyResult:
    space, searcher = _space_at(laboratory, spec, stratum), GpSearcher(earlier=spec.earlier_studies)
    race = race_of(spec, space, searcher)
    earlier = EarlierSamples(spec, store.iterate_samples(study_id, stratum.number), race)
    notes = library_notes(earlier.with_libraries)
    elapsed_s = _recount(store, study_id, stratum.number, earlier.launching_s)
    budget = spec.budget
    if more is not None:
        budget = _beyond(more, elapsed_s, earlier.launches)
        race.limit_budget(budget)
        if stratum.number in store.conclusions(study_id):  # an unfinished search continues
            race.use_rest()
    account = BudgetAccount(budget=budget, elapsed_s=elapsed_s, launches=earlier.launches)
    executor = _executor(laboratory, spec, account, listener)
    if isinstance(executor, (LocalExecutor, ParallelExecutor)):
        listener.watching(executor.latest)
    loop = StudyLoop(
        study_id,
        stratum.number,
        spec,
        store=store,
        race=race,
        executor=executor,
        planner=laboratory.plan,
        account=account,
        listener=listener,
        watch=ProgramFiles(laboratory.files),
        boots=_boots(laboratory, study_id, spec, stratum, earlier.for_boots),
        failures=earlier.failures,
        stop=stop,
    )
    done = loop.run()
    samples = recorded_samples(store, study_id, stratum.number, race)
    conclusion = conclude(spec, samples, space, searcher, done)
    conclusion = with_scripts(conclusion, spec, laboratory.plan, samples)
    store.set_conclusion(study_id, conclusion)
    floor = _calibrated_floor(store, stratum, spec, conclusion)
    # Files removed by a clean-up existed while the program ran.
    with_libraries = with_evidence(samples, LIBRARIES)
    all_notes = library_notes(with_libraries, gone=not spec.workload.hooks.cleanup) or notes
    all_notes += (
        *condition_notes(stratum, with_conditions(samples)),
        *_calibration_notes(store, stratum, conclusion, floor),
    )
    record = store.study(study_id)
    elapsed_s = elapsed_of(store, record)
    stratum_number = _newest_stratum(record)
    why = explanation_of(spec, samples, conclusion)
    return StudyResult(study_id, spec, conclusion, elapsed_s, floor, all_notes, stratum_number, why)


def _states(
    laboratory: Laboratory,
    spec: StudySpec,
    then: Stratum,
    now: Stratum,
    samples: Sequence[Sample],
) -> BootStateComparison:
    return BootStateComparison(spec, laboratory.registry, then, now, laboratory.machine, samples)


def _boots(
    laboratory: Laboratory,
    study_id: str,
    spec: StudySpec,
    stratum: Stratum,
    samples: Sequence[Sample],
) -> BootCheck | None:
    """Return the check of the present boot, if the study has boot settings."""
    if not spec.reboot_settings:
        return None
    env = laboratory.driver.env
    now = stratum_of(stratum.number, laboratory.machine, laboratory.digest, env)
    states = _states(laboratory, spec, stratum, now, samples)
    machine, registry = laboratory.machine, laboratory.registry
    began = machine_in(stratum.host)
    boot = began.boot.id if began is not None else None
    kernel = kernel_description(began or machine, machine) if varies_kernel(spec) else None
    return BootCheck(study_id, spec, machine, registry, samples, states.evidence, boot, kernel)


def _space_at(laboratory: Laboratory, spec: StudySpec, stratum: Stratum) -> SearchSpace:
    """Return the space of a study, which is the same in every boot."""
    began = machine_in(stratum.host) if spec.reboot_settings else None
    return (laboratory if began is None else replace(laboratory, machine=began)).space(spec)


def _executor(
    laboratory: Laboratory, spec: StudySpec, account: BudgetAccount, listener: Listener
) -> Executor:
    """Return the executor of the launches: sequential, or one launch per slot."""
    if laboratory.executor is not None:
        return laboratory.executor(spec)
    values = None
    if varied_settings(spec) and spec.workload.compares_outputs:
        usable = laboratory.machine.usable
        values = values_of(spec) | {str(len(usable))} | printed_cpu_forms(cpu.id for cpu in usable)
    notices = FirstNotices(listener.noticed)
    if not laboratory.slots:
        return LocalExecutor(
            spec.workload,
            laboratory.driver,
            laboratory.registry,
            varied=varied_settings(spec),
            observe=spec.observations,
            values=values,
            pad_seed=spec.seed if spec.pad_environment else None,
            left_s=lambda: account.left.time_s,
            host=laboratory.host_for(spec.workload),
            progress=listener.building,
            notices=notices,
        )
    return ParallelExecutor(
        spec.workload,
        laboratory.driver,
        laboratory.registry,
        laboratory.slots,
        varied=varied_settings(spec),
        observe=spec.observations,
        values=values,
        pad_seed=spec.seed if spec.pad_environment else None,
        left_s=lambda: account.left.time_s,
        host=laboratory.host_for(spec.workload),
        progress=listener.building,
        notices=notices,
    )


def finished_result(
    laboratory: Laboratory, store: Store, record: StudyRecord
) -> StudyResult | None:
    """Return the result of a finished study, with notes on its end and on changes of this host.

    Changes are only noted, because no further samples are pooled.

    Args:
        laboratory: the host; the program need not be built.
        store: store of the study.
        record: record of the study.

    Returns:
        ``None`` if its newest stratum has no conclusion.
    """
    found = stored_result(store, record)
    if found is None or record.status is not Status.DONE:
        return None
    newest = record.strata[-1]
    unbuilt = record.spec.workload.build is not None and laboratory.built is None
    digest = newest.program_digest if unbuilt else laboratory.digest
    now = stratum_of(newest.number, laboratory.machine, digest, laboratory.driver.env)
    now = as_if_reserved(now, newest) if record.spec.reserve else now
    samples = store.samples(record.id, newest.number) if record.spec.reboot_settings else []
    states = _states(laboratory, record.spec, newest, now, samples)
    changed = differences(*states.compared())
    changed += ["the inputs of the build"] if unbuilt else []
    notes = [STUDY_HAD_ENDED, *([changed_conditions(changed)] if changed else [])]
    return replace(found, resume_notes=(*found.resume_notes, *notes))


def stored_result(
    store: Store, record: StudyRecord, samples: Sequence[Sample] | None = None
) -> StudyResult | None:
    """Return the stored result of the newest stratum of a study.

    Args:
        store: store of the study.
        record: record of the study.
        samples: samples of the newest stratum; ``None`` reads them.

    Returns:
        ``None`` if it has none, even if earlier strata have one.
    """
    newest = record.strata[-1]
    conclusion = store.conclusions(record.id).get(newest.number)
    if conclusion is None:
        return None
    floor = _calibrated_floor(store, newest, record.spec, conclusion)
    searched = conclusion.recommendation is not None
    if samples is None:
        samples = PackedSamples(store.iterate_samples(record.id, newest.number))
    why = explanation_of(record.spec, samples if searched else [], conclusion)
    notes = (
        *condition_notes(newest, with_conditions(samples)),
        *_calibration_notes(store, newest, conclusion, floor),
    )
    return StudyResult(
        record.id,
        record.spec,
        conclusion,
        elapsed_of(store, record),
        floor,
        tuple(map(sample_words(record.spec, samples), notes)),
        stratum=_newest_stratum(record),
        explanation=why,
    )


def elapsed_of(store: Store, record: StudyRecord) -> float:
    """Return the time spent on a study over all strata, in seconds.

    A running or killed session has not stored its time; the times of its launches are used instead.
    """
    if record.status is Status.DONE:
        return record.elapsed_s
    return max(record.elapsed_s, _launching_s(store, record))


def _launching_s(store: Store, record: StudyRecord, without: int | None = None) -> float:
    """Return a lower bound of the time of the launches of a study, in seconds.

    Args:
        store: store of the study.
        record: record of the study.
        without: number of a stratum to leave out.
    """
    numbers = (stratum.number for stratum in record.strata if stratum.number != without)
    return sum(
        launching_s(s) for number in numbers for s in store.iterate_samples(record.id, number)
    )


def _newest_stratum(record: StudyRecord) -> int | None:
    return record.strata[-1].number if len(record.strata) > 1 else None


def _calibrated_floor(
    store: Store, stratum: Stratum, spec: StudySpec, conclusion: Conclusion
) -> MachineFloor | None:
    """Return the calibrated noise floor if the study did not measure its own."""
    if not conclusion.claims or conclusion.noise_floor is not None:
        return None
    return applicable_floor(machine_floor(store, stratum.machine, spec.workload), conclusion)


def _calibration_notes(
    store: Store, stratum: Stratum, conclusion: Conclusion, floor: MachineFloor | None
) -> tuple[str, ...]:
    """Return a note if all calibrations are of other machines."""
    timed = any(claim.metric == WALL.name for claim in conclusion.claims)
    if not timed or conclusion.noise_floor is not None or floor is not None:
        return ()
    found = calibration_of_other_machine(store, stratum.machine)
    return () if found is None else (floor_of_other_machine(found),)


def library_notes(samples: Sequence[Sample], *, gone: bool = True) -> tuple[str, ...]:
    """Return a note if libraries that a program loaded have changed.

    ``gone`` includes deleted libraries. Samples are not separated, because a file that the program
    rewrites at each launch looks the same. Changes of linked libraries separate samples by the
    program digest.
    """
    changed = libraries_changed(samples, include_removed=gone)
    return (changed_libraries(changed),) if changed else ()


def _beyond(more: Budget, elapsed_s: float, launches: int) -> Budget:
    """Return the total budget that adds ``more`` to the spent one."""
    return Budget(
        time_s=None if more.time_s is None else more.time_s + elapsed_s,
        launches=None if more.launches is None else more.launches + launches,
    )


def _recount(store: Store, study_id: str, stratum: int, here_s: float) -> float:
    """Return the time spent on a stratum; each has the whole budget of the study.

    The store knows neither the stratum of a session nor the time of a killed one. Both follow from
    the samples, and the missing time is added to the study.

    Args:
        store: store of the study.
        study_id: complete id.
        stratum: number of the stratum.
        here_s: lower bound of the time of its launches, in seconds.
    """
    record = store.study(study_id)
    spent_s = max(record.elapsed_s, here_s + _launching_s(store, record, without=stratum))
    store.add_elapsed(study_id, max(0.0, spent_s - record.elapsed_s))
    return here_s if len(record.strata) > 1 else spent_s


def varied_settings(spec: StudySpec) -> frozenset[str]:
    """Return the names of the settings that differ between the arms of a study."""
    of_arms = (name for arm in spec.arms for name in arm.configuration)
    return frozenset((*(p.name for p in spec.space.parameters), *of_arms))


def switch_costs_s(spec: StudySpec, registry: Registry) -> dict[str, float]:
    """Return the time to change each setting of a study, in seconds, if it is not zero."""
    costs = {name: registry.get(name).switch_cost_s for name in sorted(varied_settings(spec))}
    return {name: cost_s for name, cost_s in costs.items() if cost_s > 0.0}


def prepared_spec(spec: StudySpec, laboratory: Laboratory) -> StudySpec:
    """Return a specification with the properties that determine the order of launches.

    Raises:
        InvalidInputError, NotPossibleError: as ``boot_settings_of``.
    """
    machine, registry = laboratory.machine, laboratory.registry
    return msgspec.structs.replace(
        with_instance_numbers(spec),
        switch_costs_s=switch_costs_s(spec, registry),
        reboot_settings=boot_settings_of(spec, varied_settings(spec), machine, registry),
    )


def race_of(spec: StudySpec, space: SearchSpace, searcher: Searcher) -> BlockRace:
    """Return the race of a specification.

    Raises:
        InvalidInputError: too few arms, or several objectives with an option for one.
    """
    match spec.kind:
        case Kind.TUNE if spec.objectives:
            return FrontRace(spec, space, searcher)
        case Kind.TUNE:
            return tune_race(spec, space, searcher)
        case Kind.COMPARE:
            if len(spec.arms) < 2:
                raise InvalidInputError(
                    "A comparison needs at least two arms.", "Add another command."
                )
            _demand_known_references(spec.arms)
            return CompareRace(spec)
        case Kind.MEASURE:
            return MeasureRace(spec)
        case Kind.SWEEP:
            if len(spec.arms) < 2:
                raise InvalidInputError(
                    "A sweep needs at least two cells.", "Vary another setting."
                )
            return SweepRace(spec)
        case Kind.CALIBRATE:
            return CalibrateRace(spec)
    raise NotPossibleError(f"This version of assay does not support {spec.kind} studies.")


def _demand_known_references(arms: Sequence[Arm]) -> None:
    """Raise an error if an arm is a step from a missing or later arm.

    Raises:
        InvalidInputError: names the arm.
    """
    before: set[str] = set()
    for arm in arms:
        if arm.parent is not None and arm.parent not in before:
            raise InvalidInputError(
                f"{arm.name!r} is a step from {arm.parent!r}, which is not an earlier arm.",
                "Name an earlier arm.",
            )
        before.add(arm.name)
