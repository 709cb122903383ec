"""Configured: a run under settings, a study's recommendation, or with a build."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from assay.cli.composition import program_of
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.assigned import configuration_of
from assay.cli.requests.command_words import build_words, command_of
from assay.cli.requests.other_program import named_otherwise
from assay.cli.requests.ready import Ready
from assay.cli.requests.recipe import demand_command, recipe_asked, runs_another
from assay.cli.requests.recommended import Recommended, recommended
from assay.cli.requests.reserving import in_share, in_share_words, reservation_of
from assay.cli.startup import local_driver, start_up
from assay.cli.system_settings import applied_system_settings
from assay.errors import InvalidInputError
from assay.launch.build_command import FOLDER, build_command
from assay.launch.command import placeholders_in
from assay.launch.pool_variables import without_unread_pools
from assay.machine.reader import read_machine
from assay.records import (
    DEFAULT,
    Configuration,
    Evidence,
    Grant,
    Plan,
    Preload,
    RunFacts,
    Scope,
    Workload,
)
from assay.settings.inherited import exported_of
from assay.settings.registry import Registry, builtin, judge_all
from assay.study.laboratory import Laboratory
from assay.untrusted import clean

_LATER = {
    "cache": "assay.executors.page_cache",
    "malloc": "assay.machine.program",
    "omp.runtime": "assay.machine.program",
}
"""What the plans of some settings need beside the planner."""


class _Asked(NamedTuple):
    """What a command line asks for.

    Attributes:
        found: what the study of ``--from`` recommends.
        workload: with what builds it.
        lab: this host; with the program where it is held against that of the study.
    """

    found: Recommended | None
    workload: Workload
    lab: Laboratory
    configuration: Configuration


@contextmanager
def configured(parsed: Parsed) -> Iterator[Ready]:
    """What the command line asks for, built and granted; it holds within.

    Raises:
        InvalidInputError: what is asked for is wrong in itself.
        NotPossibleError: it is refused here.
        BuildFailedError: it cannot be built.
    """
    with _asked(parsed) as asked, _built(asked) as ready:
        ready.plan.demand_booted()
        ready.plan.demand_granted()
        with applied_system_settings(ready.plan, asked.lab.registry, ready.driver.launcher) as look:
            yield ready._replace(look=look)


def explained(parsed: Parsed) -> str:
    """The plan and the script that does the same without assay.

    Raises:
        InvalidInputError: what is asked for is wrong in itself.
    """
    from assay.launch.script import explain

    with _asked(parsed, launches=False) as asked:
        found, workload, lab, configuration = asked
        if found is not None and not parsed.separated:
            workload = msgspec.structs.replace(workload, cwd=found.workload.cwd)
        lab, plan = _planned(lab, configuration, workload)
        before = list(in_share_words(lab))
        pools = None if found is None else found.pools
        if found is not None and found.unproven:
            before.append("Not proven: no claim shows a gain.")
        return explain(plan, workload, lab.driver.env, before=before, pools=pools)


@contextmanager
def _asked(parsed: Parsed, *, launches: bool = True) -> Iterator[_Asked]:
    """What is asked for; the share that it names is had within."""
    arguments = parsed.arguments
    reservation = reservation_of(arguments)
    found = None if arguments.study is None else recommended(arguments)
    if found is not None and parsed.separated:  # another program may read more
        found = msgspec.structs.replace(found, pools=None)
    workload = _workload(parsed, found)
    registry = builtin()
    assigned = (text.partition("=")[0].strip() for text in arguments.assignments)
    names = {*(found.settings if found else ()), *assigned}
    system = any(_is_of_system(name, registry) for name in names)
    if launches:
        builds = bool(arguments.build or workload.build)
        _load(names, builds=builds, system=system, share=reservation is not None)
    same = found is not None and not parsed.separated and "command" not in found.settings
    compared = same and workload.build is None
    program = program_of(workload.argv) if compared else None
    helper = arguments.helper
    start_up((RunFacts,), launches=launches, helper=helper)
    lab = Laboratory(
        machine=read_machine(system=system, status=helper.status if helper else None),
        registry=registry,
        driver=local_driver(helper),
        program=program,
    )
    quiet = not arguments.verbose
    with in_share(lab, reservation, seed=_any_seed(), take=launches, quiet=quiet) as placed:
        # What was found on a part of the CPUs holds on such a part.
        placed = placed.divided(found.parallel if found else None)
        named = configuration_of(arguments.assignments, placed.registry, placed.room)
        configuration = Configuration({**(found.settings if found else DEFAULT), **named})
        recipe = _with_recipe(arguments, workload, configuration)
        yield _Asked(found, recipe, placed, configuration)


def _any_seed() -> int:
    """Runs are no studies: the algorithm ``random`` chooses anew each time."""
    return int.from_bytes(os.urandom(4))


def _is_of_system(name: str, registry: Registry) -> bool:
    try:
        return registry.get(name).scope in (Scope.SYSTEM, Scope.BOOT, Scope.FIRMWARE)
    except InvalidInputError:  # told where its value is read
        return False


def _load(names: Set[str], *, builds: bool, system: bool, share: bool) -> None:
    """Import later modules before signals become exceptions (``assay.cli.process.termination``)."""
    modules = [module for name, module in _LATER.items() if name in names]
    modules += ["assay.cli.requests.built", "json"] if builds else []
    modules += ["assay.root_helper.client", "hashlib"] if system else []
    modules += ["assay.partition.share", "assay.partition.share_request"] if share else []
    for module in modules:
        importlib.import_module(module)


@contextmanager
def _built(asked: _Asked) -> Iterator[Ready]:
    """What is launched, once it is built; a build stays where it is within."""
    found, workload, lab, configuration = asked
    pools = None if found is None else found.pools
    if workload.build is None:
        if found is not None and _is_other(found, lab):
            _tell_other(found)
        elif found is not None:
            _tell_name(found, workload)
        yield _ready(*_planned(lab, configuration, workload), workload, pools=pools)
        return
    from assay.cli.requests.built import program_in
    from assay.executors.builds.builder import Builder

    with Builder(workload, lab.driver.env, lab.host_for(workload)) as building:
        plan = lab.plan(configuration)
        built = building.built(plan)
        key = building.key(plan)
        argv = build_command(plan, workload)
        if found is not None and key is not None and found.built_otherwise(argv, key):
            _tell_other(found)
        folder = built.workload.placeholders[FOLDER]
        lab = dataclasses.replace(lab, program=program_in(folder, workload.argv, None))
        plan = lab.plan(configuration)
        yield _ready(lab, plan, built.workload, built.evidence, pools=pools)


def _ready(
    lab: Laboratory,
    plan: Plan,
    workload: Workload,
    evidence: tuple[Evidence, ...] = (),
    pools: frozenset[str] | None = None,
) -> Ready:
    plan, _ = without_unread_pools(plan, pools)

    def judge(facts: RunFacts) -> dict[str, Grant]:
        exported = exported_of(plan.configuration, lab.driver.env, workload.environment)
        facts = msgspec.structs.replace(facts, exported=exported)
        return judge_all(plan.configuration, lab.registry, plan, facts)

    return Ready(lab.driver, plan, workload, evidence, judge=judge)


def _planned(
    lab: Laboratory, configuration: Configuration, workload: Workload
) -> tuple[Laboratory, Plan]:
    """The plan; what the program holds decides of nothing but what is preloaded into it."""
    plan = lab.plan(configuration)
    if lab.program is None and any(isinstance(action, Preload) for action in plan.actions):
        lab = dataclasses.replace(lab, program=program_of(workload.argv))
        plan = lab.plan(configuration)
    return lab, plan


def _workload(parsed: Parsed, found: Recommended | None) -> Workload:
    """What is to run: the command, or without one that of the study.

    Raises:
        InvalidInputError: no command.
    """
    if found is None:
        return Workload(argv=command_of(parsed.command, separated=parsed.separated, shell=False))
    studied = found.workload
    if parsed.separated:
        argv = command_of(parsed.command, separated=True, shell=False)
        workload = Workload(argv=argv)
    else:
        workload = Workload(argv=studied.argv, stdin=studied.stdin)
    return msgspec.structs.replace(
        workload,
        placeholders=studied.placeholders,
        environment=studied.environment,
        build=studied.build,
    )


def _is_other(found: Recommended, lab: Laboratory) -> bool:
    """Whether the program of a study, which nothing builds, is another now than it measured."""
    return None not in (found.program_digest, lab.digest) and lab.digest != found.program_digest


def _tell_name(found: Recommended, workload: Workload) -> None:
    """Say that the study is of another program, as "last" may be once another one was measured."""
    names = named_otherwise(found.workload.argv, workload.argv)
    if names is not None:
        studied, asked = map(clean, names)
        print(
            f"assay: study {found.study_id} measured {studied}, and this is {asked}: what is best "
            "for the one may not be for the other",
            file=sys.stderr,
        )


def _tell_other(found: Recommended) -> None:
    what = "program" if found.workload.build is None else "program's source, or its compiler,"
    print(
        f"assay: the {what} changed since study {found.study_id} measured it; what is best may be "
        f"another now (`assay study resume {found.study_id} --new-stratum`)",
        file=sys.stderr,
    )


def _with_recipe(
    arguments: argparse.Namespace, workload: Workload, configuration: Configuration
) -> Workload:
    """The workload with what builds it: as asked for here, else as in the study.

    Raises:
        InvalidInputError: a value without a place, or a command that would not run what is built.
    """
    if arguments.build is None and workload.build is not None:
        demand_command(arguments.build_input, arguments.build_timeout)
        if FOLDER in placeholders_in(workload.argv):
            return workload
        if any(name.startswith("build.") for name in configuration):
            raise runs_another()
        return msgspec.structs.replace(workload, build=None)
    build = recipe_asked(
        build_words(arguments),
        arguments.build_input,
        arguments.build_timeout,
        workload.argv,
        configurations=(configuration,),
    )
    return msgspec.structs.replace(workload, build=build)
