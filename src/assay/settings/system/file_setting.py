"""System settings with one value in a kernel file, or in several files of the same kind.

Evidence: *seen*: the files are read back just before and after each launch.
"""

from __future__ import annotations

import re

from assay.machine.document import Machine
from assay.machine.tunables import current_value, find_tunable, find_writable, matching
from assay.machine.value_formats import offered_words
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Plan,
    Range,
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

_NONE = Choices(())


class FileSetting(SystemSetting, frozen=True):
    """A system setting.

    Attributes:
        name, summary: as for every setting.
        files: patterns of the tunables with its value.
        fallback: domain if no file lists the values.
        offered: pattern of files that list the values, if the file itself does not.
        bounds: patterns of the files with the lowest and the highest number.
        resets: patterns of files that the kernel changes too; a number in them is that of the
            written file.
        parts: pattern of the files whose sum is its number: the kernel takes pages from them in
            turn, so each is restored separately.
        note: information for the user.
        remedy: remedy if the file is missing.
    """

    name: str
    summary: str
    files: tuple[str, ...]
    fallback: Domain = _NONE
    offered: str | None = None
    bounds: tuple[str, str] | None = None
    resets: tuple[str, ...] = ()
    parts: str | None = None
    note: str | None = None
    remedy: str | None = None

    def domain(self, machine: Machine) -> Domain:
        """Return the values that the files list, or the fallback."""
        paths = self.paths(machine)
        if paths and self._is_choice:
            return Choices(offered_words(machine.system_files[paths[0]]))
        if self.offered is not None:
            common = [
                offered_words(machine.system_files[p])
                for p in matching(machine.system_files, self.offered)
            ]
            if common:
                return Choices(tuple(w for w in common[0] if all(w in words for words in common)))
        if self.bounds is not None:
            low, high = (_numbers(machine, pattern) for pattern in self.bounds)
            if low and high:
                return Range(min(low), max(high))
        return self.fallback

    def default(self, machine: Machine) -> Value | None:
        """Return the content of the files, if it is the same."""
        found = {current_value(machine.system_files, path) for path in self.paths(machine)}
        if len(found) != 1:
            return None
        text = found.pop()
        if text is not None and re.fullmatch("-?[0-9]+", text):
            return int(text)
        return text

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one write per file."""
        value = config[self.name]
        paths = self.paths(machine)
        if not paths:
            return Refused(f"this machine has no {self.files[0].replace('#', 'N')}", self.remedy)
        domain = self.domain(machine)
        if value not in domain:
            return out_of_domain(self.name, value, domain)
        refused = missing_privileges(machine)
        if refused is not None:
            return refused
        return Resolved(tuple(self._write(path, value, machine) for path in paths), note=self.note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the content of the files before and after the launch."""
        own_actions = [a for a in plan.system if isinstance(a, WriteFile) and self._has(a.path)]
        return judge_files(config[self.name], own_actions, facts)

    def paths(self, machine: Machine) -> tuple[str, ...]:
        """Return the files of the setting on a machine."""
        return tuple(
            path for pattern in self.files for path in matching(machine.system_files, pattern)
        )

    @property
    def _is_choice(self) -> bool:
        tunable = find_tunable(self.files[0].replace("#", "0"))
        return tunable is not None and tunable.form == "choice"

    def _has(self, path: str) -> bool:
        return any(matching({path: ""}, pattern) for pattern in self.files)

    def _write(self, path: str, value: Value, machine: Machine) -> WriteFile:
        tunable = find_writable(path)
        number = re.findall("[0-9]+", path)[-1:] or [""]
        reset_paths = (pattern.replace("#", number[0]) for pattern in self.resets)
        resets = tuple(other for other in reset_paths if other in machine.system_files)
        parts = matching(machine.system_files, self.parts) if self.parts else ()
        return WriteFile(
            path=path,
            value=str(value),
            form=tunable.form if tunable else "text",
            resets=(*resets, *parts) if len(parts) > 1 else resets,
        )


def _numbers(machine: Machine, pattern: str) -> list[int]:
    texts = (machine.system_files[path] for path in matching(machine.system_files, pattern))
    return [int(text) for text in texts if text.isascii() and text.isdigit()]
