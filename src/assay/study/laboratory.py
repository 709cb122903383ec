"""Laboratory: the host of studies, with driver and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from assay.launch.driver import Driver
from assay.launch.planner import confined_to_cpus, plan
from assay.machine.document import Machine, Program
from assay.machine.reader import fingerprint
from assay.machine.slots import Slot, slots
from assay.records import Configuration, Plan, StudySpec, Workload
from assay.settings.registry import Registry

if TYPE_CHECKING:
    from assay.executors.executor import Executor
    from assay.partition.share import Share
    from assay.search.space.search_space import SearchSpace


@dataclass(frozen=True)
class Laboratory:
    """Host of studies.

    Attributes:
        machine: machine document.
        registry: settings.
        driver: driver of the launcher.
        program: program; the first one if commands are compared.
        others: further compared programs.
        slots: CPU slots that launches are confined to; empty without slots.
        built: key of the build of ``program``; ``None`` without a build.
        share: share of a partition in which launches run; ``machine`` is restricted to it.
        executor: factory of the executor; the local one if absent.
    """

    machine: Machine
    registry: Registry
    driver: Driver
    program: Program | None = None
    others: tuple[Program, ...] = ()
    slots: tuple[Slot, ...] = ()
    built: str | None = None
    executor: Callable[[StudySpec], Executor] | None = None
    share: Share | None = None

    def within(self, share: Share | None) -> Laboratory:
        """Return the laboratory with launches in a share of a partition."""
        if share is None:
            return self
        driver = self.driver.placed(share)
        return replace(self, machine=share.machine_within(self.machine), driver=driver, share=share)

    def divided(self, parallel: int | None) -> Laboratory:
        """Return the laboratory with its CPUs divided into slots.

        Raises:
            NotPossibleError: the CPUs cannot be divided that way.
        """
        if parallel is None:
            return self
        return replace(self, slots=slots(self.machine.usable, parallel))

    @property
    def room(self) -> Machine:
        """Return the machine as seen by programs: with slots, restricted to the first one."""
        return self._room(0)

    def _room(self, slot: int) -> Machine:
        if not self.slots:
            return self.machine
        return msgspec.structs.replace(self.machine, allowed_cpus=self.slots[slot])

    def plan(self, configuration: Configuration, slot: int | None = None) -> Plan:
        """Return the plan of a configuration, in the first slot by default."""
        at = slot or 0
        found = plan(configuration, self._room(at), self.registry, self.program)
        if self.slots:
            return confined_to_cpus(found, self.slots[at])
        # Utility CPUs belong to the share too, but are not for the program.
        return confined_to_cpus(found, self.share.cpus) if self.share else found

    def foreseen(self, configuration: Configuration) -> Plan:
        """Return the plan of the first slot with a refused setting, otherwise of the first slot."""
        plans = [self.plan(configuration, slot) for slot in range(max(1, len(self.slots)))]
        return next((found for found in plans if found.refused), plans[0])

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of all programs."""
        programs = (*((self.program,) if self.program else ()), *self.others)
        return tuple(dict.fromkeys(path for program in programs for path in program.files))

    @property
    def digest(self) -> str | None:
        """Return the digest of the program file, or of the files of all compared programs.

        The digest of a built program includes its sources, which may change only non-default
        variants.
        """
        if self.program is None:
            return None
        if not self.others and self.built is None:
            return self.program.digest
        import hashlib

        known = [program.digest or "" for program in (self.program, *self.others)]
        known += [self.built] if self.built is not None else []
        return hashlib.sha256("\n".join(known).encode()).hexdigest()

    def host_for(self, workload: Workload) -> str:
        """Return the key of hosts that share builds of a workload; empty without a build."""
        return fingerprint(self.machine) if workload.build is not None else ""

    def admits(self, configuration: Configuration) -> bool:
        """Return whether a configuration can be granted on this host, possibly in another boot."""
        return not self.foreseen(configuration).impossible

    def space(self, spec: StudySpec) -> SearchSpace:
        """Return the space of a study, restricted to grantable configurations."""
        from assay.search.space.named_configurations import make_search_space

        return make_search_space(spec.space, self.admits)
