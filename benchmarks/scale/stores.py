"""Large studies in a store, written through the interface of the store.

A short real study of ``true`` provides the specification, the plans and the first samples; further
samples vary its values. ``python -m benchmarks.scale.stores FILE KIND SAMPLES`` writes one.
"""

from __future__ import annotations

import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import assay
from assay.records import Budget, Configuration, Evidence, Launch, Plan, Sample, Stage, Status
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending, EndReason
from assay.search.space.named_configurations import make_search_space
from assay.store import Store, StudyRecord, open_store

SEED = 20_261_128
REAL_LAUNCHES = 24
"""Number of launches of the real study: enough for different documents of each arm."""
SPREAD = 0.03
"""Standard deviation of the logarithm of the synthetic values."""
MAX_OUTLIER_FACTOR = 8.0
OUTLIER_SHARE = 0.001
ARM_EFFECT = 0.01
"""Relative difference of the synthetic values of consecutive arms of a comparison."""
SEARCH_LAUNCHES = 60
"""Number of launches of the real search: enough for a proven recommendation."""
GAP_S = 0.002
"""Time between two launches, in seconds."""


def write_compared(path: Path, samples: int, arms: int = 2) -> str:
    """Write a study that compares variants of ``true``, and return its id.

    Args:
        path: file of the store; created if absent.
        samples: number of samples.
        arms: number of arms, at least 2.
    """
    commands = ["true", *(f"true {number}" for number in range(1, arms))]
    with open_store(path) as store:
        result = assay.compare(commands, runs=REAL_LAUNCHES, db=path)
        return write_varied(store, result.id, samples)


def write_measured(path: Path, samples: int) -> str:
    """Write a study that measures ``true``, and return its id.

    Args:
        path: file of the store; created if absent.
        samples: number of samples.
    """
    with open_store(path) as store:
        result = assay.measure(["true"], runs=REAL_LAUNCHES, db=path)
        return write_varied(store, result.id, samples)


def write_searched(path: Path, samples: int) -> str:
    """Write a search among lengths of ``sleep``, and return its id.

    Half of the samples are of the search, and half of the confirmation.

    Args:
        path: file of the store; created if absent.
        samples: number of samples.
    """
    with open_store(path) as store:
        words, values = ["sleep", "{s}"], {"arg.s": [0.02, 0.01]}
        result = assay.tune(words, values, runs=SEARCH_LAUNCHES, db=path)
        return write_varied(store, result.id, samples)


def write_varied(store: Store, real_id: str, samples: int) -> str:
    """Write a study of samples that vary those of a finished study, and return its id.

    Args:
        store: store of both studies.
        real_id: id of the finished study.
        samples: number of samples.
    """
    real = store.study(real_id)
    spec = msgspec.structs.replace(
        real.spec, budget=Budget(time_s=real.spec.budget.time_s, launches=samples)
    )
    stratum = real.strata[0]
    plans = {plan.configuration: plan for plan in store.plans(real_id, stratum.number)}
    study_id = store.create_study(spec, stratum, real.created_at)
    end_s = 0.0
    for sample in varied_samples(store.samples(real_id, stratum.number), samples):
        store.add_sample(study_id, stratum.number, sample, _plan(plans, sample))
        end_s = sample.started_at
    store.add_elapsed(study_id, end_s - real.created_at)
    _conclude(store, store.study(study_id))
    return study_id


def _plan(plans: dict[Configuration, Plan], sample: Sample) -> Plan | None:
    return plans.get(sample.launch.configuration)


def _conclude(store: Store, record: StudyRecord) -> None:
    """Store the conclusion of a study that spent its launches."""
    spec = record.spec
    space = make_search_space(spec.space, None)
    found = conclude(spec, store.samples(record.id, 0), space, GpSearcher(), _ending())
    store.set_conclusion(record.id, found)
    store.set_status(record.id, Status.DONE)
    store.release(record.id)


def _ending() -> Ending:
    return Ending(EndReason.BUDGET, "The budget ended.")


def varied_samples(real: Sequence[Sample], count: int) -> Iterator[Sample]:
    """Yield the samples of a study that is longer than the real one.

    Args:
        real: samples of a real study, in order.
        count: number of samples.
    """
    random_numbers = random.Random(SEED)
    first = [sample for sample in real if sample.launch.stage is not Stage.CONFIRM]
    yield from first[:count]
    stages = [Stage.CONFIRM]
    if any(sample.launch.stage is Stage.SEARCH for sample in real):
        stages.insert(0, Stage.SEARCH)
    started_at = real[-1].started_at
    block = max((sample.launch.block for sample in first), default=-1) + 1
    left = max(0, count - len(first))
    for number, stage in enumerate(stages, start=1):
        by_arm = _successful(real, stage)
        lengths_s = _lengths_s(by_arm, searched=len(stages) > 1)
        end = left * (len(stages) - number) // len(stages)
        while left > end:
            order = random_numbers.sample(list(by_arm), len(by_arm))[: left - end]
            for position, arm in enumerate(order):
                sample = random_numbers.choice(by_arm[arm])
                wall_s = lengths_s[arm] * _noise(random_numbers)
                started_at += wall_s + GAP_S
                yield _varied(sample, block, position, wall_s, started_at)
            left -= len(order)
            block += 1


def _successful(real: Sequence[Sample], stage: Stage) -> dict[str, list[Sample]]:
    """Return the samples of successful launches of a stage by arm."""
    found: dict[str, list[Sample]] = defaultdict(list)
    for sample in real:
        if sample.launch.stage is stage and sample.outcome.succeeded:
            found[sample.launch.arm].append(sample)
    return found


def _lengths_s(by_arm: dict[str, list[Sample]], *, searched: bool) -> dict[str, float]:
    """Return the typical duration of each arm, in seconds; a search keeps the real ones."""
    shortest_s = {arm: min(s.wall_s or GAP_S for s in own) for arm, own in by_arm.items()}
    if searched:
        return shortest_s
    typical_s = min(shortest_s.values())
    return {arm: typical_s * (1 + ARM_EFFECT) ** place for place, arm in enumerate(by_arm)}


def _noise(random_numbers: random.Random) -> float:
    if random_numbers.random() < OUTLIER_SHARE:
        return random_numbers.uniform(2.0, MAX_OUTLIER_FACTOR)
    return math.exp(random_numbers.gauss(0.0, SPREAD))


def _varied(sample: Sample, block: int, position: int, wall_s: float, started_at: float) -> Sample:
    """Return a sample with another duration and with values of evidence in proportion."""
    factor = wall_s / (sample.wall_s or wall_s)
    launch: Launch = msgspec.structs.replace(sample.launch, block=block, position=position)
    return msgspec.structs.replace(
        sample,
        launch=launch,
        wall_s=wall_s,
        user_s=None if sample.user_s is None else round(sample.user_s * factor, 6),
        sys_s=None if sample.sys_s is None else round(sample.sys_s * factor, 6),
        metrics=sample.metrics | {"wall_s": wall_s},
        evidence=tuple(_varied_piece(piece, factor) for piece in sample.evidence),
        started_at=started_at,
    )


def _varied_piece(piece: Evidence, factor: float) -> Evidence:
    if piece.unit != "s" or not piece.value:
        return piece
    return msgspec.structs.replace(piece, value=piece.value * factor)


def main() -> None:
    """Write a study: ``FILE compare|measure|tune SAMPLES``."""
    path, kind, count = sys.argv[1:]
    write = {"compare": write_compared, "measure": write_measured, "tune": write_searched}[kind]
    print(write(Path(path), int(count)))


if __name__ == "__main__":
    main()
