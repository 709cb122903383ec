"""Cost of observing: interleaved launches with and without each observation."""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import NotPossibleError, WorkloadFailedError
from assay.executors import loads
from assay.executors.evidence.launch import foreign_load_s
from assay.launch.driver import Driver
from assay.records import RunFacts
from assay.records.codec import SCHEMA
from assay.records.observation import CYCLES_COUNTER
from assay.records.overhead import Cost, ObservedCost
from assay.units import show_duration

MIN_ROUNDS = 10
"""Minimum number of rounds, below which the intervals of twelve figures would not hold jointly at
95 %."""
MIN_LIMIT_S = 60.0
"""Time in seconds that a measurement may take, independent of its budget."""
DECISIVE_FIGURES = 3
"""Number of figures per program that decide on an observation: wall time, CPU time and spread."""
BARE = {"containment": "none", "counters": [], "sampling": []}
"""Document of a launch without any optional observation."""
CONTAINED = {**BARE, "containment": "auto"}
"""The same document with a control group: the baseline of all other observations."""
READ_BACK = ["status", "environ", "maps", "threads"]
ALL_OBSERVATIONS = {
    **CONTAINED,
    "sampling": ["memory", "scheduling"],
    "readback": READ_BACK,
    "counters": ["default"],
}
"""Document of a launch with all observations of the launcher."""


class ObservationContrast(msgspec.Struct, frozen=True):
    """Observation, with the launch documents that include and exclude it.

    Attributes:
        on, without: launch documents with and without the observation, less the command.
    """

    observation: str
    on: Mapping[str, Any]
    without: Mapping[str, Any]


class OverheadResult(msgspec.Struct, frozen=True):
    """Costs of observing.

    Attributes:
        costs: cost of each observation for each program.
        other_load: share of the CPUs that other processes and the hypervisor used; ``None`` if the
            kernel does not report it.
    """

    costs: tuple[ObservedCost, ...]
    other_load: float | None


class Program(msgspec.Struct, frozen=True):
    """Program to launch."""

    name: str
    argv: tuple[str, ...]


def built_in_programs(python: str) -> tuple[Program, ...]:
    """Return the programs that assay provides.

    Args:
        python: path of a Python interpreter.
    """
    script = str(Path(loads.__file__))
    return tuple(Program(name, (python, script, name)) for name in loads.LOADS)


def launcher_observations() -> tuple[ObservationContrast, ...]:
    """Return the observations of the launcher, and its containment."""
    parts: dict[str, dict[str, Any]] = {
        "memory": {"sampling": ["memory"]},
        "scheduling": {"sampling": ["scheduling"]},
        "readback": {"readback": READ_BACK},
        "counters": {"counters": ["default"]},
    }
    return (
        ObservationContrast("containment", CONTAINED, BARE),
        *(ObservationContrast(name, CONTAINED | part, CONTAINED) for name, part in parts.items()),
    )


def measure_overhead(
    driver: Driver,
    programs: Sequence[Program],
    contrasts: Sequence[ObservationContrast],
    *,
    budget_s: float,
    seed: int = 0,
    report: Callable[[int], None] = lambda rounds: None,
) -> OverheadResult:
    """Measure each observation with each program, in rounds of random order, until time is up.

    An interrupt ends the measurement as well. It returns a result if the minimum number of rounds
    is complete.

    Args:
        driver: starts the launches.
        programs, contrasts: programs and observations to combine.
        budget_s: time after which no further round starts; at least ``MIN_ROUNDS`` rounds are made.
        seed: seed of the random orders.
        report: called after each round with the number of rounds.

    Raises:
        WorkloadFailedError: a launch failed.
        NotPossibleError: the launcher could not set up a launch, or the minimum number of rounds
            takes longer than the budget and a minute.
        KeyboardInterrupt: an interrupt arrived before that number of rounds.
    """
    rng = random.Random(seed)
    began_s = time.monotonic()
    end_s = began_s + budget_s
    cells = list(product(contrasts, programs))
    pairs: dict[tuple[str, str], list[tuple[RunFacts, RunFacts]]] = {}
    rounds = 0
    try:
        while rounds < MIN_ROUNDS or time.monotonic() < end_s:
            for contrast, program in rng.sample(cells, len(cells)):
                pair = _pair(driver, program, contrast, on_first=rng.random() < 0.5)
                pairs.setdefault((contrast.observation, program.name), []).append(pair)
            rounds += 1
            report(rounds)
            if rounds == 1:
                _demand_time(time.monotonic() - began_s, budget_s)
    except KeyboardInterrupt:
        if rounds < MIN_ROUNDS:
            raise
    figures = DECISIVE_FIGURES * len(programs)
    costs = tuple(
        cost_of(
            contrast.observation, program.name, pairs[contrast.observation, program.name], figures
        )
        for contrast, program in cells
    )
    return OverheadResult(
        costs, external_load_share(chain.from_iterable(chain.from_iterable(pairs.values())))
    )


def external_load_share(launches: Iterable[RunFacts]) -> float | None:
    """Return the share of the CPUs that other processes used during launches.

    Args:
        launches: facts of the launches; those without load figures are omitted.
    """
    outside_s = capacity_s = 0.0
    for facts in launches:
        host = facts.host
        foreign_s = foreign_load_s(host, own_s=0.0) if host else None  # assay only waits
        if host is None or foreign_s is None or not host.cpus:
            continue
        outside_s += foreign_s + (host.steal_s or 0.0)
        capacity_s += (facts.wall_s or 0.0) * host.cpus
    return max(0.0, outside_s / capacity_s) if capacity_s else None


