"""Coding: points of a table as positions in the domains of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.testing.replay.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt


class Coding:
    """The positions of all points, and a search for the nearest point.

    Args:
        table: table of the points.
    """

    def __init__(self, table: Table) -> None:
        import numpy as np

        self.columns = table.columns
        self.domains = [table.domain(i) for i in range(len(table.columns))]
        places = [{value: k for k, value in enumerate(domain)} for domain in self.domains]
        self.places: npt.NDArray[np.int64] = np.array(
            [[places[i][value] for i, value in enumerate(point)] for point in table.points]
        )
        self._steps = np.array([max(1, len(domain) - 1) for domain in self.domains])

    def ordered(self, column: int) -> bool:
        """Return whether a column has more than two values, all of them numbers."""
        domain = self.domains[column]
        return len(domain) > 2 and all(isinstance(value, int | float) for value in domain)

    def nearest(self, places: Sequence[int]) -> tuple[int, bool]:
        """Return the point with the fewest changes, nearest first, and whether it is exact."""
        import numpy as np

        apart = np.abs(self.places - np.asarray(places)) / self._steps
        changed = (apart > 0).sum(axis=1)
        found = int(np.argmin(changed + apart.mean(axis=1) / 2.0))
        return found, not changed[found]
