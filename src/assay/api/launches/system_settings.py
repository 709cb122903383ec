"""System settings around a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import NotPossibleError
from assay.records import GrantStatus, Plan, RunFacts, Scope
from assay.records.configuration import show_value

if TYPE_CHECKING:
    from assay.host.changes import ActionOutcome
    from assay.launch.spawning import ProcessStarter
    from assay.settings.registry import Registry


@contextmanager
def applied_system_settings(
    plan: Plan,
    registry: Registry,
    launcher: Path | ProcessStarter,
    report: Callable[[str], None],
) -> Iterator[Callable[[], dict[str, str]]]:
    """Apply the system settings of a plan, and restore the previous values afterwards.

    Yields a function that returns the contents of their files, and of the files that describe the
    boot, by path.

    Args:
        plan: plan of one launch.
        registry: registry that judges its settings.
        launcher: launcher of the driver that carries it out.
        report: receiver of the message on a value that could not be restored.

    Raises:
        NotPossibleError: the kernel rejects a setting; all previous values are restored then.
    """
    from assay.machine.boot_state import read_files
    from assay.machine.root import LIVE

    if not plan.system:
        yield lambda: read_files(LIVE, plan.boot_files)
        return
    from assay.host.system_hold import NotRestoredError
    from assay.root_helper.client import system_holder

    hold = system_holder(launcher)
    try:
        outcomes = hold.hold(plan.system)
        demand_granted(plan, registry, outcomes, hold.read_targets(plan.system))
        yield lambda: read_files(LIVE, plan.boot_files) | hold.read_targets(plan.system)
    finally:
        try:
            hold.close()
        except NotRestoredError as error:  # the exit status is that of the program
            report(str(error))


def demand_granted(
    plan: Plan, registry: Registry, outcomes: Iterable[ActionOutcome], found: dict[str, str]
) -> None:
    """Raise an error if a system setting is not in force.

    Args:
        plan: plan with the settings.
        registry: registry that judges its settings.
        outcomes: outcomes of its actions.
        found: contents of their targets, by path.

    Raises:
        NotPossibleError: a setting is not in force; names the first one and the reason.
    """
    facts = RunFacts(outcome="exited", system_files=found)
    why = {outcome.action.path: outcome.reason for outcome in outcomes if outcome.reason}
    for name, value in plan.configuration.items():
        setting = registry.get(name)
        if setting.scope is not Scope.SYSTEM:
            continue
        grant = setting.judge(plan.configuration, facts, plan)
        if grant.status in (GrantStatus.REFUSED, GrantStatus.UNVERIFIED):
            reason = next(iter(why.values()), grant.reason)
            raise NotPossibleError(
                f"{name}={show_value(value)} cannot be applied: {reason}.",
                f"Leave it out, or give it another value: `assay settings show {name}`.",
            )
