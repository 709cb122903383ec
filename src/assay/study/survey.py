"""Survey: a first launch that inspects the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from assay.errors import WorkloadFailedError
from assay.executors.evidence.failure_output import failure_excerpt_of
from assay.executors.local import LocalExecutor
from assay.executors.parallel import SLOT_VARIABLE
from assay.executors.progress.notices import FirstNotices
from assay.records import (
    DEFAULT,
    Budget,
    Launch,
    Metric,
    Outcome,
    Requirement,
    RunFacts,
    Sample,
    Stage,
    StudySpec,
    Workload,
)
from assay.records.observation import ALL_OBSERVATIONS
from assay.search.history.history import DEFAULT_ARM
from assay.search.progress.end_rules import first_look
from assay.search.races.search_race import MAX_ATTEMPTS
from assay.study.budget_account import BudgetAccount
from assay.study.demands import (
    demand_objective,
    demand_reports,
    demand_required,
    required_metrics,
)
from assay.study.first_block import is_long
from assay.study.laboratory import Laboratory
from assay.study.loop import awaited_samples
from assay.study.stop import StopSignal
from assay.wording.failure import RUN_BY_HAND, failure_text


@dataclass(frozen=True)
class Survey:
    """Result of a first launch in the default configuration.

    Attributes:
        sample: sample of the launch that succeeded or timed out.
        facts: report of the launcher.
        elapsed_s: time of all attempts, in seconds.
    """

    sample: Sample
    facts: RunFacts | None
    elapsed_s: float


def survey(
    laboratory: Laboratory,
    workload: Workload,
    budget: Budget,
    objectives: Sequence[Metric] = (),
    require: Sequence[Requirement] = (),
    ending: Callable[[float], None] = lambda grace_s: None,
    noticed: Callable[[str], None] = lambda text: None,
    stop: StopSignal | None = None,
) -> Survey:
    """Launch the program once in its default configuration.

    The launch warms the caches and shows the mapped files. Its time is used only if it is long (see
    ``counted_survey``). It may take the whole time budget, but no more.

    Args:
        laboratory, workload, budget: host, workload and budget of the study.
        objectives, require: metrics that the output must contain.
        ending: callback for an interrupt, with the time until SIGKILL in seconds.
        noticed: receiver of findings about the values of the running launch.
        stop: request of another thread to stop; ``None`` if no thread can make it.

    Raises:
        WorkloadFailedError: all attempts fail.
        InvalidInputError: the output lacks the objective or a required metric.
    """
    arms = (DEFAULT_ARM,)
    began = time.monotonic()
    caps = [cap for cap in (workload.timeout_s, budget.time_s) if cap is not None]
    account = BudgetAccount(budget)
    slot, driver = None, laboratory.driver
    if laboratory.slots:
        slot = 0
        driver = driver.within(laboratory.slots[slot], **{SLOT_VARIABLE: str(slot)})
    with LocalExecutor(
        workload,
        driver,
        laboratory.registry,
        observe=ALL_OBSERVATIONS,
        speed=False,
        left_s=lambda: account.left.time_s,
        host=laboratory.host_for(workload),
        notices=FirstNotices(noticed),
    ) as executor:
        for block in range(MAX_ATTEMPTS):
            launch = Launch(
                configuration=DEFAULT,
                arm=DEFAULT_ARM.name,
                stage=Stage.SURVEY,
                block=block,
                position=0,
                timeout_s=min(caps, default=None),
                block_arms=arms,
                cpu_slot=slot,
                end=None if workload.steady_metric is None else first_look(budget),
            )
            executor.submit(launch, laboratory.plan(DEFAULT))
            sample = _awaited(executor, ending, stop)
            demand_reports(sample, workload)
            if sample.outcome.succeeded or sample.outcome is Outcome.TIMED_OUT:
                break
        else:
            raise WorkloadFailedError(
                f"The program fails in its default configuration: {failure_text(sample, workload)}."
                f"{failure_excerpt_of(sample.outputs)}",
                RUN_BY_HAND,
            )
        for metric in objectives or (workload.objective,):
            demand_objective(sample, metric)
        demand_required(sample, required_metrics(workload, require))
        return Survey(sample, executor.last_facts, time.monotonic() - began)


def counted_survey(sample: Sample, spec: StudySpec) -> Sample:
    """Return the sample of a survey as it enters the study.

    A whole launch that takes long counts as the first one of the default, and replaces the launch
    that would measure its time for planning the search. A short one only warms up.

    Args:
        sample: sample of the survey.
        spec: specification of the study.
    """
    whole = sample.outcome is Outcome.OK and spec.workload.steady_metric is None
    if not whole or spec.budget.time_s is None or not is_long(sample, spec):
        return sample
    launch = msgspec.structs.replace(sample.launch, stage=Stage.GAUGE)
    return msgspec.structs.replace(sample, launch=launch)


def _awaited(
    executor: LocalExecutor, ending: Callable[[float], None], stop: StopSignal | None
) -> Sample:
    """Return the sample of the running launch."""
    try:
        return awaited_samples(executor, stop)[0]
    except BaseException:  # an interrupt
        if grace_s := executor.ask_to_end():
            ending(grace_s)
        raise
