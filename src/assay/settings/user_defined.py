"""``env.NAME``, ``arg.NAME``, ``build.NAME``, ``command``: settings that exist once named."""

from __future__ import annotations

import shlex
from typing import ClassVar

import msgspec

from assay.errors import InvalidInputError
from assay.machine.document import Machine, Program
from assay.records import (
    Action,
    AnyText,
    Arg,
    Build,
    Command,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import granted, judge_environment, start_failure, unverified
from assay.settings.value_text import format_value, is_variable_name


class _Named(msgspec.Struct, frozen=True):
    """``FAMILY.NAME``: one word, which the user gives. Evidence: *set*."""

    own_name: str
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    family: ClassVar[str]
    what: ClassVar[str]
    """What the name is the name of."""
    holder: ClassVar[str]
    """What the word becomes part of."""

    def __post_init__(self) -> None:
        if not is_variable_name(self.own_name):
            raise InvalidInputError(
                f"{self.own_name!r} is not the name of {self.what}.",
                "Names hold letters, digits and underscores, and begin with no digit.",
            )

    @property
    def name(self) -> str:
        """With its family."""
        return f"{self.family}.{self.own_name}"

    def domain(self, machine: Machine) -> Domain:
        """Whatever the user gives."""
        return AnyText()

    def default(self, machine: Machine) -> Value | None:
        """The first value of the domain that the user gives; see ``domain_text``."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Only the user knows."""
        return f"name it with the values to try: {self.name}=A,B"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The word in its place."""
        word = format_value(config[self.name])
        if "\0" in word:
            return Refused(f"{self.name} holds a NUL, which no {self.holder} can")
        return Resolved((self._action(word),))

    def _action(self, word: str) -> Action:
        """What puts the word in its place."""
        raise NotImplementedError


class EnvVariable(_Named, frozen=True):
    """``env.NAME``: a variable of the program's environment."""

    scope = Scope.PROCESS
    family = "env"
    what = "an environment variable"
    holder = "environment"

    @property
    def summary(self) -> str:
        """What it does."""
        return f"environment variable {self.own_name}"

    def _action(self, word: str) -> Action:
        return EnvSet(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether it is in the environment."""
        value = config[self.name]
        return judge_environment(value, {self.own_name: format_value(value)}, facts)


class Argument(_Named, frozen=True):
    """``arg.NAME``: the placeholder ``{NAME}`` of the command."""

    scope = Scope.PROGRAM
    family = "arg"
    what = "a placeholder"
    holder = "command line"

    @property
    def summary(self) -> str:
        """What it does."""
        return f"what stands for {{{self.own_name}}} in the command"

    def _action(self, word: str) -> Action:
        return Arg(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """It is part of the command: a program that was started had it."""
        return _part_of_command(config[self.name], facts)


class BuildValue(_Named, frozen=True):
    """``build.NAME``: the placeholder ``{NAME}`` of the command that builds the program."""

    scope = Scope.BUILD
    family = "build"
    what = "a placeholder"
    holder = "command line"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own_name == "build":
            raise InvalidInputError(
                "build.build cannot be varied: {build} is the folder for what is built.",
                "Give the placeholder another name.",
            )

    @property
    def summary(self) -> str:
        """What it does."""
        return f"what stands for {{{self.own_name}}} in the command of --build"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The words in their place; see ``launch.building``.

        Raises:
            InvalidInputError: quotes that do not close.
        """
        try:
            shlex.split(format_value(config[self.name]))
        except ValueError as error:
            text = f"{self.name}={format_value(config[self.name])}"
            raise InvalidInputError(
                f"{text!r} cannot be split into words: {error}.", "Close its quotes."
            ) from error
        return super().resolve(config, machine)

    def _action(self, word: str) -> Action:
        return Build(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """It was part of the build: a program that was started is what that made."""
        return _part_of_command(config[self.name], facts, "in the build command")


class CommandLine(msgspec.Struct, frozen=True):
    """``command``: the arms of ``assay compare``. Evidence: *set*."""

    name: str = "command"
    summary: str = "the command itself (assay compare 'A' 'B')"
    scope: Scope = Scope.PROGRAM
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Any command."""
        return AnyText()

    def default(self, machine: Machine) -> Value | None:
        """The workload's own, which this setting does not know."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Only the user knows."""
        return "assay compare sets it"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """POSIX words; no shell."""
        text = str(config[self.name])
        try:
            argv = shlex.split(text)
        except ValueError as error:
            return Refused(f"{text!r} is not a command: {error}", "Close the quotes.")
        if not argv:
            return Refused("the command is empty")
        return Resolved((Command(argv=tuple(argv)),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """A program that was started is the one that was asked for."""
        return _part_of_command(config[self.name], facts)


def _part_of_command(value: Value, facts: RunFacts, where: str = "in the command line") -> Grant:
    why = start_failure(facts)
    return unverified(value, why) if why else granted(value, Level.SET, where)
