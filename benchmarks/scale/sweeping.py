"""Sweeps of many cells: plan, launches and report."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.records import Arm, Sample, Stage, Status
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending, EndReason
from assay.search.space.named_configurations import make_search_space
from assay.store import Store, open_store

from .cost import MB, begun, command_cost
from .growth import cost_between
from .launches import stored_launches

VALUES = 10
"""Number of values of each setting of a grid; the last setting has the rest of the cells."""
REPEATS = 2
MAX_LAUNCHES = 2000
"""Number of launches after which a sweep is stopped, as a whole one takes long."""
FIRST_LAUNCHES = 50
"""Launches that are left out, as assay starts in that time."""
SPREAD = 0.03
SEED = 20_261_128


def measure(size: int, folder: Path) -> dict[str, float]:
    """Plan a grid, launch a part of it, and report a whole one.

    Args:
        size: number of cells, a multiple of ten.
        folder: folder for the store and the report.

    Raises:
        NoAnswerError: the sweep is refused.
    """
    file, store = folder / "sweep.toml", folder / "assay.db"
    file.write_text(_grid(size))
    plan = command_cost(["sweep", str(file), "--dry-run", "-q"], store)
    found = {"plan": plan.cpu_s, "plan memory": plan.peak_mb}
    with begun(["sweep", str(file), "-q", "--budget", "1h"], store) as command:
        readings = []
        for reading in command.readings(lambda: stored_launches(store)):
            readings.append(reading)
            if reading[0] >= MAX_LAUNCHES:
                break
        else:
            command.end()
    cost_s = cost_between(readings, FIRST_LAUNCHES, math.inf)
    if cost_s is not None:
        found["launch"] = 1e3 * cost_s
    return found | _report(store, folder / "report.html")


def _grid(size: int) -> str:
    counts = [VALUES] * round(math.log(size, VALUES) - 0.5)
    counts[-1:] = [size // math.prod(counts[:-1])]
    lines = [f"env.S{place} = {list(range(count))}" for place, count in enumerate(counts)]
    return "\n".join(
        ('[workload]\ncommand = "true"', "[settings]", *lines, f"[design]\nrepeats = {REPEATS}\n")
    )


def _report(store: Path, page: Path) -> dict[str, float]:
    """Report the sweep as if all of its launches had run."""
    with open_store(store) as opened:
        study = write_whole(opened, opened.find("last"))
    cost = command_cost(["report", study, "-q", "-o", str(page)], store)
    return {
        "report": cost.cpu_s,
        "report memory": cost.peak_mb,
        "page": page.stat().st_size / MB,
    }


def write_whole(store: Store, stopped: str) -> str:
    """Write a finished sweep with the cells of one that was stopped, and return its id.

    Args:
        store: store of both studies.
        stopped: id of the stopped study.
    """
    record = store.study(stopped)
    study = store.create_study(record.spec, record.strata[0], record.created_at + 1.0)
    first = next(store.iterate_samples(stopped))
    samples = list(_samples(record.spec.arms, first))
    for sample in samples:
        store.add_sample(study, 0, sample)
    space = make_search_space(record.spec.space, None)
    ending = Ending(EndReason.BUDGET, "The blocks ended.")
    store.set_conclusion(study, conclude(record.spec, samples, space, GpSearcher(), ending))
    store.set_status(study, Status.DONE)
    store.release(study)
    return study


def _samples(arms: tuple[Arm, ...], first: Sample) -> Iterator[Sample]:
    random_numbers = random.Random(SEED)
    typical_s = first.wall_s or 1e-3
    for block in range(REPEATS + 1):
        for position, arm in enumerate(arms):
            wall_s = typical_s * math.exp(random_numbers.gauss(0.0, SPREAD))
            launch = msgspec.structs.replace(
                first.launch,
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.CONFIRM if block else Stage.SURVEY,
                block=block,
                position=position,
                block_arms=None,
            )
            yield msgspec.structs.replace(
                first,
                launch=launch,
                wall_s=wall_s,
                metrics=first.metrics | {"wall_s": wall_s},
                started_at=first.started_at + 2e-3 * (block * len(arms) + position),
            )
