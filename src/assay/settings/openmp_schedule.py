"""``omp.schedule``: how loops that leave it to the run share out their rounds.

OpenMP 5.2, section 21.1.5 (``OMP_SCHEDULE``): it holds for loops with ``schedule(runtime)`` alone;
what a program says in its own source stays. Evidence: *set*.
"""

from __future__ import annotations

import re

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    AnyText,
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
from assay.settings.openmp import linked_openmp_runtimes
from assay.settings.pools import NO_OPENMP_REASON

VARIABLE = "OMP_SCHEDULE"
_WRITTEN = re.compile(r"(static|dynamic|guided|auto)(?:,([1-9][0-9]{0,8}))?")
_DOMAIN = AnyText("static, dynamic, guided, auto; but for auto with a chunk, as dynamic,64")


class OpenMPSchedule(msgspec.Struct, frozen=True):
    """``omp.schedule``: a kind, and how many rounds are given out at a time."""

    name: str = "omp.schedule"
    summary: str = "how OpenMP loops with schedule(runtime) are shared out: KIND or KIND,CHUNK"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """The kinds of OpenMP; all but ``auto`` take a chunk."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Left to the runtime: ``dynamic,1`` in libgomp, ``static`` in LLVM's."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Nothing tells from outside whether a program has such loops."""
        if not linked_openmp_runtimes(program):
            return NO_OPENMP_REASON
        return "only loops with schedule(runtime) follow it; name it with the values to try"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """``OMP_SCHEDULE``."""
        value = str(config[self.name])
        match = _WRITTEN.fullmatch(value)
        if match is None:
            return Refused(f"{self.name} cannot be {value!r}", f"It takes {_DOMAIN}.")
        kind, chunk = match.groups()
        if kind == "auto" and chunk:
            return Refused(f"{self.name}=auto takes no chunk", "Leave the chunk out.")
        return Resolved(
            (EnvSet(name=VARIABLE, value=value),), note="of loops with schedule(runtime) only"
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether it is in the environment."""
        value = config[self.name]
        return judge_environment(
            value, without_user_variables({VARIABLE: str(value)}, config), facts
        )
