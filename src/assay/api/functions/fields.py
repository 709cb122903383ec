"""Fields of typed requests, from the keywords of the public functions."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assay.api.functions.argument_types import is_list, shown
from assay.api.functions.progress import (
    Progress,
    goal_texts,
    progress_sources,
    progress_texts,
    unit_texts,
    with_sources,
)
from assay.api.functions.quantities import (
    count_text,
    duration_text,
    named_texts,
    path_text,
    share_text,
    texts,
)
from assay.api.options.boot import boot_request_of
from assay.api.options.command_words import build_words, split_command, through_shell
from assay.api.options.observe import parse_observations
from assay.api.options.progress import parse_until
from assay.api.options.recipe import build_request
from assay.api.options.reservation import reservation_from
from assay.api.options.study_options import (
    budget_or_default,
    parse_budget,
    parse_disturbed_above,
    parse_margin,
)
from assay.api.options.workload import parse_statistic, requirements_of, workload_request
from assay.api.options.workload_options import WorkloadOptions
from assay.errors import InvalidInputError
from assay.records import Budget, ImportedTrials, Observation, Reservation
from assay.requests.study import BootRequest
from assay.requests.study_fields import DecisionFields, StudyFields
from assay.requests.workload import BuildRequest

Command = str | Sequence[str]
"""Command: its words, or one text that is split into words (with ``shell`` run by a shell)."""
Commands = Sequence[Command] | Mapping[str, Command] | Command
"""Commands to compare, in their order or by name, or one command."""
_COMMAND_FORMS = "Give its words, such as ['./app', 'ARG'], or one text."
Keywords = Mapping[str, Any]
"""Keywords of a public function."""


def words_of(command: Command, *, shell: bool = False) -> tuple[str, ...]:
    """Return the words of a command.

    Raises:
        InvalidInputError: the command is missing, or cannot be split.
    """
    if isinstance(command, str):
        return split_command(command, shell=shell)
    if not is_list(command):
        raise InvalidInputError(f"Invalid command: {shown(command)}.", _COMMAND_FORMS)
    words = tuple(_word(word) for word in command)
    if not words or not words[0]:
        raise InvalidInputError("The command is missing.", "Give its words: ['./app', 'ARG'].")
    if shell:
        if len(words) > 1:
            raise InvalidInputError(
                "shell takes the command as one text.", "Give the text instead of a list."
            )
        return through_shell(words[0])
    return words


def _word(word: object) -> str:
    found = os.fspath(word) if isinstance(word, str | os.PathLike) else None
    if not isinstance(found, str):
        raise InvalidInputError(
            f"Invalid word of the command: {shown(word)}.", f"Give a text: {str(word)!r}."
        )
    return found


def progress_of(given: Keywords) -> tuple[Progress, ...]:
    """Return the reported metrics that are given as objects."""
    sources = progress_sources(given.get("progress"))
    return tuple(one for one in sources if isinstance(one, Progress))


def workload_options(given: Keywords, *, compares: bool) -> WorkloadOptions:
    """Return the texts of the options that describe a workload.

    Args:
        given: keywords of the function.
        compares: the study compares arms, so that the direction of a metric matters.
    """
    progress = progress_of(given)
    limit = given.get("limit")
    if isinstance(limit, Mapping):
        limit = ",".join(f"{name}={value}" for name, value in limit.items())
    return WorkloadOptions(
        progress=progress_texts(progress_sources(given.get("progress"))),
        until=given.get("until"),
        metric=named_texts(given.get("metrics")),
        unit=(*unit_texts(progress), *named_texts(given.get("unit"))),
        goal=(*goal_texts(progress), *named_texts(given.get("goal"))),
        combine=named_texts(given.get("combine")),
        metric_file=named_texts(given.get("metric_file")),
        metric_as_is=texts(given.get("metric_as_is")),
        objective=texts(given.get("objective")),
        require=texts(given.get("require")),
        outputs_may_differ=bool(given.get("outputs_may_differ")),
        check=given.get("check"),
        timeout=duration_text(given.get("timeout")),
        grace=duration_text(given.get("grace")),
        limit=limit,
        input=path_text(given.get("input")),
        build=given.get("build"),
        build_input=texts(given.get("build_input")),
        build_timeout=duration_text(given.get("build_timeout")),
        setup=given.get("setup"),
        prepare=given.get("prepare"),
        cleanup=given.get("cleanup"),
        stop=given.get("stop"),
        shell=bool(given.get("shell")),
        parallel=count_text(given.get("parallel")),
        compares=compares,
    )


def study_fields(given: Keywords, options: WorkloadOptions, argv: tuple[str, ...]) -> StudyFields:
    """Return the fields of a request that begins a study.

    Args:
        given: keywords of the function.
        options: texts of the options of the workload.
        argv: words of the command.

    Raises:
        InvalidInputError: a value is invalid.
    """
    progress = progress_of(given)
    workload = workload_request(options, argv)
    workload = msgspec.structs.replace(workload, metrics=with_sources(workload.metrics, progress))
    return StudyFields(
        workload=workload,
        budget=budget_of(given),
        seed=given.get("seed") or 0,
        disturbed_above=disturbed_above_of(given),
        observe=observations_of(given),
        require=requirements_of(options.require, workload.metrics),
        reserve=reservation_of(given),
        boot=boot_of(given),
        until=parse_until(options.until, workload.metrics),
    )


def decision_fields(given: Keywords, options: WorkloadOptions) -> DecisionFields:
    """Return the additional fields of a request that decides between arms.

    Raises:
        InvalidInputError: a value is invalid.
    """
    return DecisionFields(
        statistic=parse_statistic(options.objective),
        margin=margin_of(given),
        null=bool(given.get("null")),
    )


def given_budget_of(given: Keywords) -> Budget:
    """Return the budget; without limits if none is given."""
    return parse_budget(duration_text(given.get("budget")), count_text(given.get("runs")))


def budget_of(given: Keywords) -> Budget:
    """Return the budget; ten minutes if none is given."""
    return budget_or_default(given_budget_of(given))


def margin_of(given: Keywords) -> float | None:
    """Return the margin of equivalence, as a share; ``None`` for the default one."""
    return parse_margin(share_text(given.get("margin")))


def disturbed_above_of(given: Keywords) -> float | None:
    """Return the CPU share above which a block is disturbed; ``None`` for no such share."""
    return parse_disturbed_above(share_text(given.get("disturbed_above")), os.environ)


def observations_of(given: Keywords) -> tuple[Observation, ...] | None:
    """Return the observations; ``None`` for the default ones."""
    found = given.get("observe")
    return parse_observations(None if found is None else ",".join(texts(found)))


def imported_of(given: object) -> tuple[ImportedTrials, ...]:
    """Return the trials of other tools.

    Raises:
        InvalidInputError: a value is none of these.
    """
    if given is None:
        return ()
    several = (given,) if isinstance(given, ImportedTrials) else given
    found = tuple(several) if isinstance(several, Sequence) else (several,)
    for one in found:
        if not isinstance(one, ImportedTrials):
            raise InvalidInputError(
                f"history: invalid value of type {type(one).__name__}.",
                "Give the result of assay.optuna.read_study.",
            )
    return found


def reservation_of(given: Keywords) -> Reservation | None:
    """Return the requested share of a partition; ``None`` for none."""
    return reservation_from(given.get("reserve"), given.get("partition"), given.get("search_on"))


def boot_of(given: Keywords) -> BootRequest:
    """Return the settings of boot and firmware."""
    return boot_request_of(
        confirm=named_texts(given.get("confirm")), verify=named_texts(given.get("verify"))
    )


def build_of(given: Keywords) -> BuildRequest | None:
    """Return the build of a function without a workload; ``None`` without a build."""
    return build_request(
        build_words(given.get("build"), None),
        texts(given.get("build_input")),
        duration_text(given.get("build_timeout")),
    )


def arm_text(arm: object) -> str:
    """Return an arm as ``SETTING=VALUE ...``."""
    from assay.api.functions.domains import setting_texts

    if isinstance(arm, str):
        return arm
    if not isinstance(arm, Mapping):
        raise InvalidInputError(
            f"Invalid arm: {shown(arm)}.", "Give settings by name, or a text SETTING=VALUE."
        )
    return shlex.join(setting_texts(arm)) or "default"
