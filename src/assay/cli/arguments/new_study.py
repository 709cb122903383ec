"""Fields that the requests of several verbs share, read from the options of a new study."""

from __future__ import annotations

import argparse

from assay.api.options.observe import parse_observations
from assay.api.options.progress import parse_until
from assay.api.options.study_options import parse_margin
from assay.api.options.workload import parse_statistic, requirements_of, workload_request
from assay.api.options.workload_options import WorkloadOptions
from assay.cli.arguments.boot import boot_request
from assay.cli.arguments.reservation import reservation_of
from assay.cli.arguments.study_groups import budget_of, disturbed_above_of
from assay.requests.study_fields import DecisionFields, StudyFields


def study_fields(
    arguments: argparse.Namespace, options: WorkloadOptions, argv: tuple[str, ...]
) -> StudyFields:
    """Return the fields of a request that begins a study.

    Args:
        arguments: parsed arguments of the verb.
        options: texts of the options of the workload.
        argv: words of the command.

    Raises:
        InvalidInputError: an option is invalid.
    """
    workload = workload_request(options, argv)
    return StudyFields(
        workload=workload,
        budget=budget_of(arguments),
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments),
        observe=parse_observations(arguments.observe),
        require=requirements_of(options.require, workload.metrics),
        reserve=reservation_of(arguments),
        boot=boot_request(arguments),
        until=parse_until(options.until, workload.metrics),
    )


def decision_fields(arguments: argparse.Namespace, options: WorkloadOptions) -> DecisionFields:
    """Return the additional fields of a request that decides between arms.

    Raises:
        InvalidInputError: an option is invalid.
    """
    return DecisionFields(
        statistic=parse_statistic(options.objective),
        margin=parse_margin(arguments.margin),
        null=arguments.null,
    )
