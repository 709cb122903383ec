"""Thinking time of a search: proposals in a session, without programs.

``python -m benchmarks.scale.thinking SETTINGS TRIALS FOLDER`` prints the cost of one search.
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import assay
from assay.records import Stage

from .cost import output_of, own_cost

VALUES = [1, 2, 4, 8]
EFFECTIVE = 20
"""Number of settings that change the result."""
EFFECT = -0.01
"""Change of the logarithm of the result with each step of an effective setting."""
NOISE = 0.05
"""Standard deviation of the logarithm of the results: large, so that the search continues."""
THOUGHT_S = 0.01
"""CPU time of a trial above which it was proposed by the model."""
SEED = 20_261_128


def measure(settings: int, size: int, folder: Path) -> dict[str, float]:
    """Search a space in a process of its own.

    Args:
        settings: number of settings.
        size: number of trials.
        folder: folder for the store.

    Raises:
        NoAnswerError: the search failed.
    """
    words = [str(settings), str(size), str(folder)]
    found: dict[str, float] = json.loads(output_of(__name__, words).splitlines()[-1])
    return found


def searched(count: int, trials: int, folder: Path) -> dict[str, float]:
    """Search a space whose first settings have effects, and return its cost.

    Args:
        count: number of settings.
        trials: number of trials.
        folder: folder for the store.
    """
    names = [f"s{number}" for number in range(count)]
    random_numbers = random.Random(SEED)
    session = assay.Session(
        {name: list(VALUES) for name in names},
        runs=trials,
        budget="2h",
        goal="lower",
        db=str(folder / "assay.db"),
    )
    times_s: list[float] = []
    while (trial := _timed(session.ask, times_s)) is not None:
        ratio = sum(EFFECT * math.log2(float(trial[name])) for name in names[:EFFECTIVE])
        session.tell(trial, cost=math.exp(ratio + random_numbers.gauss(0.0, NOISE)))
    session.close()
    memory_mb = own_cost().peak_mb
    stages = [sample.launch.stage for sample in session.result.samples]
    # The last question is answered by the end of the session.
    asked = zip(times_s, stages, strict=False)
    searched_s = [time_s for time_s, stage in asked if stage is Stage.SEARCH]
    late = searched_s[-max(1, len(searched_s) // 4) :]
    thoughts = [time_s for time_s in searched_s if time_s > THOUGHT_S]
    return {
        "trials": len(stages),
        "searched": len(searched_s),
        "mean": 1e3 * sum(searched_s) / len(searched_s),
        "last quarter": 1e3 * sum(late) / len(late),
        "proposal": 1e3 * sum(thoughts) / max(1, len(thoughts)),
        "memory": memory_mb,
    }


def _timed(ask: Callable[[], assay.Trial | None], times_s: list[float]) -> assay.Trial | None:
    begin = time.process_time()
    trial = ask()
    times_s.append(time.process_time() - begin)
    return trial


few_settings = partial(measure, 20)
many_settings = partial(measure, 100)


def main() -> None:
    """Search, and print the cost as JSON."""
    settings, trials, folder = sys.argv[1:]
    print(json.dumps(searched(int(settings), int(trials), Path(folder))))


if __name__ == "__main__":
    main()
