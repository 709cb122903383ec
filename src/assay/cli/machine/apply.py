"""``assay machine apply``: a profile made to hold, until it is asked back."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.cli.machine.profile import place_of, settings_of
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import InvalidInputError, NotPossibleError
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.records import HostAction, Plan, Prospect, SystemAction, Value
from assay.records.configuration import show_value
from assay.settings.registry import Registry, builtin
from assay.settings.system.idle import persistent_actions
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.host.changes import ActionOutcome
    from assay.machine.document import Machine
    from assay.root_helper.helper import RootHelper


COLUMNS = 80
"""Of what goes to no terminal."""
HANG = 4


@dataclass(frozen=True)
class _Told:
    """What became of one setting.

    Attributes:
        word: ``granted``, ``degraded``, ``refused``, ``kept`` (it was so before) or, in a dry run,
            ``would be set``.
        old: what was there before, where that is one value.
    """

    name: str
    value: Value
    word: str
    reason: str | None = None
    old: str | None = None


def run(arguments: argparse.Namespace) -> int:
    """Apply a profile; 1 where the kernel refused something that this machine has.

    Raises:
        InvalidInputError: no profile, or none of that name.
        NotPossibleError: nothing of it can be set.
    """
    if not arguments.words:
        raise InvalidInputError(
            "There is no profile.", "Write for example: assay machine apply measuring"
        )
    registry = builtin()
    if not arguments.dry_run:
        _put_back_leftovers(arguments.helper)
    machine = read_machine(status=arguments.helper.status if arguments.helper else None)
    configuration = settings_of(arguments.words[0], registry, machine)
    found = plan(configuration, machine, registry)
    if len(found.refused) == len(configuration):
        _demand_some(found, arguments.words[0], machine)
    actions = _actions(found, registry, machine)
    before = _foreseen(actions)
    outcomes = (
        before
        if arguments.dry_run
        else _unless_so_before(_apply(actions, arguments.helper), before)
    )
    told = list(_told(found, actions, outcomes))
    if arguments.json:
        print_json({"profile": arguments.words[0], "settings": [_document(one) for one in told]})
    else:
        _show(told, dry_run=arguments.dry_run)
    amiss = [one for one in told if one.word in ("degraded", "refused")]
    return 1 if any(one.name not in found.refused for one in amiss) else 0


def _demand_some(found: Plan, profile: str, machine: Machine) -> None:
    """Raise what refuses everything, with the place in the profile.

    Raises:
        NotPossibleError: in place of what the plan raises, whose advice is for a command line.
    """
    if machine.rights.uid != 0:
        raise NotPossibleError(
            f"{profile} changes the machine for all that runs on it, which takes root.",
            "Run it as root, or with sudo.",
        )
    try:
        found.demand_granted()
    except NotPossibleError as error:
        place = place_of(profile, next(name for name in found.words if name in found.refused))
        remedy = f"Nothing of {profile} can be set here: `assay settings` shows what there is."
        raise NotPossibleError(f"{place}: {error.cause}", remedy) from error


def _unless_so_before(
    outcomes: Mapping[HostAction, ActionOutcome], before: Mapping[HostAction, ActionOutcome]
) -> Mapping[HostAction, ActionOutcome]:
    """What an earlier ``apply`` made hold, and what holds still, is kept and not granted anew."""
    from assay.host.changes import ActionStatus

    return {
        action: before[action]
        if outcome.word is ActionStatus.GRANTED and before[action].word is ActionStatus.KEPT
        else outcome
        for action, outcome in outcomes.items()
    }


def _put_back_leftovers(helper: RootHelper | None) -> None:
    from assay.cli.system_settings import restore_leftovers

    restore_leftovers(helper)


def _actions(
    found: Plan, registry: Registry, machine: Machine
) -> dict[str, tuple[SystemAction, ...]]:
    """What each setting does that can be granted, without a process that holds a device open."""
    from assay.settings.base import Resolved

    actions = {}
    for name in found.words:
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
    """What resets others first."""
    return sorted(dict.fromkeys(found), key=lambda action: not getattr(action, "resets", ()))


def _apply(
    actions: dict[str, tuple[SystemAction, ...]], helper: RootHelper | None
) -> Mapping[HostAction, ActionOutcome]:

    target_value = _in_order(action for several in actions.values() for action in several)
    if helper is None:
        from assay.host.system_hold import keep_applied

        outcomes = keep_applied(target_value)
    else:
        from assay.root_helper import client

        outcomes = client.keep_applied(helper, target_value)
    return {outcome.action: outcome for outcome in outcomes}


def _foreseen(actions: dict[str, tuple[SystemAction, ...]]) -> Mapping[HostAction, ActionOutcome]:
    """What holds already, and what would be written."""
    from assay.host.actions import observe, target_value
    from assay.host.changes import ActionOutcome, ActionStatus
    from assay.host.host import LiveHost

    host = LiveHost()
    found: dict[HostAction, ActionOutcome] = {}
    for action in (action for several in actions.values() for action in several):
        old = observe(host, action)
        if old is None:
            reason = "it is not there, or cannot be read"
            found[action] = ActionOutcome(action, ActionStatus.REFUSED, reason=reason)
        else:
            word = ActionStatus.KEPT if old == target_value(action) else ActionStatus.GRANTED
            found[action] = ActionOutcome(action, word, old, old)
    return found


def _told(
    found: Plan,
    actions: dict[str, tuple[SystemAction, ...]],
    outcomes: Mapping[HostAction, ActionOutcome],
) -> Iterator[_Told]:
    for name, word in found.words.items():
        if word.prospect is Prospect.REFUSED:
            yield _Told(name, word.value, "refused", word.reason)
            continue
        own = [outcomes[action] for action in actions.get(name, ())]
        if own:
            yield _of_several(name, word.value, own)
        else:
            yield _Told(name, word.value, "kept", word.reason or "nothing to change")


def _of_several(name: str, value: Value, outcomes: list[ActionOutcome]) -> _Told:
    """One word for all files of a setting."""
    words = {str(outcome.word) for outcome in outcomes}
    reason = next((outcome.reason for outcome in outcomes if outcome.reason), None)
    olds = {outcome.old for outcome in outcomes}
    old = olds.pop() if len(olds) == 1 else None
    if words == {"kept"}:
        return _Told(name, value, "kept", None, old)
    if words <= {"kept", "granted"}:
        return _Told(name, value, "granted", None, old)
    return _Told(name, value, "refused" if words == {"refused"} else "degraded", reason, old)


def _document(one: _Told) -> dict[str, Any]:
    found: dict[str, Any] = {"name": one.name, "value": one.value, "word": one.word}
    return found | {
        key: text for key, text in (("reason", one.reason), ("old", one.old)) if text is not None
    }


def _show(told: list[_Told], *, dry_run: bool) -> None:
    width = max(len(f"{one.name}={show_value(one.value)}") for one in told)
    said: set[str] = set()
    for one in told:
        word = "would be set" if dry_run and one.word == "granted" else one.word
        before = f" (was {one.old})" if one.old is not None and one.word == "granted" else ""
        reason = f": {_once(one.reason, said)}" if one.reason else ""
        line = clean(f"{f'{one.name}={show_value(one.value)}':{width}}  {word}{before}{reason}")
        print("\n".join(wrapped([line], width_of(sys.stdout) or COLUMNS, HANG)))
    if not dry_run and any(one.word in ("granted", "degraded") for one in told):
        print("\nUntil the next boot, or `assay machine restore`.")


def _once(reason: str, said: set[str]) -> str:
    """A reason without sentences that were said before, but for its first one."""
    first, *others = re.split(r"(?<=\.) ", reason)
    kept = [sentence for sentence in others if sentence not in said]
    said.update(others)
    return " ".join((first, *kept))
