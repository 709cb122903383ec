"""CompareRace: named arms, block by block, until each is decided against the first."""

from __future__ import annotations

from assay.records import Arm, Budget, Claim, Stage, StudySpec, Verdict
from assay.search.claims import MIN_BLOCKS, claim, precise
from assay.search.history import History
from assay.search.purse import Cost, Purse
from assay.search.race import BlockRace, Done, Reason, Roster

TRIES = 3
"""Blocks in which an arm may fail before it counts as failing always."""


class CompareRace(BlockRace):
    """The race behind ``assay compare``.

    Every arm runs once as a warm-up whose time is not used. With ``null`` the first arm runs a
    second time in each block, under another name.

    Args:
        spec: of the study; ``arms`` holds the baseline first.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arms = compared_arms(spec)

    def _next(self, purse: Purse) -> Roster | Done:
        cold = [arm for arm in self._arms if not self._warm(arm)]
        if cold and len(self._history.blocks(Stage.SURVEY)) < TRIES:
            return Roster(Stage.SURVEY, tuple(cold))
        if self._arms[0] in cold:
            return Done(Reason.WORKLOAD_FAILED, f"{self._arms[0].name!r} failed at every attempt.")
        able = [arm for arm in self._arms if arm not in cold]
        if len(able) < 2:
            return Done(Reason.WORKLOAD_FAILED, "All arms but the first failed at every attempt.")
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if blocks == 0:
            small = self._too_small(able, purse)
            if small is not None:
                return small
        racing = [arm for arm in able[1:] if not self._decided(arm)]
        if not racing:
            return Done(Reason.DECIDED, f"Every comparison was decided after {blocks} blocks.")
        roster = [able[0], *racing]
        if purse.affords(self._history.cost(roster)):
            return Roster(Stage.CONFIRM, tuple(roster))
        return Done(Reason.BUDGET, f"The budget ended after {blocks} blocks.")

    def _too_small(self, arms: list[Arm], purse: Purse) -> Done | None:
        """Six blocks must fit (rule 14); the warm-up launches tell how long one takes."""
        walls = [s.wall_s or 0.0 for s in self._history.samples]
        block_s = sum(walls) / max(1, len(walls)) * len(arms)
        cost = Cost(block_s * MIN_BLOCKS, len(arms) * MIN_BLOCKS)
        if purse.affords(cost):
            return None
        done = len(self._history.samples)
        needed = Budget(
            time_s=float(round(sum(walls) + cost.time_s * 1.2 + 1)), launches=cost.launches + done
        )
        return Done(
            Reason.TOO_SMALL,
            f"The budget is too small for a claim: {MIN_BLOCKS} blocks do not fit.",
            needed,
        )

    def _warm(self, arm: Arm) -> bool:
        return any(
            self._history.observation(s) is not None
            for s in self._history.samples
            if s.launch.arm == arm.name
        )

    def _decided(self, arm: Arm) -> bool:
        """Decided and told well enough; an arm that runs again for the noise floor only follows."""
        found = compare_claim(self._spec, self._history, self._arms, arm)
        if found is None:
            return self._history.gave_up(Stage.CONFIRM, arm.name)
        return (
            found.blocks >= MIN_BLOCKS and found.verdict is not Verdict.UNCLEAR and precise(found)
        )


def compared_arms(spec: StudySpec) -> tuple[Arm, ...]:
    """The arms of a comparison, with the second name of the first where ``null`` asks for it."""
    if not spec.null:
        return spec.arms
    first = spec.arms[0]
    return (
        first,
        Arm(name=null_name(first.name), configuration=first.configuration),
        *spec.arms[1:],
    )


def null_name(name: str) -> str:
    """The second name of an arm that runs twice."""
    return f"{name} (again)"


def compare_claim(
    spec: StudySpec, history: History, arms: tuple[Arm, ...], arm: Arm
) -> Claim | None:
    """The claim on one arm against the first.

    ``alpha`` is shared out among the claims shown, so that all their intervals hold together.
    """
    return claim(
        (arms[0].name, arm.name),
        history.observations(Stage.CONFIRM, arms[0].name),
        history.observations(Stage.CONFIRM, arm.name),
        spec.workload.objective,
        alpha=spec.alpha / (len(arms) - 1),
        margin=spec.margin,
    )
