"""Prepared launch of ``assay run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from assay.cli.startup import local_driver, start_up
from assay.launch.driver import Driver
from assay.records import DEFAULT, Evidence, Grant, Launch, Plan, RunFacts, Stage, Workload
from assay.requests.run import RunRequest

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper


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


def plain(request: RunRequest, helper: RootHelper | None) -> Ready:
    """Return the launch of a command without settings, study, build and partition.

    Raises:
        NotPossibleError: the launcher is missing, or the undo journal is not accessible.
    """
    assert request.argv is not None
    start_up((RunFacts,), helper=helper)
    return Ready(local_driver(helper), Plan(configuration=DEFAULT), Workload(argv=request.argv))


def launch_of(plan: Plan) -> Launch:
    """Return the single launch of a run."""
    return Launch(
        configuration=plan.configuration,
        arm=str(plan.configuration),
        stage=Stage.CONFIRM,
        block=0,
        position=0,
    )
