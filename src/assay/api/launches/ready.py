"""Prepared launch of ``assay run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from assay.api.context import Context
from assay.api.driver import local_driver
from assay.launch.driver import Driver
from assay.records import DEFAULT, Evidence, Grant, Launch, Plan, RunFacts, Stage, Workload
from assay.requests.run import RunRequest


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
