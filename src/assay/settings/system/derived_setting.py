"""Derived: a system setting whose files get what follows from its value, not the value itself.

Evidence: *seen*: the files are read back just before each launch, and after it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from assay.errors import InvalidInputError
from assay.machine.document import Machine, Program
from assay.records import (
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
    WriteFile,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import ONLY_ON_REQUEST, SWITCH_S, judge_files, missing_privileges

Writes = tuple[WriteFile, ...]


class DerivedSetting(msgspec.Struct, frozen=True):
    """A setting whose value is not what is written: each file gets what follows from it.

    Attributes:
        form: its domain on every machine.
        begins: what the paths of its files begin with.
        writes: from a value to the files to write, or the reason why the value is not available.
            It raises ``InvalidInputError`` for a value outside the domain.
        current: the value that the files hold; ``None`` where they hold none, or no single one.
        note: what is worth knowing before it is changed.
        absent: what has to be there for it to be had.
    """

    name: str
    summary: str
    form: Domain
    begins: tuple[str, ...]
    writes: Callable[[str, Machine], Writes | str]
    current: Callable[[Machine], str | None]
    note: str | None = None
    absent: str | None = None
    scope: Scope = Scope.SYSTEM
    switch_cost_s: float = SWITCH_S
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """The same everywhere."""
        return self.form

    def default(self, machine: Machine) -> Value | None:
        """What the files hold."""
        return self.current(machine)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return ONLY_ON_REQUEST

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """One write for each file."""
        value = config[self.name]
        if value not in self.form:
            return out_of_domain(self.name, value, self.form)
        try:
            found = self.writes(str(value), machine)
        except InvalidInputError:
            return out_of_domain(self.name, value, self.form)
        if isinstance(found, str):
            return Refused(found, self.absent)
        return missing_privileges(machine) or Resolved(found, note=self.note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By what the files held before the launch, and after it."""
        mine = [
            action
            for action in plan.system
            if isinstance(action, WriteFile) and action.path.startswith(self.begins)
        ]
        return judge_files(config[self.name], mine, facts)
