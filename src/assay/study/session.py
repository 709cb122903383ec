"""Sessions: beginning and resuming a study."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from assay.executors.evidence.libraries import KIND as LIBRARIES
from assay.executors.executor import Executor
from assay.executors.local import LocalExecutor
from assay.executors.missing_inputs import demand_folder
from assay.executors.parallel import ParallelExecutor
from assay.executors.progress.notices import FirstNotices
from assay.machine.document import machine_in
from assay.machine.reader import fingerprint
from assay.records import (
    Budget,
    Sample,
    Status,
    Stratum,
    StudySpec,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.output_comparison import values_of
from assay.search.history.packed_samples import with_evidence
from assay.search.model.gp import GpSearcher
from assay.search.races.race import BlockRace, Ending
from assay.search.space.search_space import SearchSpace
from assay.settings.printed_values import printed_cpu_forms
from assay.store import Store
from assay.study.affordable_observations import with_affordable
from assay.study.boot_states import BootStateComparison
from assay.study.booting import BootCheck
from assay.study.budget_account import BudgetAccount
from assay.study.earlier_samples import EarlierSamples
from assay.study.elapsed import recounted_s
from assay.study.firmware import with_firmware_values
from assay.study.kernels import kernel_description, varies_kernel
from assay.study.laboratory import Laboratory
from assay.study.listener import Listener
from assay.study.loop import StudyLoop
from assay.study.noise_floor import (
    with_launch_spread,
)
from assay.study.preparation import prepared_spec, race_of, varied_settings
from assay.study.program_files import ProgramFiles
from assay.study.recommend import with_scripts
from assay.study.recorded_samples import recorded_samples
from assay.study.result import StudyResult, library_notes, result_of
from assay.study.stop import StopSignal
from assay.study.stratum import demand_same, stratum_of
from assay.study.survey import Survey, counted_survey
from assay.wording.conditions import (
    resumed_note,
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
    done, notes = _run(laboratory, store, study_id, stratum, race, listener, more, stop)
    samples = recorded_samples(store, study_id, stratum.number, race)
    del race  # the conclusion makes counts of its own, with 300 bytes a launch
    conclusion = conclude(spec, samples, space, searcher, done)
    conclusion = with_scripts(conclusion, spec, laboratory.plan, samples)
    store.set_conclusion(study_id, conclusion)
    # Files removed by a clean-up existed while the program ran.
    with_libraries = with_evidence(samples, LIBRARIES)
    notes = library_notes(with_libraries, gone=not spec.workload.hooks.cleanup) or notes
    return result_of(store, store.study(study_id), conclusion, samples, notes)


def _run(
    laboratory: Laboratory,
    store: Store,
    study_id: str,
    stratum: Stratum,
    race: BlockRace,
    listener: Listener,
    more: Budget | None,
    stop: StopSignal | None,
) -> tuple[Ending, tuple[str, ...]]:
    """Run a race to its end.

    Returns:
        The end of the race, and notes on the libraries of earlier samples.
    """
    spec = race.spec
    earlier = EarlierSamples(store, study_id, stratum.number, race)
    notes = library_notes(earlier.with_libraries)
    elapsed_s = recounted_s(store, study_id, stratum.number, earlier.launching_s)
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
    return loop.run(), notes


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


def _beyond(more: Budget, elapsed_s: float, launches: int) -> Budget:
    """Return the total budget that adds ``more`` to the spent one."""
    return Budget(
        time_s=None if more.time_s is None else more.time_s + elapsed_s,
        launches=None if more.launches is None else more.launches + launches,
    )
