"""Laboratory: what studies need of the host they run on."""

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
    """What studies need of the host they run on.

    Attributes:
        program: what runs; where commands are compared, the first of them.
        others: the further commands of a comparison.
        slots: that every launch is confined to one of; none where absent.
        built: key of the build that ``program`` comes from; ``None`` where nothing is built.
        share: of a partition, that every launch is placed in; ``machine`` is what it leaves.
        executor: makes what carries the launches of a study out; this host if absent.
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
        """The same, with its launches in a share of a partition."""
        if share is None:
            return self
        driver = self.driver.placed(share)
        return replace(self, machine=share.room(self.machine), driver=driver, share=share)

    def divided(self, parallel: int | None) -> Laboratory:
        """The same, with its CPUs divided into so many slots.

        Raises:
            NotPossibleError: they cannot be.
        """
        if parallel is None:
            return self
        return replace(self, slots=slots(self.machine.usable, parallel))

    @property
    def room(self) -> Machine:
        """The machine as programs have it: with slots, with the CPUs of one of them."""
        return self._room(0)

    def _room(self, slot: int) -> Machine:
        if not self.slots:
            return self.machine
        return msgspec.structs.replace(self.machine, allowed=self.slots[slot])

    def plan(self, configuration: Configuration, slot: int | None = None) -> Plan:
        """Resolve a configuration here, in the first slot unless another is named."""
        at = slot or 0
        found = plan(configuration, self._room(at), self.registry, self.program)
        if self.slots:
            return confined_to_cpus(found, self.slots[at])
        # Utility CPUs belong to the share too, and are not for the work.
        return confined_to_cpus(found, self.share.cpus) if self.share else found

    def foreseen(self, configuration: Configuration) -> Plan:
        """The plan of the first slot that refuses something; where none does, of the first."""
        plans = [self.plan(configuration, slot) for slot in range(max(1, len(self.slots)))]
        return next((found for found in plans if found.refused), plans[0])

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
        import hashlib

        known = [program.digest or "" for program in (self.program, *self.others)]
        known += [self.built] if self.built is not None else []
        return hashlib.sha256("\n".join(known).encode()).hexdigest()

    def host_for(self, workload: Workload) -> str:
        """What hosts on which a workload is built alike share; nothing where it is not built."""
        return fingerprint(self.machine) if workload.build is not None else ""

    def admits(self, configuration: Configuration) -> bool:
        """Whether nothing of a configuration is refused here, or it takes another boot."""
        return not self.foreseen(configuration).impossible

    def space(self, spec: StudySpec) -> SearchSpace:
        """The space of a study, bound to what can be granted here."""
        from assay.search.space.named_configurations import make_search_space

        return make_search_space(spec.space, self.admits)
