"""System settings around a launch, and the leftovers of a killed assay."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import NotPossibleError
from assay.host.journal import has_entries
from assay.records import GrantStatus, Plan, RunFacts, Scope
from assay.records.configuration import show_value
from assay.untrusted import clean

KEPT_CONTROLS = "\n"
"""Control characters that remain in a message."""

if TYPE_CHECKING:
    from assay.host.changes import ActionOutcome
    from assay.host.undo import UndoOutcome
    from assay.launch.spawning import ProcessStarter
    from assay.root_helper.helper import RootHelper
    from assay.settings.registry import Registry


@contextmanager
def applied_system_settings(
    plan: Plan, registry: Registry, launcher: Path | ProcessStarter
) -> Iterator[Callable[[], dict[str, str]]]:
    """Apply the system settings of a plan, and restore the previous values afterwards.

    Yields a function that returns the contents of their files, and of the files that describe the
    boot, by path.

    Args:
        plan: plan of one launch.
        registry: registry that judges its settings.
        launcher: launcher of the driver that carries it out.

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
            print(f"assay: {clean(str(error), KEPT_CONTROLS)}", file=sys.stderr)


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


def warn_of_leftovers(found: Iterable[UndoOutcome]) -> None:
    """Print the files that assay could not restore, or that another program has changed."""
    for line in leftover_lines(found):
        print(f"assay: {clean(line)}.", file=sys.stderr)


def leftover_lines(found: Iterable[UndoOutcome]) -> Iterator[str]:
    """Yield a line for each of these files; a single one for all that wait for the same CPUs."""
    from assay.host.system_hold import explain_not_restored
    from assay.units import show_count

    waiting: dict[str, list[str]] = {}
    for outcome in found:
        if (
            outcome.fate == "failed"
            and outcome.reason is not None
            and outcome.reason.endswith(" offline")
        ):
            cpus = outcome.reason.rpartition(": ")[2]
            waiting.setdefault(cpus, []).append(outcome.note.action.path)
        elif outcome.fate in ("drifted", "failed"):
            yield explain_not_restored(outcome)
    for reason, paths in waiting.items():
        masks = paths[0] if len(paths) == 1 else show_count(len(paths), "mask")
        yield (
            f"{masks} cannot be restored now: {reason}. Once it is online, the next change of "
            "partitions or `assay machine restore` restores it"
        )


def restore_leftovers(helper: RootHelper | None = None) -> None:
    """Undo and print the changes of an assay that was killed together with its guard.

    Args:
        helper: process that does it, if this process has no privileges.

    Raises:
        NotPossibleError: the undo journal is not accessible.
    """
    if not (has_entries() if helper is None else helper.leftovers):
        return
    from assay.host import system_hold
    from assay.root_helper import client

    found = system_hold.restore_leftovers() if helper is None else client.recover(helper)
    undone = [outcome for outcome in found if outcome.fate == "undone"]
    if undone:
        paths = ", ".join(dict.fromkeys(outcome.note.action.path for outcome in undone))
        print(
            f"assay: restored files that a killed assay had changed: {clean(paths)}.",
            file=sys.stderr,
        )
    warn_of_leftovers(found)
