"""Program of a study that is built before the study begins."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import replace

from assay.api.composition import program_of
from assay.api.options.missing import demand_found
from assay.errors import AssayError, InvalidInputError
from assay.executors.builds.builder import Builder, BuildProgress, no_progress
from assay.launch.build_command import FOLDER, with_build_path
from assay.machine.document import Program
from assay.records import DEFAULT, Plan, StudySpec
from assay.study.laboratory import Laboratory

BUILD_PREFIX = "build."
"""Prefix of settings that are the values of placeholders of a build command."""


def with_built(
    lab: Laboratory, spec: StudySpec, progress: BuildProgress = no_progress
) -> Laboratory:
    """Return the laboratory with the program of a study, built for its first configuration.

    Args:
        lab: laboratory; it has the program already if the study builds nothing.
        spec: specification of the study.
        progress: function that returns the context of the build.

    Raises:
        BuildFailedError: the build fails.
        InvalidInputError: the build did not make the program.
    """
    if spec.workload.build is None:
        return lab
    with _building(lab, spec, progress) as building:
        return _with_program(lab, spec, building)


def with_cached_build(lab: Laboratory, spec: StudySpec) -> Laboratory:
    """Return ``with_built`` if the cache contains the build, else the unchanged laboratory."""
    if spec.workload.build is None:
        return lab
    try:
        with _building(lab, spec, no_progress) as building:
            ready = building.ready(_first_plan(lab, spec))
            return _with_program(lab, spec, building) if ready else lab
    except AssayError:  # without its folder or tool, the key of the build is unknown
        return lab


def _building(lab: Laboratory, spec: StudySpec, progress: BuildProgress) -> Builder:
    host = lab.host_for(spec.workload)
    return Builder(spec.workload, lab.driver.env, host, progress=progress)


def _first_plan(lab: Laboratory, spec: StudySpec) -> Plan:
    return lab.plan(spec.arms[0].configuration if spec.arms else DEFAULT)


def _with_program(lab: Laboratory, spec: StudySpec, building: Builder) -> Laboratory:
    workload, plan = spec.workload, _first_plan(lab, spec)
    folder = building.built(plan).workload.placeholders[FOLDER]
    key = building.key(plan)
    compared = [shlex.split(str(a.configuration.get("command", ""))) for a in spec.arms[1:]]
    program, *others = (
        program_in(folder, argv, workload.cwd)
        for argv in (workload.argv, *(tuple(words) for words in compared if words))
    )
    return replace(
        lab, program=program, others=tuple(others), built=_with_commits(key, spec, building)
    )


def _with_commits(key: str | None, spec: StudySpec, building: Builder) -> str | None:
    """Return the key with the commits that all arms and values of the space are built from.

    The name of a branch stays the same when it moves to another commit.
    """
    commits = building.commits({value: value for value in _build_values(spec)})
    if key is None or not commits:
        return key
    suffix = "".join(f"\n{value} {commit}" for value, commit in sorted(commits.items()))
    return hashlib.sha256(os.fsencode(key + suffix)).hexdigest()


def _build_values(spec: StudySpec) -> set[str]:
    """Return every value of ``build.NAME`` that is known before the study."""
    recipe = spec.workload.build
    domains = (
        p.domain.values() or () for p in spec.space.parameters if p.name.startswith(BUILD_PREFIX)
    )
    configurations = (
        *(arm.configuration for arm in spec.arms),
        *(named.configuration for named in spec.space.named_configurations),
    )
    return {
        *(recipe.values.values() if recipe is not None else ()),
        *(value for values in domains for value in values if isinstance(value, str)),
        *(
            str(value)
            for configuration in configurations
            for name, value in configuration.items()
            if name.startswith(BUILD_PREFIX)
        ),
    }


def program_before(argv: tuple[str, ...], *, builds: bool) -> Program | None:
    """Return the program of a command; ``None`` if it is built later.

    Raises:
        InvalidInputError: the program is missing, or not executable.
    """
    if builds:
        return None
    program = program_of(argv)
    demand_found(program.path, program.missing or argv[0])
    return program


def program_in(folder: str, argv: tuple[str, ...], cwd: str | None) -> Program:
    """Return the program of a command with the output directory of a build.

    Args:
        folder: output directory, which replaces ``{build}``.
        argv: words of the command.
        cwd: working directory of the command; ``None`` for that of this process.

    Raises:
        InvalidInputError: the program is missing, or not executable.
    """
    words = with_build_path(argv, folder)
    program = program_of(words, cwd)
    if words[0] == argv[0]:
        demand_found(program.path, program.missing or argv[0])
    if program.path is None:
        raise InvalidInputError(
            f"The build succeeded, but {argv[0]} is not an executable program; {{{FOLDER}}} "
            f"was {folder}.",
            "The build command must write it there. If the file system of the folder is mounted "
            "noexec, set XDG_CACHE_HOME to another folder.",
        )
    return program
