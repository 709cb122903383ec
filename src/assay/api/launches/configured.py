"""Run under settings, under the recommendation of a study, or with a build."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from assay.api.composition import program_of
from assay.api.context import Context, local_driver
from assay.api.launches.other_program import different_names
from assay.api.launches.ready import Ready
from assay.api.launches.recommended import Recommended, recommended
from assay.api.launches.system_settings import applied_system_settings
from assay.api.observer import Observer
from assay.api.options.assigned import configuration_of
from assay.api.options.recipe import other_program_error, resolve_recipe
from assay.api.studies.reserving import in_share, share_lines
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
from assay.requests.run import RunRequest
from assay.requests.workload import BuildRequest
from assay.settings.inherited import exported_of
from assay.settings.registry import Registry, builtin, judge_all
from assay.study.laboratory import Laboratory
from assay.untrusted import clean

_MODULES_BY_SETTING = {
    "cache": "assay.executors.page_cache",
    "malloc": "assay.machine.programs.program",
    "omp.runtime": "assay.machine.programs.program",
}
"""Additional modules that the plans of some settings need."""


class _Resolved(NamedTuple):
    """Request of a run on this host.

    Attributes:
        recommendation: recommendation of the study of ``--from``.
        workload: workload with its build.
        lab: laboratory of this host; with the program if it is compared with that of the study.
        configuration: configuration of the launch.
    """

    recommendation: Recommended | None
    workload: Workload
    lab: Laboratory
    configuration: Configuration


@contextmanager
def configured(request: RunRequest, context: Context) -> Iterator[Ready]:
    """Context of a launch that is built and granted.

    Raises:
        InvalidInputError: the request is invalid.
        NotPossibleError: a setting is not grantable on this host.
        BuildFailedError: the build fails.
    """
    with _resolved(request, context) as resolved, _built(resolved, context.observer) as ready:
        ready.plan.demand_booted()
        ready.plan.demand_granted()
        registry, launcher = resolved.lab.registry, ready.driver.launcher
        with applied_system_settings(
            ready.plan, registry, launcher, context.observer.noted
        ) as read_system_files:
            yield ready._replace(read_system_files=read_system_files)


def explained(request: RunRequest, context: Context) -> str:
    """Return the plan and the script that does the same without assay.

    Raises:
        InvalidInputError: the request is invalid.
    """
    from assay.launch.script import explain

    with _resolved(request, context, launches=False) as resolved:
        found, workload, lab, configuration = resolved
        if found is not None and request.argv is None:
            workload = msgspec.structs.replace(workload, cwd=found.workload.cwd)
        lab, plan = _planned(lab, configuration, workload)
        before = list(share_lines(lab))
        pools = None if found is None else found.pools
        if found is not None and found.unproven:
            before.append("Not proven: no claim shows a gain.")
        return explain(plan, workload, lab.driver.env, before=before, pools=pools)


@contextmanager
def _resolved(
    request: RunRequest, context: Context, *, launches: bool = True
) -> Iterator[_Resolved]:
    """Context of a request on this host, with the share that it reserves."""
    found = None if request.study is None else recommended(request, context.db)
    if found is not None and request.argv is not None:  # another program may read more variables
        found = msgspec.structs.replace(found, pools=None)
    workload = _workload(request, found)
    registry = builtin()
    assigned = (text.partition("=")[0].strip() for text in request.settings)
    names = {*(found.settings if found else ()), *assigned}
    system = any(_is_system_setting(name, registry) for name in names)
    if launches:
        builds = bool(request.build or workload.build)
        _load(names, builds=builds, system=system, share=request.reserve is not None)
    same = found is not None and request.argv is None and "command" not in found.settings
    compared = same and workload.build is None
    program = program_of(workload.argv) if compared else None
    helper = context.helper
    context.prepare((RunFacts,), launches=launches)
    lab = Laboratory(
        machine=read_machine(system=system, status=helper.status if helper else None),
        registry=registry,
        driver=local_driver(helper),
        program=program,
    )
    seed, observer = _any_seed(), context.observer
    with in_share(lab, request.reserve, observer, seed=seed, take=launches) as placed:
        # A recommendation for a slot holds on a slot.
        placed = placed.divided(found.parallel if found else None)
        named = configuration_of(request.settings, placed.registry, placed.room)
        configuration = Configuration({**(found.settings if found else DEFAULT), **named})
        workload = _with_recipe(request.build, workload, configuration)
        yield _Resolved(found, workload, placed, configuration)


def _any_seed() -> int:
    """Return a new seed: the algorithm ``random`` chooses other CPUs for each run."""
    return int.from_bytes(os.urandom(4))


def _is_system_setting(name: str, registry: Registry) -> bool:
    try:
        return registry.get(name).scope in (Scope.SYSTEM, Scope.BOOT, Scope.FIRMWARE)
    except InvalidInputError:  # reported when its value is parsed
        return False


def _load(names: Set[str], *, builds: bool, system: bool, share: bool) -> None:
    """Import later modules before signals become exceptions (``assay.cli.process.termination``)."""
    modules = [module for name, module in _MODULES_BY_SETTING.items() if name in names]
    modules += ["assay.api.studies.built", "json"] if builds else []
    modules += ["assay.root_helper.client", "hashlib"] if system else []
    modules += ["assay.partition.share", "assay.partition.share_request"] if share else []
    for module in modules:
        importlib.import_module(module)


@contextmanager
def _built(resolved: _Resolved, observer: Observer) -> Iterator[Ready]:
    """Context of a built launch; keeps the build in the cache."""
    found, workload, lab, configuration = resolved
    pools = None if found is None else found.pools
    if workload.build is None:
        if found is not None and _has_changed(found, lab):
            observer.noted(_change_words(found))
        elif found is not None:
            _report_other_program(found, workload, observer)
        yield _ready(*_planned(lab, configuration, workload), workload, pools=pools)
        return
    from assay.api.studies.built import program_in
    from assay.executors.builds.builder import Builder

    with Builder(workload, lab.driver.env, lab.host_for(workload)) as building:
        plan = lab.plan(configuration)
        built = building.built(plan)
        key = building.key(plan)
        argv = build_command(plan, workload)
        if found is not None and key is not None and found.built_otherwise(argv, key):
            observer.noted(_change_words(found))
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
    """Return the plan; only preloading depends on the content of the program."""
    plan = lab.plan(configuration)
    if lab.program is None and any(isinstance(action, Preload) for action in plan.actions):
        lab = dataclasses.replace(lab, program=program_of(workload.argv))
        plan = lab.plan(configuration)
    return lab, plan


def _workload(request: RunRequest, found: Recommended | None) -> Workload:
    """Return the workload of the command, or without a command, of the study."""
    if found is None:
        assert request.argv is not None
        return Workload(argv=request.argv)
    studied = found.workload
    if request.argv is not None:
        workload = Workload(argv=request.argv)
    else:
        workload = Workload(argv=studied.argv, stdin=studied.stdin)
    return msgspec.structs.replace(
        workload,
        placeholders=studied.placeholders,
        environment=studied.environment,
        build=studied.build,
    )


def _has_changed(found: Recommended, lab: Laboratory) -> bool:
    """Return whether a program without a build has changed since its study."""
    return None not in (found.program_digest, lab.digest) and lab.digest != found.program_digest


def _report_other_program(found: Recommended, workload: Workload, observer: Observer) -> None:
    """Report that the study measured another program, as ``last`` may have."""
    names = different_names(found.workload.argv, workload.argv)
    if names is not None:
        studied, requested = map(clean, names)
        observer.noted(
            f"study {found.study_id} measured {studied}, and this is {requested}: "
            "the best settings may differ"
        )


def _change_words(found: Recommended) -> str:
    """Return the note on a program that changed since its study."""
    changed = "program" if found.workload.build is None else "program's source, or its compiler,"
    return (
        f"the {changed} changed since study {found.study_id} measured it; other settings "
        f"may be best now (`assay study resume {found.study_id} --new-stratum`)"
    )


def _with_recipe(
    build: BuildRequest | None, workload: Workload, configuration: Configuration
) -> Workload:
    """Return the workload with its build: as requested, else as in the study.

    Raises:
        InvalidInputError: a value without a placeholder, or a command that does not run the program
            that is built.
    """
    if build is None and workload.build is not None:
        if FOLDER in placeholders_in(workload.argv):
            return workload
        if any(name.startswith("build.") for name in configuration):
            raise other_program_error()
        return msgspec.structs.replace(workload, build=None)
    recipe = resolve_recipe(build, workload.argv, configurations=(configuration,))
    return msgspec.structs.replace(workload, build=recipe)
