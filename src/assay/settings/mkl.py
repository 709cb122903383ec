"""``threads.mkl.dynamic``: whether oneMKL may use fewer threads than it was given.

oneMKL developer guide, "MKL_DYNAMIC": by default it may, and then takes no more than one for each
core. Evidence: *set*.
"""

from __future__ import annotations

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
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
from assay.settings.evidence import judge_environment, without_user_variables
from assay.settings.refusals import out_of_domain

_VARIABLE = "MKL_DYNAMIC"
_WRITTEN = {"true": "TRUE", "false": "FALSE"}
_DOMAIN = Choices(tuple(_WRITTEN))


class MklDynamic(msgspec.Struct, frozen=True):
    """``threads.mkl.dynamic``: true, or false to have every thread that was asked for."""

    name: str = "threads.mkl.dynamic"
    summary: str = "whether oneMKL may use fewer threads than it was given"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """True and false, in small letters."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """What oneMKL does when the variable is not set."""
        return "true"

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Only where more threads than cores are asked for, which helps oneMKL seldom."""
        if "mkl" not in program.runtimes:
            return "the program links no oneMKL"
        return "it matters with more threads than cores; name it with threads.mkl"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """``MKL_DYNAMIC``."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        return Resolved(_action(str(value)))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether it is in the environment."""
        value = config[self.name]
        expected = {_VARIABLE: _WRITTEN.get(str(value), "")}
        return judge_environment(value, without_user_variables(expected, config), facts)


def _action(value: str) -> tuple[EnvSet, ...]:
    return (EnvSet(name=_VARIABLE, value=_WRITTEN[value]),)
