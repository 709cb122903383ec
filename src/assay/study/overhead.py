"""Calibration of the cost of observations on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from assay import __version__
from assay.executors.overhead import (
    ALL_OBSERVATIONS,
    CONTAINED,
    ObservationContrast,
    Program,
    launch_once,
    launcher_observations,
    measure_overhead,
    missing_observations,
)
from assay.launch.document import launcher_document
from assay.machine.reader import fingerprint
from assay.records import Choices, Configuration, Launch, Stage, Workload
from assay.records.overhead import Overhead
from assay.study.laboratory import Laboratory

MALLOC_SETTING, HOOK_SETTING = "malloc", "threads.torch.intra"
"""Settings that preload an allocator, and that install the import hook."""


def calibrate(
    lab: Laboratory,
    programs: Sequence[Program],
    *,
    budget_s: float,
    command: str | None = None,
    seed: int = 0,
    report: Callable[[int], None] = lambda rounds: None,
) -> Overhead:
    """Measure the cost of each observation that this host supports.

    Args:
        lab: this host, with the program of the first of ``programs``.
        programs: programs to launch; at least one.
        budget_s: time after which no further round begins, in seconds.
        command: name of the program if the user specified it.
        seed: seed of the random orders.
        report: callback after each round, with the number of rounds.

    Raises:
        WorkloadFailedError: a launch failed.
        NotPossibleError: the launcher could not enable an observation, or ``budget_s`` is too
            short.
    """
    at_s, began_s = time.time(), time.monotonic()
    absent: dict[str, str] = {}
    ways = [*launcher_observations(), *_preloads(lab, programs[0].argv, absent)]
    facts = launch_once(lab.driver, programs[0], ALL_OBSERVATIONS)
    absent |= dict(missing_observations(facts, [way.observation for way in ways]))
    ways = [way for way in ways if way.observation not in absent]
    found = measure_overhead(
        lab.driver, programs, ways, budget_s=budget_s, seed=seed, report=report
    )
    return Overhead(
        machine=fingerprint(lab.machine),
        model=lab.machine.model,
        kernel=lab.machine.kernel,
        assay_version=__version__,
        started_at=at_s,
        duration_s=time.monotonic() - began_s,
        costs=found.costs,
        other_load=found.other_load,
        unavailable=absent,
        command=command,
    )


def _preloads(
    lab: Laboratory, argv: tuple[str, ...], absent: dict[str, str]
) -> Iterator[ObservationContrast]:
    """Yield the available allocators and the import hook; record why others are absent."""
    domain = lab.registry.get(MALLOC_SETTING).domain(lab.machine)
    allocators = domain.values() if isinstance(domain, Choices) else ()
    wanted = [
        (f"preload {name}", MALLOC_SETTING, name) for name in allocators or () if name != "glibc"
    ]
    for observation, setting, value in (*wanted, ("import hook", HOOK_SETTING, 1)):
        plan = lab.plan(Configuration({setting: value}))
        if plan.refused:
            absent[observation] = plan.settings[setting].reason or "refused here"
            continue
        launch = Launch(
            configuration=plan.configuration,
            arm=str(plan.configuration),
            stage=Stage.SURVEY,
            block=0,
            position=0,
        )
        document = launcher_document(plan, Workload(argv=argv), launch, env=lab.driver.env)
        variables = {name: document[name] for name in ("env_set", "env_unset") if name in document}
        yield ObservationContrast(observation, CONTAINED | variables, CONTAINED)
