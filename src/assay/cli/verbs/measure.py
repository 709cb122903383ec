"""``assay measure``: one configuration, until it is precise enough."""

from __future__ import annotations

import argparse
import os

from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, store_of
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.assigned import configuration_of
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.command_words import command_of
from assay.cli.requests.observe import observed_of
from assay.cli.requests.request import (
    budget_of,
    disturbed_above_of,
    gate_of,
    precision_of,
    warmup_of,
)
from assay.cli.requests.reserving import in_share, reservation_of
from assay.cli.requests.workload import (
    demand_one_objective,
    requirements_of,
    statistic_of,
    workload_of,
)
from assay.cli.show.answer import deliver_answer, export_paths
from assay.cli.show.gate import gate_status
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError
from assay.records import Arm, Kind, Sample, Statistic, StudySpec
from assay.search.claims.gate import SINGLE_ARM_CONDITIONS
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    gate = gate_of(arguments.fail_if, SINGLE_ARM_CONDITIONS)
    demand_one_objective(arguments)
    exports = export_paths(arguments)
    _demand_mean(arguments)
    argv = command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
    asked = reservation_of(arguments)
    lab = laboratory(
        program_before(argv, builds=arguments.build is not None), helper=arguments.helper
    )
    with in_share(lab, asked, seed=arguments.seed, quiet=arguments.quiet) as placed:
        result, samples = _measured(arguments, placed, argv)
    deliver_answer(arguments, result, samples, exports)
    return gate_status(gate, result)


def _measured(
    arguments: argparse.Namespace, lab: Laboratory, argv: tuple[str, ...]
) -> tuple[StudyResult, list[Sample]]:
    configuration = configuration_of(arguments.assignments, lab.registry, lab.machine)
    workload = workload_of(arguments, argv, configurations=(configuration,))
    warn_of_unused_input(workload, quiet=arguments.quiet)
    warn_of_long_grace(workload, budget_of(arguments), quiet=arguments.quiet)
    warn_of_parallel_job(os.environ, quiet=arguments.quiet)
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload,
        budget=budget_of(arguments),
        arms=(Arm(name=str(configuration), configuration=configuration),),
        precision=precision_of(arguments),
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments, os.environ),
        observe=observed_of(arguments.observe),
        warmup=warmup_of(arguments),
        require=requirements_of(arguments, workload),
        reserve=reservation_of(arguments),
    )
    lab, spec = prepare_boot_settings(arguments, with_built(lab, spec, quiet=arguments.quiet), spec)
    with (
        store_of(arguments) as store,
        Progress(spec, live=uses_live_line(arguments), quiet=arguments.quiet) as progress,
    ):
        result = begin(lab, store, spec, progress)
        return result, store.samples(result.study_id)


def _demand_mean(arguments: argparse.Namespace) -> None:
    """Refuse what is for verbs that decide between arms.

    Raises:
        InvalidInputError: the objective names another statistic than the mean.
    """
    if statistic_of(arguments) is not Statistic.MEAN:
        raise InvalidInputError(
            "measure decides nothing: it tells the mean, the five numbers and the spread.",
            "Name the metric alone; compare, tune and sweep decide by :median or :spread.",
        )
