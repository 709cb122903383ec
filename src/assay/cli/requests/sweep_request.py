"""From a sweep file, and what the command line says beside it, to a study's specification.

Each key is read by what reads the option of that name, so that both mean the same.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.cli.files.setting_tables import flattened, value_text
from assay.cli.files.space_file import ParsedSpace, parse_space
from assay.cli.files.sweep_file import SweepTable, WorkloadTable
from assay.cli.files.toml_file import TomlFile, read_toml
from assay.cli.files.toml_positions import Path as Key
from assay.cli.files.toml_schema import read_table, toml_text
from assay.cli.parsing.options import HOOKS
from assay.cli.requests.assigned import configuration_of
from assay.cli.requests.built import program_before
from assay.cli.requests.command_words import split_command
from assay.cli.requests.observe import observed_of
from assay.cli.requests.request import budget_of, disturbed_above_of, margin_of, precision_of
from assay.cli.requests.workload import requirements_of, statistic_of, workload_of
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.direction import demand_directed
from assay.machine.document import Machine, Program
from assay.records import (
    Budget,
    Configuration,
    Design,
    DesignKind,
    Kind,
    Observation,
    Requirement,
    Space,
    Statistic,
    StudySpec,
    Workload,
)
from assay.search.space.design import lay_out
from assay.search.space.errors import DesignError
from assay.search.space.fraction import InvalidGeneratorError, generators_for
from assay.search.space.named_configurations import NAME_COLUMN
from assay.search.space.search_space import AdmissionCheck, SearchSpace
from assay.settings.registry import Registry

_OPTION = re.compile(r"^--[a-z-]+(?: [a-z]+)?:? ")


@dataclass(frozen=True)
class SweepRequest:
    """A sweep file that was read and is right in itself."""

    file: TomlFile
    table: SweepTable

    @property
    def argv(self) -> tuple[str, ...]:
        """The words of the command.

        Raises:
            InvalidInputError: there are none, or a shell is needed.
        """
        command, shell = self.table.workload.command, self.table.workload.shell
        with self._key("workload", "command"):
            if isinstance(command, str):
                return split_command(command, shell=shell)
            if shell:
                raise InvalidInputError(
                    "A list of words is no text for a shell.", "Write it as one text."
                )
            if not command or not command[0]:
                raise InvalidInputError(
                    "There is no command.", "Write the program and its arguments."
                )
            return tuple(command)

    def program(self) -> Program | None:
        """The program of the command; ``None`` where it is to be built first.

        Raises:
            InvalidInputError: it was not found; points at it.
        """
        with self._key("workload", "command"):
            return program_before(self.argv, builds=self.table.workload.build is not None)

    def specification(
        self,
        arguments: argparse.Namespace,
        registry: Registry,
        machine: Machine,
        admits: AdmissionCheck,
    ) -> StudySpec:
        """The study that the file asks for.

        Args:
            arguments: of the command line; what is given there wins.
            registry, machine: what settings there are, and where.
            admits: whether a configuration can be granted.

        Raises:
            InvalidInputError: something that cannot be; points at it.
        """
        study, design = self.table.study, self.table.design
        if not (self.table.settings or self.table.configuration):
            raise self.file.wrong(
                (), "The file lacks settings.", "Write [settings], or [configuration.NAME]."
            )
        written = parse_space(self.file, self.table, registry, machine)
        parameters = written.space.parameters
        workload = self._workload(written)
        written.demand_sound(parameters)
        seed = study.seed if arguments.seed is None else arguments.seed
        bound = SearchSpace(written.space, admits)
        asked = Design(
            kind=DesignKind(design.kind),
            n=design.n,
            generators=self._generators([p.name for p in parameters]),
            centre=design.centre,
            repeats=design.repeats,
        )
        self._demand_fitting()
        baseline = self._baseline(written.space, registry, machine)
        with self._laid_out(written):
            layout = lay_out(asked, written.space, bound, baseline, seed)
        with self._key("study", "precision"):
            precision = precision_of(_words(precision=study.precision))
        with self._key("workload", "objective"):
            statistic = statistic_of(argparse.Namespace(objective=_given(self.table.workload)))
        return StudySpec(
            kind=Kind.SWEEP,
            workload=workload,
            budget=self._budget(arguments),
            space=written.space,
            arms=layout.arms,
            design=layout.design,
            margin=self._margin(arguments, statistic),
            precision=precision,
            seed=seed,
            null=arguments.null or study.null,
            statistic=statistic,
            warmup=study.warmup,
            disturbed_above=self._disturbed_above(arguments),
            observe=self._observed(arguments),
            require=self._require(workload),
        )

    # --- what runs --------------------------------------------------------------------------------

    def _workload(self, written: ParsedSpace) -> Workload:
        """The workload, taken in piece by piece, so that what is wrong is pointed at."""
        parameters = (*written.space.parameters, *written.of_named)
        said = dict(_SILENT)
        others = tuple(p for p in parameters if not p.name.startswith("build."))
        for number, parameter in enumerate(others):
            with self.file.at(*written.keys[parameter.name]):
                workload_of(argparse.Namespace(**said), self.argv, others[: number + 1])
        for parameter in parameters if self.table.workload.build is None else ():
            if parameter not in others:
                with self.file.at(*written.keys[parameter.name]):
                    raise InvalidInputError(
                        f"{parameter.name} is set, but there is no build command.",
                        "Write it as build under [workload].",
                    )
        for key, options in _options(self.table.workload).items():
            said |= options
            with self._key("workload", *key.split(".")):
                workload_of(argparse.Namespace(**said), self.argv, parameters)
        workload = workload_of(argparse.Namespace(**said), self.argv, parameters)
        with self._key("workload", "metrics"):
            demand_directed(workload.metrics)
        return workload

    def _require(self, workload: Workload) -> tuple[Requirement, ...]:
        with self._key("workload", "require"):
            words = argparse.Namespace(require=self.table.workload.require)
            return requirements_of(words, workload)

    # --- which cells ------------------------------------------------------------------------------

    def _generators(self, names: list[str]) -> tuple[str, ...]:
        design = self.table.design
        if design.resolution is None:
            return tuple(design.generators)
        if design.generators:
            raise self.file.wrong(
                ("design", "resolution"),
                "The resolution follows from generators.",
                "Leave one of the two out.",
            )
        try:
            return generators_for(names, design.resolution)
        except InvalidGeneratorError as error:
            raise self.file.wrong(("design", "resolution"), error.cause, error.remedy) from error

    def _demand_fitting(self) -> None:
        """Refuse keys that mean nothing in this kind of design.

        Raises:
            InvalidInputError: one is there.
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
                raise self.file.wrong(
                    ("design", key),
                    f"{key} means nothing in a {design.kind} design.",
                    "Leave it out, or write "
                    + ('kind = "latin-hypercube".' if key == "n" else 'kind = "factorial".'),
                )

    def _baseline(self, space: Space, registry: Registry, machine: Machine) -> Configuration:
        """The cell that all others are held against: the settings that were named."""
        written = self.table.design.baseline
        table = {NAME_COLUMN: written} if isinstance(written, str) else dict(written)
        values = self._named(space, table.pop(NAME_COLUMN, None))
        found = flattened(self.file, table, ("design", "baseline"), registry)
        for name, (key, value) in found.items():
            with self.file.at(*key):
                one = configuration_of([f"{name}={value_text(value)}"], registry, machine)
            values = values.having(name, one[name])
        return values

    def _named(self, space: Space, name: object) -> Configuration:
        """Return the configuration of a name; the default where none is given."""
        known = {one.name: one.configuration for one in space.named}
        if name is None or (isinstance(name, str) and name in known):
            return known[name] if isinstance(name, str) else Configuration()
        near = nearest(str(name), tuple(known))
        raise self.file.wrong(
            ("design", "baseline"),
            f"design.baseline: there is no configuration {str(name)!r}.",
            f"Did you mean {near}?" if near else f"There are {', '.join(known) or 'none'}.",
        )

    @contextmanager
    def _laid_out(self, written: ParsedSpace) -> Iterator[None]:
        """What does not fit is said of the key that has to be changed."""
        try:
            yield
        except DesignError as error:
            key: Key = error.key
            if error.key[0] == "settings" and len(error.key) > 1:
                key = written.keys[error.key[1]]
            raise self.file.wrong(key, error.cause, error.remedy) from error

    # --- how much ---------------------------------------------------------------------------------

    def _budget(self, arguments: argparse.Namespace) -> Budget:
        study = self.table.study
        if arguments.budget or arguments.runs:
            given = budget_of(_words(budget=arguments.budget, runs=arguments.runs))
        else:
            given = Budget()
        with self._key("study", "budget"):
            written = budget_of(_words(budget=study.budget, runs=None))
        with self._key("study", "runs"):
            launches = budget_of(_words(budget=None, runs=study.runs)).launches
        time_s = given.time_s or (written.time_s if study.budget is not None else None)
        launches = given.launches or launches
        return Budget(time_s=time_s, launches=launches) if time_s or launches else written

    def _observed(self, arguments: argparse.Namespace) -> tuple[Observation, ...] | None:
        if arguments.observe is not None:
            return observed_of(arguments.observe)
        with self._key("study", "observe"):
            return observed_of(self.table.study.observe)

    def _disturbed_above(self, arguments: argparse.Namespace) -> float | None:
        text = arguments.disturbed_above
        if text is not None or self.table.study.disturbed_above is None:
            return disturbed_above_of(_words(disturbed_above=text), os.environ)
        with self._key("study", "disturbed_above"):
            words = _words(disturbed_above=self.table.study.disturbed_above)
            return disturbed_above_of(words, {})

    def _margin(self, arguments: argparse.Namespace, statistic: Statistic) -> float:
        if arguments.margin is not None:
            return margin_of(arguments, statistic)
        with self._key("study", "margin"):
            return margin_of(_words(margin=self.table.study.margin), statistic)

    @contextmanager
    def _key(self, *key: str) -> Iterator[None]:
        """What an option of this name would be told is told of the key, in the words of a file."""
        with self.file.at(*key):
            try:
                yield
            except InvalidInputError as error:
                raise InvalidInputError(
                    _OPTION.sub("", error.cause), _as_keys(error.remedy)
                ) from error


