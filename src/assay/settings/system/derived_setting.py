"""System settings whose files contain values derived from the setting.

Evidence: *seen*: the files are read back just before and after each launch.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import (
    Configuration,
    Domain,
    Grant,
    Plan,
    RunFacts,
    Value,
    WriteFile,
)
from assay.settings.base import Refused, Resolved
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import (
    SystemSetting,
    judge_files,
    missing_privileges,
)

Writes = tuple[WriteFile, ...]


class DerivedSetting(SystemSetting, frozen=True):
    """A setting whose files contain derived values.

    Attributes:
        values: its domain on every machine.
        prefixes: path prefixes of its files.
        writes: returns the files to write for a value, or the reason why the value is unavailable.
            It raises ``InvalidInputError`` for a value outside the domain.
        current: returns the current value; ``None`` if there is no single one.
        note: information for the user.
        remedy: remedy if the value is unavailable.
    """

    name: str
    summary: str
    values: Domain
    prefixes: tuple[str, ...]
    writes: Callable[[str, Machine], Writes | str]
    current: Callable[[Machine], str | None]
    note: str | None = None
    remedy: str | None = None

    def domain(self, machine: Machine) -> Domain:
        """Return the same domain on every machine."""
        return self.values

    def default(self, machine: Machine) -> Value | None:
        """Return the current value."""
        return self.current(machine)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one write per file."""
        value = config[self.name]
        if value not in self.values:
            return out_of_domain(self.name, value, self.values)
        try:
            found = self.writes(str(value), machine)
        except InvalidInputError:
            return out_of_domain(self.name, value, self.values)
        if isinstance(found, str):
            return Refused(found, self.remedy)
        return missing_privileges(machine) or Resolved(found, note=self.note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the content of the files before and after the launch."""
        own_actions = [
            action
            for action in plan.system
            if isinstance(action, WriteFile) and action.path.startswith(self.prefixes)
        ]
        return judge_files(config[self.name], own_actions, facts)
