"""Prepared launch of a single command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from assay.api.context import Context, local_driver
from assay.executors.evidence.drift import changed_since, drift_evidence
from assay.executors.evidence.shares import demand_share, read_share, share_evidence
from assay.launch.driver import Driver
from assay.launch.running import LauncherKilledError
from assay.records import (
    DEFAULT,
    Evidence,
    Grant,
    Launch,
    PageCache,
    Plan,
    RunFacts,
    Stage,
    Workload,
)
from assay.records.facts import CachedFiles
from assay.requests.run import RunRequest

if TYPE_CHECKING:
    from assay.launch.running import RunningLaunch


def _no_grants(facts: RunFacts) -> dict[str, Grant]:
    return {}


class Ready(NamedTuple):
    """Prepared launch, with all its requirements in force.

    Attributes:
        driver: driver that starts the launch.
        plan: plan with its actions.
        workload: workload; the output directory of a build is among its placeholders.
        evidence: evidence of a build.
        read_system_files: function that reads the files of planned system settings and of the boot,
            by path.
        judge: function that returns a grant for each setting of the configuration.
    """

    driver: Driver
    plan: Plan
    workload: Workload
    evidence: tuple[Evidence, ...] = ()
    read_system_files: Callable[[], dict[str, str]] = dict
    judge: Callable[[RunFacts], dict[str, Grant]] = _no_grants


def plain(request: RunRequest, context: Context) -> Ready:
    """Return the launch of a command without settings, study, build and partition.

    Raises:
        NotPossibleError: the launcher is missing, or the undo journal is not accessible.
    """
    assert request.argv is not None
    context.prepare((RunFacts,))
    driver = local_driver(context.helper)
    return Ready(driver, Plan(configuration=DEFAULT), Workload(argv=request.argv))


def launch_of(plan: Plan) -> Launch:
    """Return the single launch of a run."""
    return Launch(
        configuration=plan.configuration,
        arm=str(plan.configuration),
        stage=Stage.CONFIRM,
        block=0,
        position=0,
    )


class Attendant(Protocol):
    """Attendant of a running launch."""

    def serve(self, running: RunningLaunch) -> None:
        """Wait for the end of the launch."""
        ...


def launch(
    ready: Ready, document: Mapping[str, Any], attendance: AbstractContextManager[Attendant]
) -> tuple[RunFacts, tuple[Evidence, ...]]:
    """Launch a command; return its facts and the evidence of disturbances.

    Args:
        ready: prepared launch.
        document: document of the launcher.
        attendance: context of the launch, with the object that waits for its end.

    Raises:
        NotPossibleError: the launcher cannot be started or was killed, or the share was lost.
    """
    cached = _cached(ready)
    before, share = ready.read_system_files(), read_share(ready.driver)
    with attendance as attendant, ready.driver.start(document) as running:
        attendant.serve(running)
        try:
            facts = running.facts()
        except LauncherKilledError:
            demand_share(ready.driver)  # the end of a share kills its processes
            raise
    changed = changed_since(before, ready.read_system_files())
    facts = msgspec.structs.replace(
        facts, cached_files=cached, system_files=before, changed_system_files=changed
    )
    evidence = (*drift_evidence(before, changed), *share_evidence(ready.driver, share, facts))
    return facts, evidence


def _cached(ready: Ready) -> CachedFiles | None:
    """Put the files of the launch into the planned cache state; return the cached parts."""
    if not any(isinstance(action, PageCache) for action in ready.plan.actions):
        return None
    from assay.executors.page_cache import apply_cache_state

    workload = msgspec.structs.replace(ready.workload, cwd=None)
    return apply_cache_state(ready.plan, workload, ready.driver.env)
