"""Options of the searcher: everything about it that was chosen by trying it on recorded spaces."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.search.surrogate import Priors


@dataclass(frozen=True)
class SearcherOptions:
    """How a ``GpSearcher`` chooses; ``benchmarks.search.choices`` compares sets of them.

    Attributes:
        max_lean: largest share of a batch that sets few settings; see ``assay.search.lean``.
        startup: random configurations that are launched before the model is asked.
        turns: rules of a batch, by the surrogate of all values; see ``assay.search.acquire``.
        probes: rules by the surrogate of clipped values, which looks for other places to be good.
        clipped_at: quantile of the values above which those are clipped for probes. How bad the
            bad ones are says little of where good ones lie, and much of the scale that everything
            is seen at.
        priors: of the surrogate.
    """

    max_lean: float = 1.0
    startup: int = 8
    turns: tuple[str, ...] = ("improve", "bound", "bound", "improve", "near")
    probes: tuple[str, ...] = ("probe", "probe", "probe")
    clipped_at: float = 0.75
    priors: Priors = field(default_factory=Priors)

    def shared_out(self, count: int) -> tuple[list[str], list[str]]:
        """The turns of a batch, and its probes: of a smaller one in the same shares."""
        whole = len(self.probes) + len(self.turns)
        probes = round(count * len(self.probes) / whole)
        turns = [self.turns[i % len(self.turns)] for i in range(count - probes)]
        return turns, [self.probes[i % len(self.probes)] for i in range(probes)]
