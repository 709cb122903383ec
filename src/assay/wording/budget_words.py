"""Sufficient budgets, as options of the command line and as keywords of Python."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Budget


@dataclass(frozen=True)
class BudgetWords:
    """Form of a budget in a next step.

    Attributes:
        time, launches: its two parts, with a place for the number.
        separator: text between the parts of a call or a command.
        call: command or call that resumes a study, with places for its id and the budget.
    """

    time: str
    launches: str
    separator: str
    call: str

    def of(self, budget: Budget, needed: Budget) -> str:
        """Return a sufficient budget, rounded up: those parts that were too small.

        Args:
            budget: budget of the study.
            needed: budget that suffices.
        """
        return " and ".join(self._parts(budget, needed))

    def resume(self, study_id: str, left: Budget, rest: Budget) -> str:
        """Return the command or the call that resumes a study.

        Args:
            study_id: id of the study.
            left: remaining budget of the study.
            rest: missing part of the sufficient budget.
        """
        more = self.separator.join(self._parts(left, rest))
        return self.call.format(study_id, more)

    def _parts(self, budget: Budget, needed: Budget) -> list[str]:
        time_s = needed.time_s if budget.time_s is not None else None
        launches = needed.launches if budget.launches is not None else None
        late = bool(time_s and budget.time_s is not None and time_s > budget.time_s)
        few = bool(launches and budget.launches is not None and launches > budget.launches)
        parts = []
        if time_s and (late or not few):
            parts.append(self.time.format(math.ceil(time_s)))
        if launches and (few or not late):
            parts.append(self.launches.format(launches))
        return parts


ON_COMMAND_LINE = BudgetWords("--budget {}s", "--runs {}", " ", "assay study resume {} {}")
IN_PYTHON = BudgetWords('budget="{}s"', "runs={}", ", ", 'assay.resume("{}", {})')


def budget_options(budget: Budget, needed: Budget) -> str:
    """Return a sufficient budget as options; arguments: see ``BudgetWords.of``."""
    return ON_COMMAND_LINE.of(budget, needed)
