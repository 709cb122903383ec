"""``threads.mkl.dynamic``: permission of oneMKL to use fewer threads than requested.

oneMKL developer guide, "MKL_DYNAMIC": by default it may, and then uses at most one thread per core.
Evidence: *set*.
"""

from __future__ import annotations

from typing import ClassVar

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
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import judge_environment, without_user_variables
from assay.settings.refusals import out_of_domain

_VARIABLE = "MKL_DYNAMIC"
_WRITTEN = {"true": "TRUE", "false": "FALSE"}
_DOMAIN = Choices(tuple(_WRITTEN))


class MklDynamic(BaseSetting, frozen=True):
    """``threads.mkl.dynamic``: true, or false to use exactly the requested threads."""

    name: str = "threads.mkl.dynamic"
    summary: str = "oneMKL may use fewer threads than requested: true, false"
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return true and false, in lower case."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return the behaviour of oneMKL without the variable."""
        return "true"

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason: only more threads than cores make a difference."""
        if "mkl" not in program.runtimes:
            return "the program does not link oneMKL"
        return "it matters only with more threads than cores; name it with threads.mkl"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return ``MKL_DYNAMIC``."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        return Resolved(_action(str(value)))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variable is in the environment."""
        value = config[self.name]
        expected = {_VARIABLE: _WRITTEN.get(str(value), "")}
        return judge_environment(value, without_user_variables(expected, config), facts)


def _action(value: str) -> tuple[EnvSet, ...]:
    return (EnvSet(name=_VARIABLE, value=_WRITTEN[value]),)