def read_sweep(name: str) -> SweepRequest:
    """Read a sweep file.

    Raises:
        InvalidInputError: it cannot be read, or holds something wrong; points at it.
    """
    file = read_toml(name)
    return SweepRequest(file, read_table(file, SweepTable))


_WRITTEN = re.compile(r"([Aa])dd --shell|--([a-z-]+)[ =]([^\s,;]+?)(?=[.,;]?(?:\s|$))")
"""An option in a message."""
_KEYS = {"metric": "metrics", "limit": "limits"}
"""Options whose keys have other names."""


def _as_keys(remedy: str | None) -> str | None:
    """What to do, with keys of the file for the options of the command line."""

    def as_key(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"{'W' if match[1] == 'A' else 'w'}rite shell = true"
        value: Any = int(match[3]) if match[3].isdecimal() else match[3]
        name = _KEYS.get(match[2], match[2].replace("-", "_"))
        return f"{name} = {toml_text([value] if name == 'metrics' else value)}"

    return None if remedy is None else _WRITTEN.sub(as_key, remedy)


_SILENT: dict[str, Any] = {
    "metric": [],
    "unit": [],
    "goal": [],
    "combine": [],
    "metric_file": [],
    "metric_as_is": [],
    "outputs_may_differ": False,
    "objective": [],
    "require": [],
    "check": None,
    "timeout": None,
    "grace": None,
    "limit": None,
    "input": None,
    "build": None,
    "build_input": [],
    "build_timeout": None,
    "shell": False,
    **dict.fromkeys(HOOKS),
}
"""The options of a workload, where none was given."""


def _options(table: WorkloadTable) -> dict[str, dict[str, Any]]:
    """What the keys of a workload would be as options, in an order in which each can be read."""
    found: dict[str, dict[str, Any]] = {}
    if table.build is not None:
        found["build"] = {"build": table.build, "shell": table.shell}
    if table.build_input:
        found["build_input"] = {"build_input": table.build_input}
    if table.build_timeout is not None:
        found["build_timeout"] = {"build_timeout": str(table.build_timeout)}
    if table.metrics:
        found["metrics"] = {"metric": _listed(table.metrics)}
    if table.unit:
        found["unit"] = {"unit": _listed(table.unit)}
    if table.objective is not None:
        found["objective"] = {"objective": _given(table)}
    if table.goal is not None:
        goal = table.goal
        found["goal"] = {"goal": [goal] if isinstance(goal, str) else _listed(goal)}
    if table.require:
        found["require"] = {"require": table.require}
    if table.metric_file:
        found["metric_file"] = {"metric_file": _listed(table.metric_file)}
    if table.metric_as_is:
        found["metric_as_is"] = {"metric_as_is": table.metric_as_is}
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
        # Each by itself first, so that what is wrong is wrong at its own key.
        found[f"limits.{name}"] = {"limit": f"{name}={value}"}
    if limits:
        found["limits"] = {"limit": ",".join(_listed(limits))}
    if table.input is not None:
        found["input"] = {"input": table.input}
    for name in HOOKS:
        command = getattr(table, name)
        if command is not None:
            found[name] = {name: command, "shell": table.shell}
    return found


def _given(table: WorkloadTable) -> list[str]:
    """The objective as the option has it, which may be repeated."""
    return [] if table.objective is None else [table.objective]


def _listed(table: Mapping[str, Any] | list[str]) -> list[str]:
    """Entries as ``NAME=VALUE``."""
    return table if isinstance(table, list) else [f"{name}={v}" for name, v in table.items()]


def _words(**values: str | float | None) -> argparse.Namespace:
    """Options as the command line would have them."""
    return argparse.Namespace(**{n: None if v is None else str(v) for n, v in values.items()})
