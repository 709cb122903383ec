"""Options of the searcher: everything about it that was chosen by trying it on recorded spaces."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.search.model.surrogate import Priors

SMALL_BATCH = 4
"""Proposals in a block of a small budget, beside the default: the model is asked more often. A
batch of at most so many may come from models in which few settings matter."""


@dataclass(frozen=True)
class SearcherOptions:
    """How a ``GpSearcher`` chooses; ``benchmarks.search.choices`` compares sets of them.

    Attributes:
        startup: random configurations that are launched before the model is asked.
        turns: rules of a batch by the surrogate of all values (see ``model.acquisition``).
        probes: rules by the surrogate of clipped values, which looks for other places to be good.
        clipped_at: quantile of the values above which those are clipped for probes. How bad the
            bad ones are says little of where good ones lie, and much of the scale that everything
            is seen at.
        priors: of the surrogate.
    """

    startup: int = 8
    turns: tuple[str, ...] = ("improve", "bound", "improve", "bound", "near")
    probes: tuple[str, ...] = ("probe", "probe", "probe")
    clipped_at: float = 0.75
    priors: Priors = field(default_factory=Priors)

    def allocate(self, count: int) -> tuple[list[str], list[str]]:
        """Return the turns of a batch, and its probes: of a smaller one in the same shares.

        What does not come out even is turns: of four proposals one probes. Two of four were worse
        on seven of eight recorded spaces, in the geometric mean 7.3 % against 4.5 % after 25
        launches of the searcher alone (22 searches each).
        """
        whole = len(self.probes) + len(self.turns)
        probes = count * len(self.probes) // whole
        turns = [self.turns[i % len(self.turns)] for i in range(count - probes)]
        return turns, [self.probes[i % len(self.probes)] for i in range(probes)]
