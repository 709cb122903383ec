"""``omp.schedule``: schedule of OpenMP loops with ``schedule(runtime)``.

OpenMP 5.2, section 21.1.5 (``OMP_SCHEDULE``): loops with an explicit schedule in the source are not
affected. Evidence: *set*.
"""

from __future__ import annotations

import re
from typing import ClassVar

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
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import judge_environment, without_user_variables
from assay.settings.pools import NO_OPENMP_REASON, linked_runtimes

VARIABLE = "OMP_SCHEDULE"
_WRITTEN = re.compile(r"(static|dynamic|guided|auto)(?:,([1-9][0-9]{0,8}))?")
_DOMAIN = AnyText(
    "static, dynamic, guided or auto; all but auto with an optional chunk, such as dynamic,64"
)


class OpenMPSchedule(BaseSetting, frozen=True):
    """``omp.schedule``: a kind and a chunk size.

    The default is ``dynamic,1`` in libgomp, ``static`` in LLVM.
    """

    name: str = "omp.schedule"
    summary: str = "schedule of OpenMP loops with schedule(runtime): KIND or KIND,CHUNK"
    evidence: ClassVar[Level] = Level.SET

    def domain(self, machine: Machine) -> Domain:
        """Return the kinds of OpenMP; all but ``auto`` accept a chunk size."""
        return _DOMAIN

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason: such loops are not visible from outside."""
        if not linked_runtimes(program):
            return NO_OPENMP_REASON
        return "only loops with schedule(runtime) use it; name it with the values to try"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return ``OMP_SCHEDULE``."""
        value = str(config[self.name])
        match = _WRITTEN.fullmatch(value)
        if match is None:
            return Refused(f"invalid value: {self.name}={value!r}", f"Use {_DOMAIN}.")
        kind, chunk = match.groups()
        if kind == "auto" and chunk:
            return Refused(
                f"{self.name}=auto does not support a chunk size", "Remove the chunk size."
            )
        return Resolved(
            (EnvSet(name=VARIABLE, value=value),), note="only for loops with schedule(runtime)"
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variable is in the environment."""
        value = config[self.name]
        return judge_environment(
            value, without_user_variables({VARIABLE: str(value)}, config), facts
        )
