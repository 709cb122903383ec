"""System settings on the command line: made to hold around a launch, and what others left."""

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
"""What stays of the control characters in a message."""

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
    """Make the system settings of a plan hold, and put them back afterwards.

    Gives what tells what their files hold, and those that show how the machine was booted, by path.

    Args:
        plan: of one launch.
        registry: judges its settings.
        launcher: of the driver that carries it out.

    Raises:
        NotPossibleError: the kernel refuses one altogether; all is put back then.
    """
    from assay.machine.boot_state import read_files
    from assay.machine.root import LIVE

    if not plan.system:
        yield lambda: read_files(LIVE, plan.shown_by)
        return
    from assay.host.system_hold import NotRestoredError
    from assay.root_helper.client import system_holder

    hold = system_holder(launcher)
    try:
        outcomes = hold.hold(plan.system)
        demand_granted(plan, registry, outcomes, hold.look(plan.system))
        yield lambda: read_files(LIVE, plan.shown_by) | hold.look(plan.system)
    finally:
        try:
            hold.close()
        except NotRestoredError as error:  # the program's own status is what counts
            print(f"assay: {clean(str(error), KEPT_CONTROLS)}", file=sys.stderr)


def demand_granted(
    plan: Plan, registry: Registry, outcomes: Iterable[ActionOutcome], found: dict[str, str]
) -> None:
    """Refuse to go on where a setting of the system does not hold at all.

    Args:
        plan: what was to hold.
        registry: judges its settings.
        outcomes: what became of its actions.
        found: what their targets hold, by path.

    Raises:
        NotPossibleError: one does not; names the first, and why.
    """
    facts = RunFacts(outcome="exited", system=found)
    why = {outcome.action.path: outcome.reason for outcome in outcomes if outcome.reason}
    for name, value in plan.configuration.items():
        setting = registry.get(name)
        if setting.scope is not Scope.SYSTEM:
            continue
        grant = setting.judge(plan.configuration, facts, plan)
        if grant.grant in (GrantStatus.REFUSED, GrantStatus.UNVERIFIED):
            reason = next(iter(why.values()), grant.reason)
            raise NotPossibleError(
                f"{name}={show_value(value)} cannot be had: {reason}.",
                f"Leave it out, or give it another value: `assay settings show {name}`.",
            )


def warn_of_leftovers(found: Iterable[UndoOutcome]) -> None:
    """Say what could not be put back, or what somebody changed meanwhile."""
    for line in leftover_lines(found):
        print(f"assay: {clean(line)}.", file=sys.stderr)


def leftover_lines(found: Iterable[UndoOutcome]) -> Iterator[str]:
    """Give a line for each of these; one for all that wait for the same CPUs."""
    from assay.host.system_hold import explain_not_restored
    from assay.units import show_count

    waiting: dict[str, list[str]] = {}
    for word in found:
        if word.fate == "failed" and word.reason is not None and word.reason.endswith(" offline"):
            told = word.reason.rpartition(": ")[2]
            waiting.setdefault(told, []).append(word.note.action.path)
        elif word.fate in ("drifted", "failed"):
            yield explain_not_restored(word)
    for reason, paths in waiting.items():
        masks = paths[0] if len(paths) == 1 else show_count(len(paths), "mask")
        yield (
            f"{masks} cannot be put back now: {reason}. Once it is online the next change of "
            "partitions, or `assay machine restore`, does it"
        )


def restore_leftovers(helper: RootHelper | None = None) -> None:
    """Put back what an assay that was killed, and its guard with it, left changed; and say so.

    Args:
        helper: that does it, where this process has no rights.

    Raises:
        NotPossibleError: the undo journal cannot be had or written.
    """
    if not (has_entries() if helper is None else helper.leftovers):
        return
    from assay.host import system_hold
    from assay.root_helper import client

    found = system_hold.restore_leftovers() if helper is None else client.recover(helper)
    undone = [word for word in found if word.fate == "undone"]
    if undone:
        paths = ", ".join(dict.fromkeys(word.note.action.path for word in undone))
        print(
            f"assay: put back what an assay that was killed had changed: {clean(paths)}.",
            file=sys.stderr,
        )
    warn_of_leftovers(found)
