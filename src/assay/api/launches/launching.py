"""Single launch of a prepared command."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from assay.api.launches.ready import Ready
from assay.executors.evidence.drift import changed_since, drift_evidence
from assay.executors.evidence.shares import demand_share, read_share, share_evidence
from assay.launch.running import LauncherKilledError
from assay.records import Evidence, PageCache, RunFacts
from assay.records.facts import CachedFiles

if TYPE_CHECKING:
    from assay.launch.running import RunningLaunch


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
