"""Sweep file, and the specification of its study.

Each key is parsed like the option of its name, so that both have the same meaning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.api.files.setting_tables import flattened, value_text
from assay.api.files.space_file import ParsedSpace, parse_space
from assay.api.files.sweep_file import SweepTable, WorkloadTable
from assay.api.files.sweep_keys import demand_no_fidelity
from assay.api.files.toml_file import TomlFile, read_toml
from assay.api.files.toml_positions import Path as Key
from assay.api.files.toml_schema import read_table, toml_text
from assay.api.options.assigned import configuration_of
from assay.api.options.command_words import split_command
from assay.api.options.observe import parse_observations
from assay.api.options.progress import parse_until
from assay.api.options.study_options import (
    budget_or_default,
    parse_budget,
    parse_disturbed_above,
    parse_margin,
    parse_precision,
)
from assay.api.options.workload import (
    parse_statistic,
    requirements_of,
    resolve_workload,
    workload_request,
)
from assay.api.options.workload_options import WorkloadOptions
from assay.api.studies.built import program_before
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.direction import demand_directed
from assay.machine.document import Machine, Program
from assay.records import (
    Budget,
    Configuration,
    Design,
    DesignKind,
    Hooks,
    Kind,
    Observation,
    Parameter,
    Requirement,
    Space,
    Statistic,
    StudySpec,
    Until,
    Workload,
)
from assay.requests.study import default_margin
from assay.requests.sweep import SweepRequest
from assay.search.space.design import lay_out
from assay.search.space.errors import DesignError
from assay.search.space.fraction import InvalidGeneratorError, generators_for
from assay.search.space.named_configurations import NAME_COLUMN
from assay.search.space.search_space import AdmissionCheck, SearchSpace
from assay.settings.registry import Registry

_OPTION = re.compile(r"^--[a-z-]+(?: [a-z]+)?:? ")


@dataclass(frozen=True)
class SweepFile:
    """Valid sweep file.

    Attributes:
        file: text of the file, with the place of each key.
        table: content of the file.
    """

    file: TomlFile
    table: SweepTable

    @property
    def argv(self) -> tuple[str, ...]:
        """Return the words of the command.

        Raises:
            InvalidInputError: the command is missing, or needs a shell.
        """
        command, shell = self.table.workload.command, self.table.workload.shell
        with self._key("workload", "command"):
            if isinstance(command, str):
                return split_command(command, shell=shell)
            if shell:
                raise InvalidInputError(
                    "A shell takes the command as one text, not as a list.", "Write it as one text."
                )
            if not command or not command[0]:
                raise InvalidInputError(
                    "The command is missing.", "Write the program and its arguments."
                )
            return tuple(command)

    def program(self) -> Program | None:
        """Return the program of the command; ``None`` if it is built later.

        Raises:
            InvalidInputError: the program is missing; names the line of the command.
        """
        with self._key("workload", "command"):
            return program_before(self.argv, builds=self.table.workload.build is not None)

    def specification(
        self,
        request: SweepRequest,
        registry: Registry,
        machine: Machine,
        admits: AdmissionCheck,
    ) -> StudySpec:
        """Return the specification of the study.

        Args:
            request: values that override those of the file.
            registry: known settings.
            machine: machine that determines the domains.
            admits: check whether a configuration is grantable.

        Raises:
            InvalidInputError: an invalid key; names its line.
        """
        study, design = self.table.study, self.table.design
        if not (self.table.settings or self.table.configuration):
            raise self.file.error(
                (), "The file lacks settings.", "Write [settings], or [configuration.NAME]."
            )
        parsed = parse_space(self.file, self.table, registry, machine)
        parameters = parsed.space.parameters
        workload = self._workload(parsed)
        parsed.demand_sound(parameters)
        seed = study.seed if request.seed is None else request.seed
        bound = SearchSpace(parsed.space, admits)
        requested = Design(
            kind=DesignKind(design.kind),
            n=design.n,
            generators=self._generators([p.name for p in parameters]),
            centre=design.centre,
            repeats=design.repeats,
        )
        self._demand_fitting()
        baseline = self._baseline(parsed.space, registry, machine)
        with self._design_errors(parsed):
            layout = lay_out(requested, parsed.space, bound, baseline, seed)
        with self._key("study", "precision"):
            precision = parse_precision(_text(study.precision))
        with self._key("workload", "objective"):
            statistic = parse_statistic(_objectives(self.table.workload))
        return StudySpec(
            kind=Kind.SWEEP,
            workload=workload,
            budget=self._budget(request.budget),
            space=parsed.space,
            arms=layout.arms,
            design=layout.design,
            margin=self._margin(request.margin, statistic),
            precision=precision,
            seed=seed,
            null=request.null or study.null,
            statistic=statistic,
            warmup=study.warmup,
            disturbed_above=self._disturbed_above(request),
            requested_observations=self._observed(request),
            requirements=self._require(workload),
            until=self._until(workload),
        )

    # --- workload ---------------------------------------------------------------------------------

    def _workload(self, parsed: ParsedSpace) -> Workload:
        """Return the workload; adds key by key, so that an error names the line of its key."""
        parameters = (*parsed.space.parameters, *parsed.named_parameters)
        options = WorkloadOptions()
        others = tuple(p for p in parameters if not p.name.startswith("build."))
        for number, parameter in enumerate(others):
            with self.file.at(*parsed.keys[parameter.name]):
                self._resolve(options, others[: number + 1])
        for parameter in parameters if self.table.workload.build is None else ():
            if parameter not in others:
                with self.file.at(*parsed.keys[parameter.name]):
                    raise InvalidInputError(
                        f"{parameter.name} is set, but there is no build command.",
                        "Write it as build under [workload].",
                    )
        for key, texts in _options(self.table.workload).items():
            options = msgspec.structs.replace(options, **texts)
            with self._key("workload", *key.split(".")):
                self._resolve(options, parameters)
        workload = self._resolve(options, parameters)
        with self._key("workload", "metrics"):
            demand_directed(workload.metrics)
        return workload

    def _resolve(self, options: WorkloadOptions, parameters: tuple[Parameter, ...]) -> Workload:
        return resolve_workload(workload_request(options, self.argv), parameters)

    def _require(self, workload: Workload) -> tuple[Requirement, ...]:
        with self._key("workload", "require"):
            return requirements_of(self.table.workload.require, workload.metrics)

    def _until(self, workload: Workload) -> Until | None:
        with self._key("workload", "until"):
            return parse_until(self.table.workload.until, workload.metrics)

    # --- cells ------------------------------------------------------------------------------------

    def _generators(self, names: list[str]) -> tuple[str, ...]:
        design = self.table.design
        if design.resolution is None:
            return tuple(design.generators)
        if design.generators:
            raise self.file.error(
                ("design", "resolution"),
                "The resolution follows from generators.",
                "Leave one of the two out.",
            )
        try:
            return generators_for(names, design.resolution)
        except InvalidGeneratorError as error:
            raise self.file.error(("design", "resolution"), error.cause, error.remedy) from error

    def _demand_fitting(self) -> None:
        """Raise on a key that this kind of design does not use.

        Raises:
            InvalidInputError: there is such a key.
        """
        design = self.table.design
        drawn = design.kind in ("random", "latin-hypercube")
        factorial = design.kind == "factorial"
        for key, fits in (
            ("n", drawn),
            ("resolution", factorial),
            ("generators", factorial),
            ("centre", factorial),
        ):
            if not fits and ("design", key) in self.file.lines:
                raise self.file.error(
                    ("design", key),
                    f"{key} does not apply to a {design.kind} design.",
                    "Leave it out, or write "
                    + ('kind = "latin-hypercube".' if key == "n" else 'kind = "factorial".'),
                )

    def _baseline(self, space: Space, registry: Registry, machine: Machine) -> Configuration:
        """Return the configuration that all other cells are compared with."""
        baseline = self.table.design.baseline
        table = {NAME_COLUMN: baseline} if isinstance(baseline, str) else dict(baseline)
        values = self._named(space, table.pop(NAME_COLUMN, None))
        found = flattened(self.file, table, ("design", "baseline"), registry)
        for name, (key, value) in found.items():
            with self.file.at(*key):
                one = configuration_of([f"{name}={value_text(value)}"], registry, machine)
            values = values.having(name, one[name])
        return values

    def _named(self, space: Space, name: object) -> Configuration:
        """Return the configuration of a name; the default where none is given."""
        known = {one.name: one.configuration for one in space.named_configurations}
        if name is None or (isinstance(name, str) and name in known):
            return known[name] if isinstance(name, str) else Configuration()
        near = nearest(str(name), tuple(known))
        raise self.file.error(
            ("design", "baseline"),
            f"design.baseline: unknown configuration {str(name)!r}.",
            f"Did you mean {near}?" if near else f"Known names are {', '.join(known) or 'none'}.",
        )

    @contextmanager
    def _design_errors(self, parsed: ParsedSpace) -> Iterator[None]:
        """Context in which an error of the design names the line of its key."""
        try:
            yield
        except DesignError as error:
            key: Key = error.key
            if error.key[0] == "settings" and len(error.key) > 1:
                key = parsed.keys[error.key[1]]
            raise self.file.error(key, error.cause, error.remedy) from error

    # --- extent -----------------------------------------------------------------------------------

    def _budget(self, given: Budget) -> Budget:
        study = self.table.study
        with self._key("study", "budget"):
            time_s = parse_budget(_text(study.budget), None).time_s
        with self._key("study", "runs"):
            launches = parse_budget(None, _text(study.runs)).launches
        return budget_or_default(
            Budget(time_s=given.time_s or time_s, launches=given.launches or launches)
        )

    def _observed(self, request: SweepRequest) -> tuple[Observation, ...] | None:
        if request.observe is not None:
            return request.observe
        with self._key("study", "observe"):
            return parse_observations(self.table.study.observe)

    def _disturbed_above(self, request: SweepRequest) -> float | None:
        if request.disturbed_above is not msgspec.UNSET:
            return request.disturbed_above
        text = _text(self.table.study.disturbed_above)
        if text is None:
            return parse_disturbed_above(None, os.environ)
        with self._key("study", "disturbed_above"):
            return parse_disturbed_above(text, {})

    def _margin(self, given: float | None, statistic: Statistic) -> float:
        if given is not None:
            return given
        with self._key("study", "margin"):
            margin = parse_margin(_text(self.table.study.margin))
        return default_margin(statistic) if margin is None else margin

    @contextmanager
    def _key(self, *key: str) -> Iterator[None]:
        """Context in which an error of an option names the key of the file instead."""
        with self.file.at(*key):
            try:
                yield
            except InvalidInputError as error:
                raise InvalidInputError(
                    _OPTION.sub("", error.cause), _as_keys(error.remedy)
                ) from error


def read_sweep(name: str) -> SweepFile:
    """Read a sweep file.

    Raises:
        InvalidInputError: the file is unreadable, or has an invalid key; names its line.
    """
    file = read_toml(name)
    demand_no_fidelity(file)
    return SweepFile(file, read_table(file, SweepTable))


_WRITTEN = re.compile(r"([Aa])dd --shell|--([a-z-]+)[ =]('[^']*'|[^\s,;]+?)(?=[.,;]?(?:\s|$))")
"""An option in a message."""
_KEYS = {"metric": "metrics", "limit": "limits"}
"""Options whose keys have other names."""
_LISTS = ("metrics", "progress")
"""Keys whose values are lists."""


def _as_keys(remedy: str | None) -> str | None:
    """Return a remedy with keys of the file in place of options."""

    def as_key(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"{'W' if match[1] == 'A' else 'w'}rite shell = true"
        text = match[3].strip("'")
        value: Any = int(text) if text.isdecimal() else text
        name = _KEYS.get(match[2], match[2].replace("-", "_"))
        return f"{name} = {toml_text([value] if name in _LISTS else value)}"

    return None if remedy is None else _WRITTEN.sub(as_key, remedy)


def _options(table: WorkloadTable) -> dict[str, dict[str, Any]]:
    """Return the options of each key of a workload, in an order in which each can be parsed."""
    found: dict[str, dict[str, Any]] = {}
    if table.build is not None:
        found["build"] = {"build": table.build, "shell": table.shell}
    if table.build_input:
        found["build_input"] = {"build_input": tuple(table.build_input)}
    if table.build_timeout is not None:
        found["build_timeout"] = {"build_timeout": str(table.build_timeout)}
    file = {} if table.progress_file is None else {"progress_file": table.progress_file}
    if table.progress:  # a name without a file is one of the progress channel
        found["progress"] = {"progress": tuple(table.progress), **file}
    elif file:
        found["progress_file"] = file
    if table.metrics:
        found["metrics"] = {"metric": _listed(table.metrics)}
    if table.unit:
        found["unit"] = {"unit": _listed(table.unit)}
    if table.objective is not None:
        found["objective"] = {"objective": _objectives(table)}
    if table.goal is not None:
        goal = table.goal
        found["goal"] = {"goal": (goal,) if isinstance(goal, str) else _listed(goal)}
    if table.require:
        found["require"] = {"require": tuple(table.require)}
    if table.metric_file:
        found["metric_file"] = {"metric_file": _listed(table.metric_file)}
    if table.metric_as_is:
        found["metric_as_is"] = {"metric_as_is": tuple(table.metric_as_is)}
    if table.outputs_may_differ:
        found["outputs_may_differ"] = {"outputs_may_differ": True}
    if table.combine:
        found["combine"] = {"combine": _listed(table.combine)}
    if table.check is not None:
        found["check"] = {"check": table.check}
    if table.timeout is not None:
        found["timeout"] = {"timeout": str(table.timeout)}
    if table.grace is not None:
        found["grace"] = {"grace": str(table.grace)}
    limits = msgspec.structs.asdict(table.limits)
    limits = {name: value for name, value in limits.items() if value is not None}
    for name, value in limits.items():
        # Each limit alone first, so that an error names the line of its own key.
        found[f"limits.{name}"] = {"limit": f"{name}={value}"}
    if limits:
        found["limits"] = {"limit": ",".join(_listed(limits))}
    if table.input is not None:
        found["input"] = {"input": table.input}
    for name in Hooks.__struct_fields__:
        command = getattr(table, name)
        if command is not None:
            found[name] = {name: command, "shell": table.shell}
    return found


def _objectives(table: WorkloadTable) -> tuple[str, ...]:
    """Return the objective as values of the option, which is repeatable."""
    return () if table.objective is None else (table.objective,)


def _listed(table: Mapping[str, Any] | list[str]) -> tuple[str, ...]:
    """Return entries as ``NAME=VALUE``."""
    if isinstance(table, list):
        return tuple(table)
    return tuple(f"{name}={value}" for name, value in table.items())


def _text(value: str | float | None) -> str | None:
    """Return a value of the file as the text of an option."""
    return None if value is None else str(value)
