"""Switching: settings that are costly to change, and the order and cost of launches that follow.

What takes a write, a build or a boot is applied less often than once a launch: it makes the whole
plots of a split-plot design, whose unit is the application (docs/explanation/statistics.md,
rule 18).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from assay.records import Arm, Configuration, Sample, StudySpec, SwitchingCost
from assay.records.configuration import Value, show_value
from assay.search.space.space import SearchSpace
from assay.stats.order import Plot

SWITCH_EVIDENCE = "switch"
"""Kind of the evidence that tells, in seconds, what applying costly settings before a launch took.
"""
BOOT_EVIDENCE = "boot"
"""Kind of the evidence that names the boot that a launch was made in."""
MAX_LAUNCHES_PER_APPLICATION = 10
"""Launches of an arm within one application, at most: their mean is no better than the application
itself."""


class HardToChangeFactors:
    """The settings of a study that are costly to change.

    Args:
        costs_s: seconds that changing each takes; those of 0 are none of them.
        pausing: those that take a boot, and what each is where it is left alone. A study does not
            run meanwhile, so that its budget counts no boots.
    """

    def __init__(
        self,
        costs_s: Mapping[str, float] | None = None,
        pausing: Mapping[str, Value] | None = None,
    ) -> None:
        given = {name: cost for name, cost in (costs_s or {}).items() if cost > 0.0}
        self.costs_s = dict(sorted(given.items(), key=lambda pair: (-pair[1], pair[0])))
        self.pausing = dict(pausing or {})

    @classmethod
    def of(cls, spec: StudySpec) -> HardToChangeFactors:
        """Those of a study."""
        return cls(spec.switch_costs_s, spec.pausing)

    @property
    def without_boot_settings(self) -> HardToChangeFactors:
        """Those that are changed while a study runs."""
        return HardToChangeFactors({n: c for n, c in self.costs_s.items() if n not in self.pausing})

    def __bool__(self) -> bool:
        return bool(self.costs_s)

    @property
    def names(self) -> tuple[str, ...]:
        """The costliest first."""
        return tuple(self.costs_s)

    def level(self, configuration: Configuration) -> tuple[Value | None, ...]:
        """Their values in a configuration; ``None`` where one is left alone.

        What takes a boot is never left alone: it is then what it was when the study began.
        """
        return tuple(configuration.get(name, self.pausing.get(name)) for name in self.costs_s)

    def boot(self, configuration: Configuration) -> dict[str, Value]:
        """What a boot has to have for a configuration."""
        return {name: configuration.get(name, usual) for name, usual in self.pausing.items()}

    def begins(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """The arms that run in the boot in which the study began; all where none takes a boot."""
        return tuple(arm for arm in arms if self.boot(arm.configuration) == self.pausing)

    def plot(self, configuration: Configuration) -> Plot:
        """The same as text."""
        level = self.level(configuration)
        return tuple("" if value is None else f"={show_value(value)}" for value in level)

    def differ(self, arms: Iterable[Arm]) -> bool:
        """Whether arms differ in any of them."""
        return bool(self.costs_s) and len({self.plot(arm.configuration) for arm in arms}) > 1

    def block_with_boots_s(self, arms: Sequence[Arm]) -> float:
        """The same as ``block_s``, with the boots that no budget counts."""
        boots = {tuple(self.boot(arm.configuration).items()) for arm in arms}
        return self.block_s(arms) + (len(boots) * self._boot_s if len(boots) > 1 else 0.0)

    def block_s(self, arms: Sequence[Arm]) -> float:
        """What a block of these arms takes for switching, in the order of ``stats.block_order``.

        Each setting is applied once for each group of arms that share it and all that are costlier,
        that of the first group included; not at all where no arm differs.
        """
        if not self.costs_s:
            return 0.0
        return self._applied_s({self.plot(arm.configuration) for arm in arms})

    def space_s(self, space: SearchSpace, most: int) -> float:
        """The same for a block of a whole space, or of ``most`` unknown arms of it."""
        total_s, groups = 0.0, 1
        for name, cost_s in self.costs_s.items():
            cost_s = self._spent_s(name, cost_s)
            options = space.options(name) if name in space.parameters else (None,)
            groups = min(most, groups * (most if options is None else len(options)))
            total_s += cost_s * groups if groups > 1 else 0.0
        return total_s

    @property
    def pair_s(self) -> float:
        """The same for a block of two arms that differ in all of them."""
        return 2.0 * sum(self._spent_s(name, cost) for name, cost in self.costs_s.items())

    @property
    def pair_with_boots_s(self) -> float:
        """The same with the two boots that no budget counts."""
        return self.pair_s + 2.0 * self._boot_s

    @property
    def _boot_s(self) -> float:
        return max((self.costs_s.get(name, 0.0) for name in self.pausing), default=0.0)

    def _applied_s(self, plots: set[Plot]) -> float:
        total_s = 0.0
        for depth, (name, cost_s) in enumerate(self.costs_s.items(), 1):
            groups = len({plot[:depth] for plot in plots})
            total_s += self._spent_s(name, cost_s) * groups if groups > 1 else 0.0
        return total_s

    def _spent_s(self, name: str, cost_s: float) -> float:
        """What the budget counts of it."""
        return 0.0 if name in self.pausing else cost_s


def launches_per_application(switching_s: float, launching_s: float) -> int:
    """How many launches of each arm one application serves.

    So many that launching takes about as long as switching: fewer would waste what was paid for
    the application, and more would tell little beyond it.

    Args:
        switching_s: of a block.
        launching_s: of a block with one launch of each arm.
    """
    if switching_s <= 0.0 or launching_s <= 0.0:
        return 1
    return min(MAX_LAUNCHES_PER_APPLICATION, max(1, round(switching_s / launching_s)))


def switching_of(spec: StudySpec, samples: Iterable[Sample]) -> Switching | None:
    """What a study has spent on switching; ``None`` where it varies nothing costly."""
    costly = HardToChangeFactors.of(spec)
    if not costly:
        return None
    known = [e for s in samples for e in s.evidence]
    pieces = [e for e in known if e.kind == SWITCH_EVIDENCE]
    return SwitchingCost(
        settings=costly.names,
        applications=len(pieces),
        time_s=math.fsum(e.value or 0.0 for e in pieces),
        boots=len({e.note for e in known if e.kind == BOOT_EVIDENCE}),
    )
