"""Zero figures: launches of an arm that succeeded with a figure of zero or less."""

from __future__ import annotations

from collections import Counter

from assay.records import Sample
from assay.search.history.process_means import number_of_block


class ZeroFigures:
    """Figures without a ratio of one arm in a stage, each by its last attempt.

    Args:
        metric: name of the figure.
    """

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._zeros: dict[tuple[int, int], tuple[int, float]] = {}
        self._values: Counter[float] = Counter()
        self._positive = 0

    def __bool__(self) -> bool:
        return bool(self._zeros)

    def add(self, sample: Sample) -> None:
        """Add a launch."""
        value = sample.metrics.get(self._metric) if sample.outcome.succeeded else None
        is_zero = value is not None and value <= 0.0
        if is_zero or self._zeros:
            self._replace(sample, is_zero)
        if value is not None and not is_zero:
            self._positive += 1

    def _replace(self, sample: Sample, is_zero: bool) -> None:
        """Replace the figure of an earlier attempt at the place of a launch."""
        launch = sample.launch
        place = launch.block, launch.position
        before = self._zeros.pop(place, None)
        if before is not None:
            self._values -= Counter([before[1]])
        if is_zero:
            value = sample.metrics[self._metric]
            self._zeros[place] = number_of_block(launch), value
            self._values[value] += 1

    @property
    def blocks(self) -> set[int]:
        """Numbers of their blocks."""
        return {block for block, _ in self._zeros.values()}

    @property
    def equal(self) -> int:
        """Number of figures of the arm if all of them are equal; otherwise 0."""
        return 0 if self._positive or len(self._values) > 1 else len(self._zeros)
