"""Laboratory: what studies need of the host they run on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from assay.launch.driver import Driver
from assay.launch.planner import plan
from assay.machine.document import Machine, Program
from assay.machine.reader import fingerprint
from assay.records import Configuration, Plan, StudySpec, Workload
from assay.search.space import SearchSpace
from assay.settings.registry import Registry


@dataclass(frozen=True)
class Laboratory:
    """What studies need of the host they run on.

    Attributes:
        program: what runs; where commands are compared, the first of them.
        others: the further commands of a comparison.
        built: key of the build that ``program`` comes from; ``None`` where nothing is built.
    """

    machine: Machine
    registry: Registry
    driver: Driver
    program: Program | None = None
    others: tuple[Program, ...] = ()
    built: str | None = None

    def plan(self, configuration: Configuration) -> Plan:
        """Resolve a configuration here."""
        return plan(configuration, self.machine, self.registry, self.program)

    @property
    def files(self) -> tuple[str, ...]:
        """What runs: the files of all programs."""
        programs = (*((self.program,) if self.program else ()), *self.others)
        return tuple(dict.fromkeys(path for program in programs for path in program.files))

    @property
    def digest(self) -> str | None:
        """Of the program's file; where commands are compared, of all their files.

        A program that is built hangs on its sources as well: they may give the same default and
        other variants of it.
        """
        if self.program is None:
            return None
        if not self.others and self.built is None:
            return self.program.digest
        known = [program.digest or "" for program in (self.program, *self.others)]
        known += [self.built] if self.built is not None else []
        return hashlib.sha256("\n".join(known).encode()).hexdigest()

    def host_for(self, workload: Workload) -> str:
        """What hosts on which a workload is built alike share; nothing where it is not built."""
        return fingerprint(self.machine) if workload.build is not None else ""

    def admits(self, configuration: Configuration) -> bool:
        """Whether nothing of a configuration is refused here."""
        return not self.plan(configuration).refused

    def space(self, spec: StudySpec) -> SearchSpace:
        """The space of a study, bound to what can be granted here."""
        return SearchSpace(spec.space, self.admits)
