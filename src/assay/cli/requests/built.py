"""Built: the program that a study looks at, made before it begins."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from assay.cli.composition import program_of
from assay.cli.process.termination import Terminated
from assay.cli.requests.missing import demand_found
from assay.errors import AssayError, InvalidInputError
from assay.executors.builds.builder import Builder, BuildProgress, no_progress
from assay.launch.build_command import FOLDER, with_build_path
from assay.machine.document import Program
from assay.records import DEFAULT, Plan, StudySpec
from assay.study.laboratory import Laboratory

VALUES = "build."
"""How settings begin that give placeholders of a build command their values."""


def with_built(lab: Laboratory, spec: StudySpec, *, quiet: bool = False) -> Laboratory:
    """The laboratory with the program of a study, as its first configuration builds it.

    Args:
        lab: as it is without.
        spec: of the study; where it builds nothing, ``lab`` has its program already.
        quiet: a build that takes place is not told.

    Raises:
        BuildFailedError: it cannot be built.
        InvalidInputError: the build made no such program.
    """
    if spec.workload.build is None:
        return lab
    with _building(lab, spec, no_progress if quiet else _told) as building:
        return _with_program(lab, spec, building)


def with_found(lab: Laboratory, spec: StudySpec) -> Laboratory:
    """As ``with_built`` where the program was built before; else the laboratory as it is."""
    if spec.workload.build is None:
        return lab
    try:
        with _building(lab, spec, no_progress) as building:
            ready = building.ready(_first_plan(lab, spec))
            return _with_program(lab, spec, building) if ready else lab
    except AssayError:  # no such folder or tool any more: it cannot be told what it would be
        return lab


def _building(lab: Laboratory, spec: StudySpec, telling: BuildProgress) -> Builder:
    host = lab.host_for(spec.workload)
    return Builder(spec.workload, lab.driver.env, host, telling=telling)


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
    """The key with the commits that any arm or value of the space is built from.

    A branch that has moved makes other programs of the arms that name it.
    """
    commits = building.commits({value: value for value in _build_values(spec)})
    if key is None or not commits:
        return key
    told = "".join(f"\n{value} {commit}" for value, commit in sorted(commits.items()))
    return hashlib.sha256(os.fsencode(key + told)).hexdigest()


def _build_values(spec: StudySpec) -> set[str]:
    """Every value of ``build.NAME`` that is known before the study."""
    recipe = spec.workload.build
    domains = (p.domain.values() or () for p in spec.space.parameters if p.name.startswith(VALUES))
    configurations = (
        *(arm.configuration for arm in spec.arms),
        *(named.configuration for named in spec.space.named),
    )
    return {
        *(recipe.values.values() if recipe is not None else ()),
        *(value for values in domains for value in values if isinstance(value, str)),
        *(
            str(value)
            for configuration in configurations
            for name, value in configuration.items()
            if name.startswith(VALUES)
        ),
    }


def program_before(argv: tuple[str, ...], *, builds: bool) -> Program | None:
    """The program of a command that was asked for; ``None`` where it is to be built first.

    Raises:
        InvalidInputError: it is not there, or may not be executed.
    """
    if builds:
        return None
    program = program_of(argv)
    demand_found(program.path, program.missing or argv[0])
    return program


def program_in(folder: str, argv: tuple[str, ...], cwd: str | None) -> Program:
    """The program of a command whose ``{build}`` is a folder.

    Raises:
        InvalidInputError: it is not there, or may not be executed.
    """
    words = with_build_path(argv, folder)
    program = program_of(words, cwd)
    if words[0] == argv[0]:
        demand_found(program.path, program.missing or argv[0])
    if program.path is None:
        raise InvalidInputError(
            f"The build ended well, but {argv[0]} is no program that can be executed; {{{FOLDER}}} "
            f"was {folder}.",
            "The build command must write it there. Where the file system of the folder is mounted "
            "noexec, XDG_CACHE_HOME names another place.",
        )
    return program


@contextmanager
def _told(argv: tuple[str, ...]) -> Iterator[None]:
    from assay.cli.show.layout import width_of, wrapped
    from assay.untrusted import clean

    text = f"assay: building the program (not timed): {clean(shlex.join(argv))}"
    print("\n".join(wrapped([text], width_of(sys.stderr))), file=sys.stderr, flush=True)
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        print(
            "assay: interrupted while building the program; nothing was launched yet.",
            file=sys.stderr,
        )
        raise