def _demand_time(round_s: float, budget_s: float) -> None:
    """Check that the minimum number of rounds fits into the budget.

    Raises:
        NotPossibleError: it does not; the message names the required budget.
    """
    min_s = MIN_ROUNDS * round_s
    if min_s > max(budget_s, MIN_LIMIT_S):
        raise NotPossibleError(
            f"The minimum of {MIN_ROUNDS} rounds takes about {show_duration(min_s)}.",
            f"Increase the budget with --budget {math.ceil(min_s / 60.0)}m, or choose a shorter "
            "program.",
        )


def cost_of(
    observation: str,
    program: str,
    pairs: Sequence[tuple[RunFacts, RunFacts]],
    figures: int = 1,
) -> ObservedCost:
    """Return the cost of an observation for a program.

    Args:
        observation, program: names of the pair's observation and program.
        pairs: facts with and without the observation.
        figures: number of intervals that hold jointly at 95 % (Bonferroni).
    """
    bare_s = statistics.median(without.wall_s or 0.0 for _, without in pairs)

    def cost(read: Callable[[RunFacts], float | None]) -> Cost | None:
        both = [(read(on), read(off)) for on, off in pairs]
        found = [(on - off) / bare_s for on, off in both if on is not None and off is not None]
        return _cost(found, figures) if len(found) == len(pairs) else None

    wall = _cost(
        [((on.wall_s or 0.0) - (off.wall_s or 0.0)) / bare_s for on, off in pairs], figures
    )
    apart_on = _median_distances([on for on, _ in pairs])
    apart_off = _median_distances([off for _, off in pairs])

    return ObservedCost(
        observation=observation,
        program=program,
        baseline_s=bare_s,
        pairs=len(pairs),
        wall=wall,
        user=cost(lambda facts: facts.user_s),
        sys=cost(lambda facts: facts.sys_s),
        cpu=cost(_cpu_s),
        spread=_cost([(a - b) / bare_s for a, b in zip(apart_on, apart_off, strict=True)], figures),
    )


def _cpu_s(facts: RunFacts) -> float | None:
    return None if facts.user_s is None or facts.sys_s is None else facts.user_s + facts.sys_s


def _median_distances(launches: Sequence[RunFacts]) -> list[float]:
    """Return the distance of each launch from the median (test of Brown and Forsythe)."""
    walls_s = [facts.wall_s or 0.0 for facts in launches]
    middle_s = statistics.median(walls_s)
    return [abs(wall_s - middle_s) for wall_s in walls_s]


def _cost(differences: Sequence[float], figures: int) -> Cost:
    """Return the median with its distribution-free interval from order statistics."""
    ordered = sorted(differences)
    cut = order_of_interval(len(ordered), figures)
    return Cost(
        share=statistics.median(ordered), low=ordered[cut], high=ordered[len(ordered) - 1 - cut]
    )


def order_of_interval(count: int, figures: int = 1) -> int:
    """Return the index of the order statistic at which a 95 % interval of the median begins.

    The same number of values lie below and above the interval. The number of values must not depend
    on the values.

    Args:
        count: number of values.
        figures: number of intervals that hold jointly at 95 % (Bonferroni).
    """
    below, index = 1, 0
    # Integers: a float cannot represent a power of two above 2**1023.
    while 40 * figures * (below + math.comb(count, index + 1)) <= 2**count:
        index += 1
        below += math.comb(count, index)
    return index


def _pair(
    driver: Driver, program: Program, contrast: ObservationContrast, *, on_first: bool
) -> tuple[RunFacts, RunFacts]:
    if on_first:
        on = _launched(driver, program, contrast.on)
        return on, _launched(driver, program, contrast.without)
    without = _launched(driver, program, contrast.without)
    return _launched(driver, program, contrast.on), without


def _launched(driver: Driver, program: Program, observation: Mapping[str, Any]) -> RunFacts:
    facts = launch_once(driver, program, observation)
    if facts.outcome in ("bad_plan", "setup_failed"):
        raise NotPossibleError(
            f"The launcher could not set up the launch ({facts.stage}): {facts.message}",
            "See `assay doctor` for the capabilities of this host.",
        )
    if facts.outcome != "exited" or facts.exit_status != 0 or not facts.wall_s:
        raise WorkloadFailedError(
            f"{program.name}: a launch ended as {facts.outcome}, status {facts.exit_status}.",
            "Run the command without assay: it must succeed every time.",
        )
    return facts


def launch_once(driver: Driver, program: Program, observation: Mapping[str, Any]) -> RunFacts:
    """Launch a program once, and discard its output."""
    document = {
        "schema": SCHEMA,
        "argv": list(program.argv),
        "stdin": os.devnull,
        "stdout": os.devnull,
        "stderr": os.devnull,
        "parent_pid": os.getpid(),
        "process_group": "own",
        **observation,
    }
    with driver.start(document) as running:
        running.finished(None)
        return running.facts()


def missing_observations(facts: RunFacts, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the observations that were requested but are missing in a launch, with the reason.

    Args:
        facts: facts of the launch.
        names: names of the requested observations.
    """
    if "containment" in names and (facts.containment is None or facts.containment.mode == "none"):
        yield "containment", "this host provides no control group"
    if "counters" in names and not facts.counters:
        yield "counters", facts.unavailable.get(CYCLES_COUNTER, "this machine has no counter")
