"""Tasks: the launches of this study and the results of earlier ones in one surrogate.

Results of earlier studies are launches of separate tasks (Bonilla, Chai and Williams, NeurIPS
2007): everything except noise is correlated with this study to a fitted degree, so that an
unrelated study has little influence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

LEVEL_DEVIATION = 1.0
"""Prior standard deviation of the level of an earlier study, in standardised values: it launched
different configurations."""


@dataclass(frozen=True)
class TrainingData:
    """Launches that the surrogate is fitted to.

    Attributes:
        rows: features, configurations x columns.
        which: row of each launch.
        block: block of each launch.
        values: logarithm of the objective of each launch.
        noise: variance of a launch about the mean of its configuration.
        task: study of each launch: 0 for this study, from 1 on for earlier ones; 0 if absent.
        counts: number of launches averaged in each value, below 1 for a shorter launch; 1 if
            absent.
    """

    rows: Array
    which: Places
    block: Places
    values: Array
    noise: float
    task: Places | None = None
    counts: Array | None = None


class Tasks:
    """Assignment of launches to tasks: this study and earlier ones.

    The correlation of two tasks is the product of their correlations with this study, so the
    covariance of tasks is always positive definite.

    Args:
        data: at least two configurations of this study.
    """

    def __init__(self, data: TrainingData) -> None:
        import numpy as np

        task = np.zeros(len(data.values), dtype=np.intp) if data.task is None else data.task
        self._task = task
        self.earlier = int(task.max())
        if self.earlier:
            self._same = task[:, None] == task[None, :]
            self._offset = LEVEL_DEVIATION * (self._same & (task > 0)[:, None])

    def standardised(self, data: TrainingData) -> tuple[float, float, Array]:
        """Return the mean of this study, the common scale, and values about task means."""
        import numpy as np

        values, means, levels = data.values.astype(np.float64), [], []
        for task in range(self.earlier + 1):
            of_task = self._task == task
            count = np.bincount(data.which[of_task])
            sums = np.bincount(data.which[of_task], weights=data.values[of_task])
            means.append(sums[count > 0] / count[count > 0])
            levels.append(float(means[-1].mean()))
            means[-1] = means[-1] - levels[-1]
            values[of_task] -= levels[-1]
        scale = max(float(np.concatenate(means).std()), 1e-6)
        return levels[0], scale, values / scale

    def launch_correlations(self, correlations: Array) -> Array:
        """Return the correlation of the task of each launch with this study."""
        import numpy as np

        return np.concatenate(([1.0], correlations))[self._task]

    def scaled(self, covariance: Array, correlations: Array) -> Array:
        """Return a covariance with entries between tasks multiplied by their correlation."""
        import numpy as np

        if not self.earlier:
            return covariance
        degrees = self.launch_correlations(correlations)
        return covariance * np.where(self._same, 1.0, np.outer(degrees, degrees))

    def with_level_variance(self, covariance: Array, correlations: Array) -> Array:
        """Return the scaled covariance plus the level variance of earlier studies."""
        return self.scaled(covariance, correlations) + self._offset if self.earlier else covariance

    def correlation_gradient(self, pulls: Array, correlations: Array) -> list[float]:
        """Return the derivatives of a sum of ``scaled`` entries by the log odds of correlations."""
        import numpy as np

        across = np.where(self._same, 0.0, pulls) @ self.launch_correlations(correlations)
        found = [2.0 * float(across[self._task == k + 1].sum()) for k in range(self.earlier)]
        return [f * a * (1.0 - a) for f, a in zip(found, correlations, strict=True)]
