"""Switching: hard-to-change settings, and the resulting order and cost of launches.

A setting that needs a write, a build or a boot is applied less often than once for each launch. It
defines the whole plots of a split-plot design, whose experimental unit is the application
(docs/explanation/statistics.md, rule 18).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from assay.records import Arm, Configuration, Sample, StudySpec, SwitchingCost
from assay.records.configuration import Value, show_value
from assay.search.space.search_space import SearchSpace
from assay.stats.block_order import Plot

SWITCH_EVIDENCE = "switch"
"""Kind of evidence: time to apply hard-to-change settings before a launch, in seconds."""
BOOT_EVIDENCE = "boot"
"""Kind of evidence: the boot in which a launch was made."""
MAX_LAUNCHES_PER_APPLICATION = 10
"""Maximum launches of an arm within one application: their mean is no more precise than the
application itself."""


class HardToChangeFactors:
    """The hard-to-change settings of a study.

    Args:
        costs_s: time to change each setting, in seconds; settings with 0 are not hard to change.
        reboot_settings: settings that need a boot, with their values if they are not set. A study
            does not run during a boot, so its budget excludes boots.
    """

    def __init__(
        self,
        costs_s: Mapping[str, float] | None = None,
        reboot_settings: Mapping[str, Value] | None = None,
    ) -> None:
        given = {name: cost for name, cost in (costs_s or {}).items() if cost > 0.0}
        self.costs_s = dict(sorted(given.items(), key=lambda pair: (-pair[1], pair[0])))
        self.reboot_settings = dict(reboot_settings or {})

    @classmethod
    def of(cls, spec: StudySpec) -> HardToChangeFactors:
        """Return the hard-to-change factors of a study."""
        return cls(spec.switch_costs_s, spec.reboot_settings)

    @property
    def without_boot_settings(self) -> HardToChangeFactors:
        """Return the factors that are changed while a study runs."""
        return HardToChangeFactors(
            {n: c for n, c in self.costs_s.items() if n not in self.reboot_settings}
        )

    def __bool__(self) -> bool:
        return bool(self.costs_s)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the settings, the costliest first."""
        return tuple(self.costs_s)

    def level(self, configuration: Configuration) -> tuple[Value | None, ...]:
        """Return their values in a configuration; ``None`` for a setting that is not set.

        A setting that needs a boot always has a value: by default that at the beginning of the
        study.
        """
        return tuple(
            configuration.get(name, self.reboot_settings.get(name)) for name in self.costs_s
        )

    def boot(self, configuration: Configuration) -> dict[str, Value]:
        """Return the boot settings that a configuration requires."""
        return {
            name: configuration.get(name, usual) for name, usual in self.reboot_settings.items()
        }

    def initial_boot_arms(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the arms that run in the initial boot of the study; all without boot settings."""
        return tuple(arm for arm in arms if self.boot(arm.configuration) == self.reboot_settings)

    def plot(self, configuration: Configuration) -> Plot:
        """Return the level of a configuration as text."""
        level = self.level(configuration)
        return tuple("" if value is None else f"={show_value(value)}" for value in level)

    def differ(self, arms: Iterable[Arm]) -> bool:
        """Return whether arms differ in any of these settings."""
        return bool(self.costs_s) and len({self.plot(arm.configuration) for arm in arms}) > 1

    def block_with_boots_s(self, arms: Sequence[Arm]) -> float:
        """Return ``block_s`` plus the time of boots, which budgets exclude."""
        boots = {tuple(self.boot(arm.configuration).items()) for arm in arms}
        return self.block_s(arms) + (len(boots) * self._boot_s if len(boots) > 1 else 0.0)

    def block_s(self, arms: Sequence[Arm]) -> float:
        """Return the switching time of a block of arms, in the order of ``stats.block_order``.

        Each setting is applied once for each group of arms that share its value and those of all
        costlier settings, including the first group; never if all arms have the same value.
        """
        if not self.costs_s:
            return 0.0
        return self._applied_s({self.plot(arm.configuration) for arm in arms})

    def space_s(self, space: SearchSpace, max_configurations: int) -> float:
        """Return the switching time of a block of a space.

        Args:
            space: search space.
            max_configurations: largest number of arms of the block.
        """
        total_s, groups = 0.0, 1
        for name, cost_s in self.costs_s.items():
            cost_s = self._spent_s(name, cost_s)
            options = space.options(name) if name in space.parameters else (None,)
            groups = min(
                max_configurations,
                groups * (max_configurations if options is None else len(options)),
            )
            total_s += cost_s * groups if groups > 1 else 0.0
        return total_s

    @property
    def pair_s(self) -> float:
        """Switching time of a block of two arms that differ in all settings, in seconds."""
        return 2.0 * sum(self._spent_s(name, cost) for name, cost in self.costs_s.items())

    @property
    def pair_with_boots_s(self) -> float:
        """Switching time of such a block plus two boots, in seconds."""
        return self.pair_s + 2.0 * self._boot_s

    @property
    def _boot_s(self) -> float:
        return max((self.costs_s.get(name, 0.0) for name in self.reboot_settings), default=0.0)

    def _applied_s(self, plots: set[Plot]) -> float:
        total_s = 0.0
        for depth, (name, cost_s) in enumerate(self.costs_s.items(), 1):
            groups = len({plot[:depth] for plot in plots})
            total_s += self._spent_s(name, cost_s) * groups if groups > 1 else 0.0
        return total_s

    def _spent_s(self, name: str, cost_s: float) -> float:
        """Return the part of a cost that the budget includes."""
        return 0.0 if name in self.reboot_settings else cost_s


def launches_per_application(switching_s: float, launching_s: float) -> int:
    """Return the number of launches of each arm for one application.

    Launching then takes about as long as switching: fewer launches would waste the cost of the
    application, and more would add little information.

    Args:
        switching_s: switching time of a block, in seconds.
        launching_s: time of a block with one launch of each arm, in seconds.
    """
    if switching_s <= 0.0 or launching_s <= 0.0:
        return 1
    return min(MAX_LAUNCHES_PER_APPLICATION, max(1, round(switching_s / launching_s)))


def switching_cost(spec: StudySpec, samples: Iterable[Sample]) -> SwitchingCost | None:
    """Return the total switching cost of a study; ``None`` without hard-to-change settings."""
    hard_to_change = HardToChangeFactors.of(spec)
    if not hard_to_change:
        return None
    known = [e for s in samples for e in s.evidence]
    pieces = [e for e in known if e.kind == SWITCH_EVIDENCE]
    return SwitchingCost(
        settings=hard_to_change.names,
        changes=len(pieces),
        time_s=math.fsum(e.value or 0.0 for e in pieces),
        boot_count=len({e.note for e in known if e.kind == BOOT_EVIDENCE}),
    )
