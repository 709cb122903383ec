"""``env.NAME``, ``arg.NAME``, ``build.NAME``, ``command``: settings named by the user."""

from __future__ import annotations

import shlex
from typing import ClassVar

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
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import granted, judge_environment, start_failure, unverified
from assay.settings.value_text import format_value, is_variable_name


class _UserDefined(BaseSetting, frozen=True):
    """``FAMILY.NAME``: a text from the user. Evidence: *set*."""

    own_name: str
    evidence: ClassVar[Level] = Level.SET

    family: ClassVar[str]
    kind: ClassVar[str]
    """Kind of the name."""
    holder: ClassVar[str]
    """Destination of the value."""

    def __post_init__(self) -> None:
        if not is_variable_name(self.own_name):
            raise InvalidInputError(
                f"Invalid name of {self.kind}: {self.own_name!r}.",
                "Names consist of letters, digits and underscores, and do not begin with a digit.",
            )

    @property
    def name(self) -> str:
        """Name with its family."""
        return f"{self.family}.{self.own_name}"

    def domain(self, machine: Machine) -> Domain:
        """Return any text."""
        return AnyText()

    def default(self, machine: Machine) -> Value | None:
        """Return ``None``; the first value of the domain is the default (``domain_text``)."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return how to vary it: only the user knows the values."""
        return f"name it with the values to try: {self.name}=A,B"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the action that inserts the value."""
        word = format_value(config[self.name])
        if "\0" in word:
            return Refused(
                f"{self.name} contains a NUL byte, which is invalid in the {self.holder}"
            )
        return Resolved((self._action(word),))

    def _action(self, word: str) -> Action:
        """Return the action that inserts the value."""
        raise NotImplementedError


class EnvVariable(_UserDefined, frozen=True):
    """``env.NAME``: a variable of the program's environment."""

    scope: ClassVar[Scope] = Scope.PROCESS
    family = "env"
    kind = "an environment variable"
    holder = "environment"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"environment variable {self.own_name}"

    def _action(self, word: str) -> Action:
        return EnvSet(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variable is in the environment."""
        value = config[self.name]
        return judge_environment(value, {self.own_name: format_value(value)}, facts)


class Argument(_UserDefined, frozen=True):
    """``arg.NAME``: the placeholder ``{NAME}`` of the command."""

    scope: ClassVar[Scope] = Scope.PROGRAM
    family = "arg"
    kind = "a placeholder"
    holder = "command line"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"value of the placeholder {{{self.own_name}}} in the command"

    def _action(self, word: str) -> Action:
        return Arg(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Return *granted* for any program that was started: the value is part of its command."""
        return _part_of_command(config[self.name], facts)


class BuildValue(_UserDefined, frozen=True):
    """``build.NAME``: the placeholder ``{NAME}`` of the command that builds the program."""

    scope: ClassVar[Scope] = Scope.BUILD
    family = "build"
    kind = "a placeholder"
    holder = "command line"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own_name == "build":
            raise InvalidInputError(
                "build.build cannot be varied: {build} is the build directory.",
                "Rename the placeholder.",
            )

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"value of the placeholder {{{self.own_name}}} in the command of --build"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the action that inserts the words; see ``assay.launch.build_command``.

        Raises:
            InvalidInputError: unbalanced quotes.
        """
        try:
            shlex.split(format_value(config[self.name]))
        except ValueError as error:
            text = f"{self.name}={format_value(config[self.name])}"
            raise InvalidInputError(
                f"{text!r} cannot be split into words: {error}.", "Close the quotes."
            ) from error
        return super().resolve(config, machine)

    def _action(self, word: str) -> Action:
        return Build(name=self.own_name, value=word)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Return *granted* for any program that was started: the value is part of its build."""
        return _part_of_command(config[self.name], facts, "in the build command")


class CommandLine(BaseSetting, frozen=True):
    """``command``: the arms of ``assay compare``. Evidence: *set*."""

    name: str = "command"
    summary: str = "the command itself (assay compare 'A' 'B')"
    scope: ClassVar[Scope] = Scope.PROGRAM
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "assay compare sets it"

    def domain(self, machine: Machine) -> Domain:
        """Return any command."""
        return AnyText()

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the command, split into POSIX words without a shell."""
        text = str(config[self.name])
        try:
            argv = shlex.split(text)
        except ValueError as error:
            return Refused(f"invalid command {text!r}: {error}", "Close the quotes.")
        if not argv:
            return Refused("the command is empty")
        return Resolved((Command(argv=tuple(argv)),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Return *granted* for any program that was started."""
        return _part_of_command(config[self.name], facts)


def _part_of_command(value: Value, facts: RunFacts, location: str = "in the command line") -> Grant:
    why = start_failure(facts)
    return unverified(value, why) if why else granted(value, Level.SET, location)
