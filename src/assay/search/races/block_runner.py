"""Block runner: the launches of one block, in a balanced random order."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from assay.records import Arm, Launch, Outcome, Sample, Stage, Value
from assay.search.space.switching import HardToChangeFactors
from assay.stats.block_order import launch_order


@dataclass(frozen=True)
class BlockPlan:
    """Arms of the next block.

    Attributes:
        stage: stage of the block.
        arms: arms that run in it.
        times: launches of each arm.
        fidelity: low fidelity of the block; ``None`` for the full one.
    """

    stage: Stage
    arms: tuple[Arm, ...]
    times: int = 1
    fidelity: Value | None = None


MAX_RETRIES = 1
"""Retries of a failed launch within its block, to tell a rare failure from a configuration that
cannot work. A failed build is not retried within a session."""


class BlockRunner:
    """Scheduler of the launches of one block at a time, in a balanced random order.

    A launch costs the same in blocks of any number of arms.

    Args:
        seed: seed of the study; the order within a block follows from it and the number of the
            block.
        hard_to_change: hard-to-change settings; arms that share them run in succession.
        slots: slots that launches are confined to; 0 without slots.
    """

    def __init__(
        self, seed: int, hard_to_change: HardToChangeFactors | None = None, slots: int = 0
    ) -> None:
        self._seed = seed
        self._hard_to_change = hard_to_change or HardToChangeFactors()
        self._slots = range(slots)
        self.number = -1
        self._stage: Stage | None = None
        self._arms: tuple[Arm, ...] = ()
        self._each_once: tuple[Arm, ...] = ()
        self._names: tuple[str, ...] = ()
        self._kept = False
        self._waiting: OrderedDict[tuple[int, int], Launch] = OrderedDict()
        self._in_flight: dict[tuple[int, int], int | None] = {}
        self._stored: list[_Finished] = []

    @property
    def stage(self) -> Stage | None:
        """Stage of the newest block; ``None`` before the first."""
        self._lay_out_stored()
        return self._stage

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms of the newest block, each once."""
        self._lay_out_stored()
        return self._each_once

    @property
    def names(self) -> tuple[str, ...]:
        """Names of these arms."""
        self._lay_out_stored()
        return self._names

    @property
    def is_finished(self) -> bool:
        """True if the block has no launches left, neither waiting nor in flight."""
        self._lay_out_stored()
        return not self._waiting and not self._in_flight

    @property
    def in_flight(self) -> int:
        """Number of launches in flight."""
        self._lay_out_stored()
        return len(self._in_flight)

    def start(self, plan: BlockPlan) -> None:
        """Begin the next block."""
        number = self.number + 1
        arms = plan.arms * plan.times
        plots = [self._hard_to_change.plot(arm.configuration) for arm in arms]
        if plan.stage is Stage.INTERFERENCE:
            plots = [(arm.name,) for arm in arms]
        places = launch_order(self._seed, number, [arm.name for arm in arms], plots)
        self._lay_out(plan.stage, number, tuple(arms[place] for place in places), plan.fidelity)

    def _lay_out(
        self, stage: Stage, number: int, arms: tuple[Arm, ...], fidelity: Value | None
    ) -> None:
        self.number = number
        self._stored = []
        self._stage = stage
        self._arms = arms
        self._each_once = tuple(dict.fromkeys(arms))
        self._names = tuple(arm.name for arm in self._each_once)
        self._kept = False
        self._in_flight = {}
        # In the search a block may begin with the configuration of the previous launch.
        anew = stage is Stage.CONFIRM and self._hard_to_change.differ(arms)
        self._wait_for(
            Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=stage,
                block=number,
                position=position,
                repeat_application=anew and position == 0,
                fidelity=fidelity,
            )
            for position, arm in enumerate(arms)
        )

    def _wait_for(self, launches: Iterable[Launch]) -> None:
        self._waiting = OrderedDict((_slot_of(launch), launch) for launch in launches)

    def take(self, free_slots: int) -> list[Launch]:
        """Return the next launches of the block.

        Each launch contains the arms of the block until a sample with it has arrived: whichever
        launch ends first, a stopped study knows the arms of the block.
        """
        self._lay_out_stored()
        count = min(self._side_by_side(free_slots), len(self._waiting))
        taken = [self._waiting.popitem(last=False)[1] for _ in range(count)]
        taken = [
            msgspec.structs.replace(launch, cpu_slot=self._assign_slot(launch)) for launch in taken
        ]
        if self._kept:
            return taken
        return [msgspec.structs.replace(launch, block_arms=self._arms) for launch in taken]

    def _side_by_side(self, free_slots: int) -> int:
        """Return the number of launches that may begin now.

        To measure interference, all launches of an arm begin together, and no other arm runs beside
        them. Launches that an interruption has separated are dropped.
        """
        first = next(iter(self._waiting.values()), None)
        if first is None or first.stage is not Stage.INTERFERENCE:
            return free_slots
        arm = first.arm
        whole = sum(a.name == arm for a in self._arms)
        if self._in_flight or free_slots < whole:
            return 0
        if sum(launch.arm == arm for launch in self._waiting.values()) < whole:
            self.drop()
        return whole

    def _assign_slot(self, launch: Launch) -> int | None:
        """Return the slot of a launch: any free one, or for a lone launch the slot of its block."""
        slot = None
        if self._slots:
            rng = random.Random(f"{self._seed}/{launch.block}/slot")
            slot = rng.choice(self._slots)
            together = (Stage.SCREEN, Stage.SEARCH, Stage.INTERFERENCE)
            if launch.stage in together and self._together(launch):
                free = [at for at in self._slots if at not in self._in_flight.values()]
                slot = random.Random(f"{self._seed}/{_slot_of(launch)}/{launch.block}").choice(free)
        self._in_flight[_slot_of(launch)] = slot
        return slot

    def _together(self, launch: Launch) -> bool:
        """Return whether other launches may run at the same time as a launch."""
        single = sum(arm.name == launch.arm for arm in self._arms) == 1
        return launch.stage in (Stage.SCREEN, Stage.SEARCH) or not single

    def drop(self) -> None:
        """Cancel the launches of this block that have not begun."""
        self._lay_out_stored()
        self._waiting.clear()

    def tell(self, sample: Sample) -> None:
        """Remove a finished launch; a first failure is repeated at the end of its block."""
        launch = sample.launch
        finished = _Finished(launch, sample.outcome is Outcome.FAILED and _is_repeated(sample))
        if launch.block > self.number:  # a sample from the store
            self.number, self._stored = launch.block, [finished]
        elif self._stored:
            self._stored.append(finished)
        else:
            self._remove(finished)

    def _lay_out_stored(self) -> None:
        """Continue a block from the store with its original layout.

        Of the blocks of a study that resumes, only the newest one is laid out.
        """
        stored, self._stored = self._stored, []
        if stored:
            launch = stored[0].launch
            self._lay_out(launch.stage, launch.block, launch.block_arms or (), launch.fidelity)
        for finished in stored:
            self._remove(finished)

    def _remove(self, finished: _Finished) -> None:
        launch = finished.launch
        self._kept = self._kept or launch.block_arms is not None
        if launch.block == self.number and launch.stage is not self._stage:
            # A long first launch counts, and so does the rest of its block.
            self._stage = launch.stage
            self._wait_for(
                msgspec.structs.replace(waiting, stage=launch.stage)
                for waiting in self._waiting.values()
            )
        place = _slot_of(launch)
        self._in_flight.pop(place, None)
        self._waiting.pop(place, None)
        if finished.is_repeated:
            retry = msgspec.structs.replace(
                launch,
                attempt=launch.attempt + 1,
                timeout_s=None,
                block_arms=None,
                repeat_application=False,
            )
            self._waiting[_slot_of(retry)] = retry


class _Finished(NamedTuple):
    """Finished launch, and whether it is repeated."""

    launch: Launch
    is_repeated: bool


def _is_repeated(sample: Sample) -> bool:
    """Return whether a failed launch is repeated."""
    launch = sample.launch
    lost = sample.build_failed or launch.stage is Stage.INTERFERENCE
    return launch.attempt < MAX_RETRIES and not lost


def _slot_of(launch: Launch) -> tuple[int, int]:
    return launch.position, launch.attempt
