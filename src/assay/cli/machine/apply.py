"""``assay machine apply``: settings of a profile, until they are restored."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cli.arguments.common import common_options
from assay.cli.arguments.machine import apply_request
from assay.cli.documents.machine import AppliedSetting, ApplyStatus, MachineApplyAnswer
from assay.cli.machine.profile import place_of, settings_of
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import NotPossibleError
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.records import HostAction, Plan, Prospect, SystemAction, Value, to_builtins
from assay.records.configuration import show_value
from assay.settings.registry import Registry, builtin
from assay.settings.system.idle import persistent_actions
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.host.changes import ActionOutcome
    from assay.root_helper.helper import RootHelper


COLUMNS = 80
"""Width of output that does not go to a terminal, in columns."""
HANG = 4


@dataclass(frozen=True)
class _Result:
    """Result of applying one setting.

    Attributes:
        name: name of the setting.
        value: requested value.
        status: status of the setting.
        reason: reason why the kernel did not grant it.
        old: previous value, if all files had the same.
    """

    name: str
    value: Value
    status: ApplyStatus
    reason: str | None = None
    old: str | None = None


def run(parsed: Parsed) -> int:
    """Apply a profile; return 1 if the kernel refused an available setting.

    Raises:
        InvalidInputError: the profile is missing or unknown.
        NotPossibleError: none of its settings is available.
    """
    request, options = apply_request(parsed), common_options(parsed)
    registry = builtin()
    if not request.dry_run:
        _restore_leftovers(options.helper)
    machine = read_machine(status=options.helper.status if options.helper else None)
    configuration = settings_of(request.profile, registry, machine)
    found = plan(configuration, machine, registry)
    if len(found.refused) == len(configuration):
        _demand_available(found, request.profile, machine)
    actions = _actions(found, registry, machine)
    before = _expected_outcomes(actions)
    outcomes = (
        before if request.dry_run else _with_kept_values(_apply(actions, options.helper), before)
    )
    results = list(_results(found, actions, outcomes))
    if options.json:
        print_json(to_builtins(_answer(request.profile, results)))
    else:
        _print_results(results, dry_run=request.dry_run)
    missed = [one for one in results if one.status in ("degraded", "refused")]
    return 1 if any(one.name not in found.refused for one in missed) else 0


def _demand_available(found: Plan, profile: str, machine: Machine) -> None:
    """Raise an error with the position in the profile, if no setting is available.

    Raises:
        NotPossibleError: no setting is available; the plan's own error advises a command line.
    """
    if machine.rights.uid != 0:
        raise NotPossibleError(
            f"{profile} changes the whole machine, which needs root.",
            "Run it as root, or with sudo.",
        )
    try:
        found.demand_granted()
    except NotPossibleError as error:
        place = place_of(profile, next(name for name in found.settings if name in found.refused))
        remedy = f"No setting of {profile} is available: `assay settings` lists the available ones."
        raise NotPossibleError(f"{place}: {error.cause}", remedy) from error


def _with_kept_values(
    outcomes: Mapping[HostAction, ActionOutcome], before: Mapping[HostAction, ActionOutcome]
) -> Mapping[HostAction, ActionOutcome]:
    """Return the outcomes, with ``kept`` for values that were in force before this ``apply``."""
    from assay.host.changes import ActionStatus

    return {
        action: before[action]
        if outcome.status is ActionStatus.GRANTED and before[action].status is ActionStatus.KEPT
        else outcome
        for action, outcome in outcomes.items()
    }


def _restore_leftovers(helper: RootHelper | None) -> None:
    from assay.api.leftovers import restore_leftovers
    from assay.cli.startup import print_leftovers

    print_leftovers(restore_leftovers(helper))


def _actions(
    found: Plan, registry: Registry, machine: Machine
) -> dict[str, tuple[SystemAction, ...]]:
    """Return the lasting actions of each available setting, by name.

    Actions that need a process to keep a device open are left out.
    """
    from assay.settings.base import Resolved

    actions = {}
    for name in found.settings:
        if name in found.refused:
            continue
        answer = registry.get(name).resolve(found.configuration, machine)
        if isinstance(answer, Resolved):
            own = [action for action in answer.actions if action in found.system]
            actions[name] = tuple(
                kept
                for action in own
                if isinstance(action, SystemAction)
                for kept in persistent_actions(action, machine)
            )
    return actions


def _in_order(found: Iterable[SystemAction]) -> list[SystemAction]:
    """Return the actions without duplicates; those that reset others come first."""
    return sorted(dict.fromkeys(found), key=lambda action: not getattr(action, "resets", ()))


def _apply(
    actions: dict[str, tuple[SystemAction, ...]], helper: RootHelper | None
) -> Mapping[HostAction, ActionOutcome]:
    ordered = _in_order(action for several in actions.values() for action in several)
    if helper is None:
        from assay.host.system_hold import keep_applied

        outcomes = keep_applied(ordered)
    else:
        from assay.root_helper import client

        outcomes = client.keep_applied(helper, ordered)
    return {outcome.action: outcome for outcome in outcomes}


def _expected_outcomes(
    actions: dict[str, tuple[SystemAction, ...]],
) -> Mapping[HostAction, ActionOutcome]:
    """Return the expected outcome of each action: kept, granted or refused."""
    from assay.host.actions import observe, target_value
    from assay.host.changes import ActionOutcome, ActionStatus
    from assay.host.host import LiveHost

    host = LiveHost()
    found: dict[HostAction, ActionOutcome] = {}
    for action in (action for several in actions.values() for action in several):
        old = observe(host, action)
        if old is None:
            reason = "the file is missing or cannot be read"
            found[action] = ActionOutcome(action, ActionStatus.REFUSED, reason=reason)
        else:
            status = ActionStatus.KEPT if old == target_value(action) else ActionStatus.GRANTED
            found[action] = ActionOutcome(action, status, old, old)
    return found


def _results(
    found: Plan,
    actions: dict[str, tuple[SystemAction, ...]],
    outcomes: Mapping[HostAction, ActionOutcome],
) -> Iterator[_Result]:
    for name, word in found.settings.items():
        if word.status is Prospect.REFUSED:
            yield _Result(name, word.value, "refused", word.reason)
            continue
        own = [outcomes[action] for action in actions.get(name, ())]
        if own:
            yield _merged_result(name, word.value, own)
        else:
            yield _Result(name, word.value, "kept", word.reason or "nothing to change")


def _merged_result(name: str, value: Value, outcomes: list[ActionOutcome]) -> _Result:
    """Return one result for all files of a setting."""
    words = {str(outcome.status) for outcome in outcomes}
    reason = next((outcome.reason for outcome in outcomes if outcome.reason), None)
    olds = {outcome.old for outcome in outcomes}
    old = olds.pop() if len(olds) == 1 else None
    if words == {"kept"}:
        return _Result(name, value, "kept", None, old)
    if words <= {"kept", "granted"}:
        return _Result(name, value, "granted", None, old)
    return _Result(name, value, "refused" if words == {"refused"} else "degraded", reason, old)


def _answer(profile: str, results: Iterable[_Result]) -> MachineApplyAnswer:
    settings = (
        AppliedSetting(
            name=one.name,
            value=one.value,
            status=one.status,
            reason=one.reason,
            original_value=one.old,
        )
        for one in results
    )
    return MachineApplyAnswer(profile=profile, settings=tuple(settings))


def _print_results(results: list[_Result], *, dry_run: bool) -> None:
    width = max(len(f"{one.name}={show_value(one.value)}") for one in results)
    printed: set[str] = set()
    for one in results:
        shown = "would be set" if dry_run and one.status == "granted" else one.status
        before = f" (was {one.old})" if one.old is not None and one.status == "granted" else ""
        reason = f": {_without_repetition(one.reason, printed)}" if one.reason else ""
        line = clean(f"{f'{one.name}={show_value(one.value)}':{width}}  {shown}{before}{reason}")
        print("\n".join(wrapped([line], width_of(sys.stdout) or COLUMNS, HANG)))
    if not dry_run and any(one.status in ("granted", "degraded") for one in results):
        print("\nIn force until the next boot or `assay machine restore`.")


def _without_repetition(reason: str, printed: set[str]) -> str:
    """Return a reason without sentences that were printed before; its first one always remains."""
    first, *others = re.split(r"(?<=\.) ", reason)
    kept = [sentence for sentence in others if sentence not in printed]
    printed.update(others)
    return " ".join((first, *kept))
